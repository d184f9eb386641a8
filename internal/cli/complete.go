package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) completeCommand() *cobra.Command {
	var with []string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "complete PROMPT|TEMPLATE ARGUMENT=BEGINNING",
		Short: "Ask an app how an argument may go on",
		Long: `Ask an app how the value of an argument of a prompt, or of a variable of a
resource template, may go on. A name with :// in it is a template.

(For completion in your shell see "aurora completion".)`,
		Example: `  aurora complete greet who=小
  aurora complete 'demo://city/{name}' name=上
  aurora complete deploy region=eu --with cloud=aws`,
		Args:              arguments(2, 2, "a prompt or template, and ARGUMENT=BEGINNING"),
		ValidArgsFunction: p.completePrompt,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r := control.CompleteRequest{}
			defer func() { p.notCalled(err, control.Reply{Prompt: r.Prompt, Template: r.Template}) }()
			names := args[:1]
			if strings.Contains(args[0], "://") {
				r.Template, names = args[0], nil
			} else {
				r.Prompt = args[0]
			}
			var ok bool
			if r.Argument, r.Value, ok = strings.Cut(args[1], "="); !ok || r.Argument == "" {
				return usagef("%q is not of the form ARGUMENT=BEGINNING", args[1])
			}
			if r.Context, err = pairMap(with); err != nil {
				return err
			}
			if r.TimeoutMS, err = milliseconds(cmd, timeout); err != nil {
				return err
			}
			return p.withHouse(cmd.Context(), names, func(ctx context.Context, h control.House) error {
				return p.endOfCall(ctx, h.Complete(ctx, r), renderer.completion)
			})
		},
	}
	cmd.Flags().StringArrayVar(&with, "with", nil, "an `argument=value` that is chosen already")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the whole `time` it may take, such as 5s")
	return cmd
}
