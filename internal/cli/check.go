package cli

import (
	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// A checkReport is what `aurora check --json` prints.
type checkReport struct {
	OK       bool             `json:"ok"`
	Home     string           `json:"home"`
	Apps     []string         `json:"apps"`     // keys, disabled ones too
	Problems []config.Problem `json:"problems"` // warnings too
	Error    *call.Error      `json:"error,omitempty"`
}

func (p *program) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration; start nothing",
		Long: `Check apps/config.yml, the manifests, aurora.yml and .env, and print every
problem with its file, line and column. Nothing is started.`,
		Example: `  aurora check
  aurora check --home my-bot --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.loadConfig()
			if err != nil {
				return err
			}
			return p.check(c)
		},
	}
}

// loadConfig reads the home without starting or writing anything.
func (p *program) loadConfig() (*config.Config, error) {
	dir, err := p.home()
	if err != nil {
		return nil, err
	}
	return daemon.Load(p.daemonOptions(dir, nil))
}

func (p *program) check(c *config.Config) error {
	r := checkReport{Home: c.Home.Dir, Apps: []string{}, Problems: nonNil(c.Problems)}
	for _, a := range c.Apps {
		r.Apps = append(r.Apps, a.Key)
	}
	for _, problem := range c.Problems {
		p.out.print(visible(problem.String()) + "\n")
	}
	n := len(c.Errors())
	if n > 0 {
		r.Error = control.Errorf(call.ConfigInvalid, "%s", count(n, "problem")+" in the configuration")
		if err := p.out.document(r); err != nil {
			return err
		}
		p.out.fail(r.Error, "")
		return status(exitConfig)
	}
	r.OK = true
	what := count(len(c.Apps), "app") + " in apps/config.yml"
	if c.DefaultApps {
		what = "no apps/config.yml, so the bundled apps run"
	}
	p.out.printf("%s is in order: %s\n", c.Home.Dir, what)
	return p.out.document(r)
}
