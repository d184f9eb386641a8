package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) sayCommand() *cobra.Command {
	var session string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "say TEXT",
		Short: "Say one thing to the bot and print its answer",
		Long: `Say one thing to the bot and print its answer. With a daemon it is asked there;
without one the whole house runs for as long as the answer takes. - reads the
text from stdin.

A bot that has nothing to say prints nothing and exits with 0. Ctrl-C stops the
answer. When the time is over the bot goes on, and its answer waits for whoever
opens the session next.`,
		Example: `  aurora say "/weather 上海"
  aurora say --session notes --timeout 30s "what did I ask before?"
  git log -5 | aurora say - --json`,
		Args:              arguments(1, -1, "a text, or - for stdin"),
		ValidArgsFunction: p.completeSaid,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := control.AskRequest{Session: session, Text: strings.Join(args, " ")}
			var err error
			if r.TimeoutMS, err = milliseconds(cmd, timeout); err != nil {
				return err
			}
			if len(args) == 1 && args[0] == "-" {
				text, err := p.readStdin(cmd.Context(), maxSaid+1)
				if err != nil {
					return err
				}
				if len(text) > maxSaid {
					return usagef("the text on stdin is longer than %d KiB", maxSaid>>10)
				}
				r.Text = string(text)
			}
			return p.withMind(cmd.Context(), func(ctx context.Context, h control.House) error {
				return p.say(ctx, h, r)
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", control.MainSession, "the `name` of the conversation")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait for the answer, such as 30s (default: as long as a turn may take)")
	return cmd
}

// maxSaid bounds what is read from stdin, in bytes.
const maxSaid = 128 << 10

func (p *program) say(ctx context.Context, h control.House, r control.AskRequest) error {
	var tell func(control.ChatNews)
	if p.out.errTerminal && !p.out.json {
		s := style(!p.out.noColor)
		tell = func(n control.ChatNews) {
			if n.Kind == control.ChatResult {
				p.out.note("%s", s.dim(callLine(n.Call)))
			}
		}
	}
	a := h.Ask(ctx, r, tell)
	if a.Error != nil && turnedAway(a.Error) {
		return a.Error
	}
	if err := p.out.document(a); err != nil {
		return err
	}
	switch {
	case a.Error == nil && a.Text != "":
		p.out.print(visible(a.Text) + "\n")
		return nil
	case a.Error == nil:
		return nil
	}
	p.out.fail(a.Error, "")
	if a.Error.Code == call.CallCancelled && ctx.Err() != nil {
		return status(exitInterrupted)
	}
	return status(exitOf(a.Error.Code))
}

// completeSaid completes a command that is said, with a daemon.
func (p *program) completeSaid(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || !strings.HasPrefix(typed, "/") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, _ := suggest(p, func(ctx context.Context, h control.House) ([]control.Suggestion, error) {
		return h.Suggest(ctx, control.SuggestRequest{Line: typed, Cursor: len(typed)})
	})
	var words []string
	for _, f := range found {
		words = append(words, typed[:min(max(f.From, 0), len(typed))]+f.Text+"\t"+oneLine(f.Help))
	}
	some, _ := beginning(words, "")
	return some, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
