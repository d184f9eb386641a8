package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

func (p *program) topologyCommand() *cobra.Command {
	var mermaid, builtin bool
	cmd := &cobra.Command{
		Use:   "topology",
		Short: "Show the circuit of the brain and how its nodes fare",
		Long: `Show the circuit of the brain: its nodes, what wakes them, what they leave
behind, and with a daemon how many files wait, run and are done. Without a daemon
it is read from topology.yaml, or is the default one. --default prints the file of
the default one, with comments; copy it to change it.`,
		Example: `  aurora topology
  aurora topology --mermaid > circuit.mmd
  aurora topology --default > topology.yaml
  aurora topology --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if builtin {
				return p.defaultTopology()
			}
			return p.topology(cmd.Context(), mermaid)
		},
	}
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "print a Mermaid flowchart")
	cmd.Flags().BoolVar(&builtin, "default", false, "print the topology.yaml of a home that has none")
	cmd.MarkFlagsMutuallyExclusive("mermaid", "default")
	return cmd
}

// defaultTopology prints the file of the default topology.
func (p *program) defaultTopology() error {
	text := string(circuit.Default())
	p.out.print(text)
	return p.out.document(struct {
		Text string `json:"text"`
	}{text})
}

func (p *program) topology(ctx context.Context, mermaid bool) error {
	t, err := p.circuit(ctx)
	if err != nil {
		return err
	}
	if err := p.out.document(t); err != nil {
		return err
	}
	if mermaid {
		p.out.print(t.Mermaid)
		return nil
	}
	p.out.print(p.topologyText(t))
	return nil
}

// circuit asks the daemon of the home, or else reads the topology.
func (p *program) circuit(ctx context.Context) (t control.Topology, err error) {
	dir, err := p.home()
	if err != nil {
		return t, err
	}
	client, err := control.Dial(ctx, config.Home{Dir: dir}.RunDir())
	if err == nil {
		defer client.Close()
		return client.Topology(ctx)
	}
	if !errors.Is(err, control.ErrNoDaemon) {
		return t, err
	}
	c, err := p.loadConfig()
	if err != nil {
		return t, err
	}
	return daemon.Topology(c)
}

func (p *program) topologyText(t control.Topology) string {
	s := p.out.style()
	var b strings.Builder
	fmt.Fprintf(&b, "brain %s, model %s", s.bold(t.State), visible(t.Model))
	if t.File != "" {
		fmt.Fprintf(&b, ", %s", visible(t.File))
	}
	if t.Turns > 0 {
		fmt.Fprintf(&b, ", %s under way", count(t.Turns, "turn"))
	}
	b.WriteString("\n")
	for _, problem := range t.Problems {
		fmt.Fprintf(&b, "%s %s\n", s.red("✗"), visible(problem))
	}
	if len(t.Nodes) == 0 {
		return b.String()
	}
	b.WriteString("\n")
	live := t.State == control.BrainReady || t.State == control.BrainDegraded
	rows := table{columns: p.out.columns()}
	head := []cell{{"NODE", s.dim}, {"TYPE", s.dim}, {"STATE", s.dim}}
	if live {
		for _, title := range []string{"WAITING", "RUNNING", "RETRYING", "DONE", "DEAD", "FAILED", "MEAN"} {
			head = append(head, cell{title, s.dim})
		}
	}
	rows.row(head...)
	for _, n := range t.Nodes {
		row := []cell{{visible(n.ID), s.bold}, plain(n.Type), {n.State, s.node}}
		if live {
			for _, figure := range []int64{int64(n.Waiting), int64(n.Running + n.Held), int64(n.Retrying), n.Done, n.Dead, n.Failed} {
				row = append(row, plain(fmt.Sprint(figure)))
			}
			row = append(row, plain(fmt.Sprintf("%d ms", n.MeanMS)))
		}
		rows.row(row...)
	}
	b.WriteString(rows.String())
	b.WriteString("\n")
	for _, e := range t.Edges {
		from, arrow := e.From, "──▶"
		if from == "" {
			from = "apps"
		}
		if e.Looks {
			arrow = "╌╌▶"
		}
		fmt.Fprintf(&b, "%s ──%s%s %s\n", visible(from), s.dim(" "+visible(e.Through)+" "), arrow, visible(e.To))
	}
	for _, n := range t.Nodes {
		if n.LastError != "" {
			fmt.Fprintf(&b, "%s last failed: %s\n", visible(n.ID), oneLine(n.LastError))
		}
	}
	return b.String()
}

// node colours the state of a node.
func (s style) node(state string) string {
	switch state {
	case "idle", "running":
		return s.green(state)
	case "failing":
		return s.red(state)
	}
	return s.dim(state)
}
