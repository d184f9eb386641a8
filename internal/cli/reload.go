package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// A reloadReport is what `aurora reload --json` prints.
type reloadReport struct {
	control.Reload
	Error *call.Error `json:"error,omitempty"`
}

func (p *program) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the running Aurora read its files again",
		Long: `Have the daemon of the home read apps/config.yml, the manifests, aurora.yml and
.env again, and say what that did to each app. Apps that did not change are not
touched. It does the same by itself a moment after a file was changed.

If a file cannot be understood everything runs on as before, and all problems are
listed; exit code 9. An app whose own entry is faulty runs on as before too.`,
		Example: `  aurora reload
  aurora reload --home my-bot --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.reload(cmd.Context())
		},
	}
}

func (p *program) reload(ctx context.Context) error {
	dir, err := p.home()
	if err != nil {
		return err
	}
	client, err := control.Dial(ctx, config.Home{Dir: dir}.RunDir())
	if errors.Is(err, control.ErrNoDaemon) {
		return control.Errorf(call.DaemonUnreachable, "no aurora runs in %s, so there is nothing to reload; `aurora check` looks at the files", dir)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	r, err := client.Reload(ctx)
	if err != nil {
		return err
	}
	return p.reloaded(r)
}

func (p *program) reloaded(r control.Reload) error {
	for _, problem := range r.Problems {
		p.out.note("%s", visible(problemText(problem)))
	}
	p.out.print(p.reloadText(r))
	report := reloadReport{Reload: r}
	if r.OK {
		return p.out.document(report)
	}
	n := 0
	for _, problem := range r.Problems {
		if !problem.Warning {
			n++
		}
	}
	rest := "; the rest was taken over"
	if !r.Applied {
		rest = "; everything runs on as before"
	}
	report.Error = control.Errorf(call.ConfigInvalid, "%s", count(n, "problem")+" in the configuration"+rest)
	if err := p.out.document(report); err != nil {
		return err
	}
	p.out.fail(report.Error, "")
	return status(exitConfig)
}

// reloadText says what a reload did.
func (p *program) reloadText(r control.Reload) string {
	if !r.Applied {
		return ""
	}
	var b strings.Builder
	s := p.out.style()
	same := 0
	for _, a := range r.Apps {
		if a.Effect == control.Unchanged {
			same++
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", s.bold(visible(a.Key)), cmp.Or(effects[a.Effect], a.Effect))
	}
	switch {
	case same > 0 && same < len(r.Apps):
		fmt.Fprintf(&b, "%s as before\n", count(same, "app"))
	case same == len(r.Apps):
		b.WriteString("nothing has changed\n")
	}
	if len(r.Pending) > 0 {
		fmt.Fprintf(&b, "from the next start on: %s\n", strings.Join(r.Pending, ", "))
	}
	return b.String()
}

// effects says in words for people what a reload did to an app.
var effects = map[string]string{
	"added": "added", "removed": "removed", "restarted": "restarted", "adjusted": "adjusted, without a restart",
	"started": "started", "stopped": "stopped",
	"kept":    "runs on as before, because its new configuration is faulty",
	"faulty":  "cannot be started, because its configuration is faulty",
	"pending": "has not come to it yet",
}

// problemText is a problem on one line, as `aurora check` says it.
func problemText(p control.Problem) string {
	return config.Problem{App: p.App, File: p.File, Line: p.Line, Column: p.Column, Field: p.Field, Message: p.Message, Hint: p.Hint, Warning: p.Warning}.String()
}
