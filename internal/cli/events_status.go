package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

func (p *program) eventsStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say how the flow of events is: what waits, what was lost",
		Long: `Say what waits in the spools, whether they take events, and how the events of
each app fared since Aurora started. Without a daemon it counts the files.`,
		Example: `  aurora events status
  aurora events status --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.eventsStatus(cmd.Context())
		},
	}
}

func (p *program) eventsStatus(ctx context.Context) error {
	flow, err := p.flow(ctx)
	if err != nil {
		return err
	}
	if p.out.json {
		return p.out.document(flow)
	}
	s := p.out.style()
	var b strings.Builder
	t := table{columns: p.out.columns()}
	t.row(cell{"SPOOL", s.dim}, cell{"PENDING", s.dim}, cell{"PROCESSING", s.dim}, cell{"DONE", s.dim}, cell{"DEAD", s.dim}, cell{"DROPPED", s.dim}, cell{"STATE", s.dim})
	for _, sp := range flow.Spools {
		state, paint := "takes events", s.green
		switch {
		case sp.Full:
			state, paint = "full", s.red
		case sp.Fault != "":
			state, paint = "fails", s.red
		case !flow.Running:
			state, paint = "at rest", s.dim
		}
		t.row(plain(sp.Name), plain(fmt.Sprint(sp.Pending)), plain(fmt.Sprint(sp.Processing)), plain(fmt.Sprint(sp.Done)),
			plain(fmt.Sprint(sp.Dead)), plain(fmt.Sprint(sp.Dropped)), cell{state, paint})
	}
	b.WriteString(t.String())
	if len(flow.Apps) > 0 {
		t = table{columns: p.out.columns()}
		t.row(cell{"APP", s.dim}, cell{"DELIVERED", s.dim}, cell{"DROPPED", s.dim}, cell{"REFUSED", s.dim}, cell{"FORGED", s.dim},
			cell{"UNDECLARED", s.dim}, cell{"DUPLICATES", s.dim}, cell{"EXPIRED", s.dim})
		for _, a := range flow.Apps {
			name := a.Key
			if name == "" {
				name = a.Package
			}
			cells := []cell{plain(visible(name))}
			for _, n := range []int64{a.Delivered, a.Dropped, a.Refused, a.Forged, a.Undeclared, a.Duplicates, a.Expired} {
				cells = append(cells, plain(fmt.Sprint(n)))
			}
			t.row(cells...)
		}
		b.WriteString("\n" + t.String())
	}
	if flow.Waiting > 0 {
		fmt.Fprintf(&b, "\n%s not written yet\n", count(flow.Waiting, "signal"))
	}
	p.out.print(b.String())
	p.out.print(p.flowTroubles(flow))
	if !flow.Running {
		p.out.note("aurora: no daemon is running, so these are only the files")
	}
	return nil
}

// flow asks the daemon how the flow of events is, or else counts the files.
func (p *program) flow(ctx context.Context) (control.Flow, error) {
	c, err := p.loadConfig()
	if err != nil {
		return control.Flow{}, err
	}
	client, err := control.Dial(ctx, c.Home.RunDir())
	if errors.Is(err, control.ErrNoDaemon) {
		return daemon.Events(c).Flow()
	}
	if err != nil {
		return control.Flow{}, err
	}
	defer client.Close()
	return client.Flow(ctx)
}

// flowTroubles shows what is wrong with the flow of events now, and what was.
func (p *program) flowTroubles(flow control.Flow) string {
	s := p.out.style()
	var b strings.Builder
	for _, said := range flow.Problems {
		fmt.Fprintf(&b, "%s %s\n", s.red("degraded:"), visible(said))
	}
	for _, said := range flow.Warnings {
		fmt.Fprintf(&b, "%s %s\n", s.yellow("warning:"), visible(said))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}
