package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with each app, and how to mend it",
		Long: `Look at the machine, the configuration and the apps, and say what is wrong and
how to mend it. With a daemon it looks at the apps that run there, without one
it starts them for the report.

It exits with 9 if the configuration or the machine is at fault, with 7 if an
app does not work, else with 0.`,
		Example: `  aurora doctor
  aurora doctor --home my-bot --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.doctor(cmd.Context())
		},
	}
}

func (p *program) doctor(ctx context.Context) error {
	c, err := p.loadConfig()
	if err != nil {
		return err
	}
	p.keepGoing = true // what is configured wrongly is reported, the rest is tried
	report := func(ctx context.Context, h control.House) error {
		apps, err := h.Apps(ctx)
		if err != nil {
			return err
		}
		var running *control.Version
		var flow *control.Flow
		var brain *control.Brain
		if _, far := h.(*control.Client); far {
			v, err := h.Version(ctx)
			if err != nil {
				return err
			}
			running = &v
			if f, err := h.Flow(ctx); err == nil { // an older daemon knows of none
				flow = &f
			}
			if t, err := h.Topology(ctx); err == nil {
				brain = &t.Brain
			}
		}
		d := daemon.Diagnose(ctx, c, apps, running, flow, brain)
		if running != nil {
			if last, err := h.LastReload(ctx); err == nil { // an older daemon knows of none
				d.AddReload(last)
			}
		}
		return p.report(c, d)
	}
	err = p.withHouse(ctx, nil, report)
	if err == nil || errors.As(err, new(exitStatus)) || ctx.Err() != nil {
		return err
	}
	// What keeps the apps from being started may be what the report is for.
	d := daemon.Diagnose(ctx, c, nil, nil, nil, nil)
	if exitOfDiagnosis(c, d) == exitConfig {
		return p.report(c, d)
	}
	return err
}

func (p *program) report(c *config.Config, d daemon.Diagnosis) error {
	s := p.out.style()
	var b strings.Builder
	for _, check := range d.Environment {
		p.entry(&b, check.OK, check.Name, check.Said, check.Hint)
	}
	for _, problem := range d.Problems {
		if problem.App == "" {
			p.entry(&b, problem.Warning, "configuration", problem.String(), "")
		}
	}
	for _, app := range d.Apps {
		said := app.State
		if said == "" {
			said = "not started"
		}
		p.entry(&b, app.OK, app.Key, said, "")
		for _, f := range app.Findings {
			fmt.Fprintf(&b, "    %s\n", visible(f.What))
			if f.Hint != "" {
				fmt.Fprintf(&b, "    %s %s\n", s.dim("→"), visible(f.Hint))
			}
		}
		if !app.OK {
			for _, line := range app.LastStderr {
				fmt.Fprintf(&b, "    %s\n", s.dim("| "+visible(line)))
			}
		}
	}
	p.out.print(b.String())
	if err := p.out.document(d); err != nil {
		return err
	}
	return status(exitOfDiagnosis(c, d))
}

func (p *program) entry(b *strings.Builder, ok bool, name, said, hint string) {
	s := p.out.style()
	mark := s.green("✓")
	if !ok {
		mark = s.red("✗")
	}
	fmt.Fprintf(b, "%s %s: %s\n", mark, s.bold(visible(name)), visible(said))
	if !ok && hint != "" {
		fmt.Fprintf(b, "    %s %s\n", s.dim("→"), visible(hint))
	}
}

func exitOfDiagnosis(c *config.Config, d daemon.Diagnosis) int {
	if len(c.Errors()) > 0 {
		return exitConfig
	}
	for _, check := range d.Environment {
		if !check.OK {
			return exitConfig
		}
	}
	if !d.OK {
		return exitUnavailable
	}
	return exitOK
}
