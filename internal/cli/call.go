package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) callCommand() *cobra.Command {
	var raw string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "call TOOL [NAME=VALUE…]",
		Short: "Call a tool",
		Long: `Call a tool by its canonical name, its alias, or its own name if only one app
has it.

Values take the type that the tool's schema asks for: days=3 is a number where
a number is wanted. NAME:=JSON passes JSON as it is, A.B=VALUE sets a member of
an object. Or pass all arguments as JSON with --args.

The result goes to stdout. What a failing tool says goes to stderr.`,
		Example: `  aurora call im.polaris.weather.get_weather city=上海 days=3
  aurora call im.polaris.weather.get_weather --args '{"city": "上海"}' --json
  echo '{"path": "/tmp"}' | aurora call list_directory --args -
  aurora call list_directory --args @arguments.json --timeout 5s`,
		Args:              arguments(1, -1, "the name of a tool"),
		ValidArgsFunction: p.completeTool,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if args[0] == "" {
				return usagef("the name of the tool is empty")
			}
			r := control.CallRequest{Name: args[0], Pairs: args[1:]}
			defer func() { p.notCalled(err, control.Reply{Tool: r.Name}) }()
			if r.TimeoutMS, err = milliseconds(cmd, timeout); err != nil {
				return err
			}
			if cmd.Flags().Changed("args") {
				if len(r.Pairs) > 0 {
					return usagef("give the arguments either as NAME=VALUE or with --args")
				}
				if r.Args, err = p.rawArguments(cmd.Context(), raw); err != nil {
					return err
				}
			}
			return p.withHouse(cmd.Context(), args[:1], func(ctx context.Context, h control.House) error {
				return p.call(ctx, h, r)
			})
		},
	}
	cmd.Flags().StringVar(&raw, "args", "", "all arguments as `JSON`, as @file, or - for stdin")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the whole `time` the call may take, such as 5s (default: the app's limits)")
	return cmd
}

// milliseconds returns the value of --timeout, which must be positive if it is given.
func milliseconds(cmd *cobra.Command, timeout time.Duration) (int64, error) {
	if !cmd.Flags().Changed("timeout") {
		return 0, nil
	}
	if timeout < time.Millisecond {
		return 0, usagef("--timeout must be at least 1ms, such as 5s")
	}
	return timeout.Milliseconds(), nil
}

func (p *program) call(ctx context.Context, h control.House, r control.CallRequest) error {
	var progress func(call.Progress)
	meter := progressMeter{out: p.out}
	if p.out.errTerminal && !p.out.json {
		progress = meter.show
	}
	rep := h.Call(ctx, r, progress)
	meter.clear()
	return p.endOfCall(ctx, rep, renderer.result)
}

// endOfCall prints how a call, a read or the like ended. Render makes text for
// people of the result.
func (p *program) endOfCall(ctx context.Context, rep control.Reply, render func(r renderer, raw []byte) string) error {
	if err := p.out.document(rep); err != nil {
		return err
	}
	if rep.OK {
		p.out.print(render(p.out.renderer(), rep.Result))
		return nil
	}
	e := rep.Error
	if e == nil {
		e = control.Errorf(call.Internal, "it ended as %s without saying why", rep.Outcome)
	}
	p.out.fail(e, "")
	if len(rep.Result) > 0 && !p.out.json {
		// The message is mostly the text of the result itself.
		if text := strings.TrimSpace(render(renderer{}, rep.Result)); text != strings.TrimSpace(e.Message) {
			p.out.note("%s", visible(text))
		}
	}
	if rep.Outcome == call.Cancelled && ctx.Err() != nil {
		return status(exitInterrupted)
	}
	return status(exitOfReply(rep))
}

// notCalled prints the document of a call that did not come about because of
// err, if it is out not yet. What is known of the call is in rep.
func (p *program) notCalled(err error, rep control.Reply) {
	var said exitStatus
	if err == nil || errors.As(err, &said) {
		return
	}
	rep.Error = p.errorOf(err)
	rep.Outcome = outcomeOf(rep.Error.Code)
	_ = p.out.document(rep) // plain data: it always encodes
}

// outcomeOf returns how a call ended that failed before an app was asked.
func outcomeOf(c call.Code) call.Outcome {
	switch c {
	case call.UsageInvalid, call.ArgumentsInvalid:
		return call.ProtocolError
	case call.CallCancelled:
		return call.Cancelled
	case call.CallTimeout:
		return call.Timeout
	case call.PolicyDenied:
		return call.Denied
	}
	return call.Unavailable
}

// A progressMeter shows the newest progress on one line of stderr.
type progressMeter struct {
	out   *output
	shown bool
}

func (m *progressMeter) show(n call.Progress) {
	m.shown = true
	text := fmt.Sprintf("%g", n.Progress)
	if n.Total > 0 {
		text = fmt.Sprintf("%3.0f %%", 100*n.Progress/n.Total)
	}
	fmt.Fprintf(m.out.stderr, "\r\x1b[K… %s %s", text, cut(oneLine(n.Message), 60))
}

func (m *progressMeter) clear() {
	if m.shown {
		fmt.Fprint(m.out.stderr, "\r\x1b[K")
	}
}
