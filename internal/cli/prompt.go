package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) promptCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "prompt NAME [ARGUMENT=VALUE…]",
		Short: "Show the messages of a prompt",
		Example: `  aurora prompt greet who=小明
  aurora prompt im.demo.notes.summarize topic=week --json`,
		Args:              arguments(1, -1, "the name of a prompt"),
		ValidArgsFunction: p.completePrompt,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r := control.PromptRequest{Name: args[0]}
			defer func() { p.notCalled(err, control.Reply{Prompt: r.Name}) }()
			if r.Args, err = pairMap(args[1:]); err != nil {
				return err
			}
			if r.TimeoutMS, err = milliseconds(cmd, timeout); err != nil {
				return err
			}
			return p.withHouse(cmd.Context(), args[:1], func(ctx context.Context, h control.House) error {
				return p.endOfCall(ctx, h.Prompt(ctx, r), renderer.prompt)
			})
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the whole `time` it may take, such as 5s")
	return cmd
}
