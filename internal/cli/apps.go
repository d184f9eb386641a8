package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/names"
)

func (p *program) appsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apps [KEY…]",
		Short: "List apps and their states; start, stop and switch them",
		Long: `List the apps of the home with their states.

With a daemon (aurora up) it shows what runs there. Without one it starts the
apps, shows how that went, and stops them.`,
		Example: `  aurora apps
  aurora apps aurora-app-weather --json
  aurora apps restart aurora-app-weather`,
		ValidArgsFunction: p.completeApps,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withHouse(cmd.Context(), args, func(ctx context.Context, h control.House) error {
				return p.listApps(ctx, h, args)
			})
		},
	}
	cmd.AddCommand(
		p.appActionCommand(control.Restart, "Stop an app and start it again, also one that was given up"),
		p.appActionCommand(control.Stop, "Stop an app until it is started again"),
		p.appActionCommand(control.Start, "Start an app that was stopped or given up"),
		p.appSwitchCommand(true, "Switch apps on in apps/config.yml, and start them"),
		p.appSwitchCommand(false, "Switch apps off in apps/config.yml, and stop them"),
	)
	return cmd
}

func (p *program) listApps(ctx context.Context, h control.House, keys []string) error {
	all, err := h.Apps(ctx)
	if err != nil {
		return err
	}
	some, err := pickApps(all, keys)
	if err != nil {
		return err
	}
	p.out.print(p.appTable(some))
	p.out.print(p.appTroubles(some))
	// A house of our own and an older daemon know nothing of events.
	if flow, err := h.Flow(ctx); err == nil {
		p.out.print(p.flowTroubles(control.Flow{Problems: flow.Problems}))
	}
	if err := p.out.document(some); err != nil {
		return err
	}
	return status(exitOfApps(some))
}

// pickApps returns the apps with the given keys or packages; all without any.
func pickApps(all []control.App, keys []string) ([]control.App, error) {
	if len(keys) == 0 {
		return all, nil
	}
	var some []control.App
	var known []string
	for _, a := range all {
		known = append(known, a.Key)
		if slices.Contains(keys, a.Key) || slices.Contains(keys, a.Package) {
			some = append(some, a)
		}
	}
	for _, k := range keys {
		if !slices.ContainsFunc(some, func(a control.App) bool { return a.Key == k || a.Package == k }) {
			return nil, appUnknown(k, known)
		}
	}
	return some, nil
}

func appUnknown(key string, known []string) error {
	message := fmt.Sprintf("there is no app %q", key)
	if near := names.Near(key, known, 3); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, ", ") + "?"
	} else if 0 < len(known) && len(known) <= 10 {
		message += "; there are " + strings.Join(known, ", ")
	}
	return control.Errorf(call.AppUnknown, "%s", message)
}

func (p *program) appTable(some []control.App) string {
	s := p.out.style()
	t := table{columns: p.out.columns()}
	t.row(cell{"KEY", s.dim}, cell{"STATE", s.dim}, cell{"TOOLS", s.dim}, cell{"PID", s.dim}, cell{"FOR", s.dim}, cell{"REASON", s.dim})
	for _, a := range some {
		tools, pid := "", ""
		if a.State == control.StateReady || a.State == control.StateDegraded || a.Tools > 0 {
			tools = fmt.Sprint(a.Tools)
		}
		if a.PID != 0 {
			pid = fmt.Sprint(a.PID)
		}
		t.row(plain(visible(a.Key)), cell{a.State, s.state}, plain(tools), plain(pid), plain(since(a.Since)), plain(oneLine(a.Reason)))
	}
	return t.String()
}

// appTroubles shows the last stderr lines of apps that do not work, and the
// warnings of all.
func (p *program) appTroubles(some []control.App) string {
	s := p.out.style()
	var b strings.Builder
	for _, a := range some {
		for _, w := range a.Warnings {
			fmt.Fprintf(&b, "%s %s: %s\n", s.yellow("warning:"), visible(a.Key), oneLine(w))
		}
		if !a.Missing() || len(a.LastStderr) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s said on stderr:\n", s.bold(visible(a.Key)))
		for _, line := range a.LastStderr {
			fmt.Fprintf(&b, "  %s\n", s.dim(visible(line)))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + strings.TrimPrefix(b.String(), "\n")
}

// since returns how long ago something was, in the largest fitting unit.
func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := time.Since(t); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// reportMissing says on stderr which apps are not available, or not yet, and
// returns exit 7 if any is missing. It is for lists that do not show it.
func (p *program) reportMissing(some []control.App) error {
	for _, a := range some {
		switch {
		case a.Missing():
			p.out.note("aurora: app %s is %s: %s", visible(a.Key), a.State, oneLine(a.Reason))
		case a.State == control.StateStarting:
			p.out.note("aurora: app %s is still starting", visible(a.Key))
		}
	}
	return status(exitOfApps(some))
}

// exitOfApps returns exit code 7 if any app is missing.
func exitOfApps(some []control.App) int {
	if slices.ContainsFunc(some, func(a control.App) bool { return a.Missing() }) {
		return exitUnavailable
	}
	return exitOK
}

func (p *program) appActionCommand(action control.Action, short string) *cobra.Command {
	return &cobra.Command{
		Use:   string(action) + " KEY…",
		Short: short,
		Example: fmt.Sprintf(`  aurora apps %[1]s aurora-app-weather
  aurora apps %[1]s aurora-app-weather --json`, action),
		Args:              arguments(1, -1, "the key of an app"),
		ValidArgsFunction: p.completeApps,
		RunE: func(cmd *cobra.Command, keys []string) error {
			return p.withHouse(cmd.Context(), keys, func(ctx context.Context, h control.House) error {
				return p.actOnApps(ctx, h, action, keys)
			})
		},
	}
}

func (p *program) actOnApps(ctx context.Context, h control.House, action control.Action, keys []string) error {
	if _, far := h.(*control.Client); !far {
		p.out.note("aurora: no daemon runs in this home (aurora up), so the apps run for this command only")
	}
	after := make([]control.App, 0, len(keys))
	for _, key := range keys {
		a, err := h.AppAction(ctx, key, action)
		if err != nil {
			return err
		}
		after = append(after, a)
	}
	p.out.print(p.appTable(after))
	p.out.print(p.appTroubles(after))
	if err := p.out.document(after); err != nil {
		return err
	}
	return status(exitOfApps(after))
}
