package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

func (p *program) eventsRequeueCommand() *cobra.Command {
	return p.eventActionCommand(control.Requeue, "Put an event back, to be worked on once more",
		`Put an event that is done or dead back to pending. Its consumer gets it once more.`)
}

func (p *program) eventsDropCommand() *cobra.Command {
	return p.eventActionCommand(control.Drop, "Remove the file of an event",
		`Remove the file of an event that nobody works on. It is gone then.`)
}

func (p *program) eventActionCommand(action control.EventAction, short, long string) *cobra.Command {
	var in string
	name := string(action)
	cmd := &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Long: long + `

ID is the message id or the file name. Where an event lies in several places,
--spool says which one is meant, or the file name does.`,
		Example: "  aurora events " + name + " 018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11\n" +
			"  aurora events " + name + " event_message.received_1001-5f3c9a10.json --spool archive --json",
		Args:              arguments(1, 1, "the message id or the file name of an event"),
		ValidArgsFunction: p.completeEvent,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.actOnEvent(cmd.Context(), action, args[0], in)
		},
	}
	cmd.Flags().StringVar(&in, "spool", "", "the spool `name` it lies in")
	_ = cmd.RegisterFlagCompletionFunc("spool", p.completeSpools)
	return cmd
}

func (p *program) actOnEvent(ctx context.Context, action control.EventAction, id, in string) error {
	c, err := p.loadConfig()
	if err != nil {
		return err
	}
	files := daemon.Events(c)
	if in != "" && !slices.Contains(files.Spools(), in) {
		return notAmong("spool", in, files.Spools())
	}
	places, err := files.Find(ctx, id)
	if err != nil {
		return err
	}
	if in != "" {
		elsewhere := whereIs(places)
		places = slices.DeleteFunc(places, func(p control.EventPlace) bool { return p.Spool != in })
		if len(places) == 0 {
			return control.Errorf(call.EventUnknown, "the event %q is not in the spool %s, but here: %s", id, in, elsewhere)
		}
	}
	if len(places) > 1 {
		return usagef("the event %q lies in several places, name the file or its --spool: %s", id, whereIs(places))
	}
	r := control.EventActionRequest{Action: action, Spool: places[0].Spool, File: places[0].File}
	done, err := p.act(ctx, files, r)
	if err != nil {
		return err
	}
	switch {
	case action == control.Drop:
		p.out.printf("dropped %s/%s/%s\n", done.Spool, done.Was, visible(done.File))
	case done.Was == "pending":
		p.out.printf("%s/%s waits already\n", done.Spool, visible(done.File))
	default:
		p.out.printf("requeued %s/%s, which was %s\n", done.Spool, visible(done.File), done.Was)
	}
	return p.out.document(done)
}

// act asks the daemon of the home to do it, or else does it itself under the lock
// of the home.
func (p *program) act(ctx context.Context, files *daemon.EventFiles, r control.EventActionRequest) (done control.EventDone, err error) {
	err = p.farOrNear(ctx, func(c *control.Client) error {
		done, err = c.EventAction(ctx, r)
		return err
	}, func(string) error {
		done, err = files.Act(ctx, r)
		return err
	})
	return done, err
}
