package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// verb names what a switch does.
func verb(on bool) string {
	if on {
		return "enable"
	}
	return "disable"
}

func (p *program) appSwitchCommand(on bool, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb(on) + " KEY…",
		Short: short,
		Long: short + `.

The file keeps its comments and its form. With a daemon (aurora up) that counts at
once, without one from the next start on.`,
		Example: fmt.Sprintf(`  aurora apps %[1]s aurora-app-weather
  aurora apps %[1]s aurora-app-weather --json`, verb(on)),
		Args:              arguments(1, -1, "the key of an app"),
		ValidArgsFunction: p.completeApps,
		RunE: func(cmd *cobra.Command, keys []string) error {
			return p.switchApps(cmd.Context(), keys, on)
		},
	}
}

func (p *program) switchApps(ctx context.Context, keys []string, on bool) error {
	after := make([]control.App, 0, len(keys))
	each := func(one func(key string) (control.App, error)) error {
		for _, key := range keys[len(after):] {
			a, err := one(key)
			if err != nil {
				return err
			}
			after = append(after, a)
		}
		return nil
	}
	err := p.farOrNear(ctx, func(c *control.Client) error {
		return each(func(key string) (control.App, error) { return c.SwitchApp(ctx, key, on) })
	}, func(dir string) error {
		o := p.daemonOptions(dir, nil)
		return each(func(key string) (control.App, error) { return daemon.SwitchApp(ctx, o, key, on) })
	})
	if err != nil {
		return err
	}
	p.out.print(p.appTable(after))
	p.out.print(p.appTroubles(after))
	if err := p.out.document(after); err != nil {
		return err
	}
	return status(exitOfApps(after))
}

func (p *program) toolSwitchCommand(on bool, short string) *cobra.Command {
	return &cobra.Command{
		Use:   verb(on) + " NAME…",
		Short: short,
		Long: short + `.

The file keeps its comments and its form. With a daemon (aurora up) that counts at
once, also for calls that wait; the app is not restarted.`,
		Example: fmt.Sprintf(`  aurora tools %[1]s im.polaris.weather.get_weather
  aurora tools %[1]s get_weather --json`, verb(on)),
		Args:              arguments(1, -1, "the name of a tool"),
		ValidArgsFunction: p.completeAppsAndTools,
		RunE: func(cmd *cobra.Command, names []string) error {
			return p.withHouse(cmd.Context(), names, func(ctx context.Context, h control.House) error {
				return p.switchTools(ctx, h, names, on)
			})
		},
	}
}

func (p *program) switchTools(ctx context.Context, h control.House, names []string, on bool) error {
	after := make([]control.ToolSwitch, 0, len(names))
	for _, name := range names {
		s, err := h.SwitchTool(ctx, name, on)
		if err != nil {
			return err
		}
		said := "is switched off"
		if on {
			said = "is switched on"
		}
		if !s.Changed {
			said += " already"
		}
		p.out.printf("%s %s\n", visible(s.Name), said)
		if s.Note != "" {
			p.out.note("aurora: %s: %s", visible(s.Name), visible(s.Note))
		}
		after = append(after, s)
	}
	return p.out.document(after)
}
