package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/names"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/toolschema"
)

// Version implements [control.House].
func (d *Daemon) Version(context.Context) (control.Version, error) {
	return control.Version{
		Version: d.version,
		API:     control.API,
		PID:     os.Getpid(),
		Home:    d.conf.Home.Dir,
		Started: d.started,

		ForCommand: d.options.ForCommand,
	}, nil
}

// Apps implements [control.House].
func (d *Daemon) Apps(context.Context) ([]control.App, error) {
	return d.apps(), nil
}

func (d *Daemon) apps() []control.App {
	all := d.host.Status()
	apps := make([]control.App, len(all))
	for i, s := range all {
		apps[i] = appOf(s)
	}
	if d.flow == nil {
		return apps
	}
	st := d.flow.bridge.Glance()
	for i := range apps {
		counts := control.EventCounts(st.Apps[apps[i].Package])
		apps[i].Events = &counts
		apps[i].Warnings = append(slices.Clip(apps[i].Warnings), countWarnings(counts)...)
	}
	return apps
}

func appOf(s host.Status) control.App {
	a := control.App{
		Key:             s.Key,
		Package:         s.Package,
		State:           string(s.State),
		Reason:          s.Reason,
		Transport:       string(s.Transport),
		ProtocolVersion: s.ProtocolVersion,
		Era:             s.Era,
		PID:             control.PID(s.PID),
		Restarts:        s.Restarts,
		Tools:           s.Tools,
		NoiseLines:      s.NoiseLines,
		Since:           s.Since,
		LastStderr:      s.LastStderr,
		Warnings:        s.Warnings,
	}
	if s.Exit != nil {
		a.Exit = &control.Exit{Code: s.Exit.Code, Signal: s.Exit.Signal}
	}
	return a
}

// AppAction implements [control.House].
func (d *Daemon) AppAction(ctx context.Context, key string, action control.Action) (control.App, error) {
	var err error
	switch action {
	case control.Start:
		err = d.host.StartApp(ctx, key)
	case control.Stop:
		err = d.host.StopApp(ctx, key)
	case control.Restart:
		err = d.host.RestartApp(ctx, key)
	default:
		return control.App{}, control.Errorf(call.UsageInvalid, "there is no action %q; there are start, stop and restart", action)
	}
	if err == nil {
		err = d.host.Settled(ctx, key)
	}
	if err != nil {
		return control.App{}, control.AsError(err)
	}
	s, _ := d.host.AppStatus(key) // the host has found it before
	return appOf(s), nil
}

// asked returns the states of the apps that a filter names, and whether a key
// is among them.
func (d *Daemon) asked(f control.Filter) ([]control.App, func(*config.App) bool, error) {
	apps := d.apps()
	if len(f.Apps) == 0 {
		return apps, func(*config.App) bool { return true }, nil
	}
	keys := make(map[string]bool)
	for _, name := range f.Apps {
		found := false
		for _, a := range apps {
			if a.Key == name || a.Package == name {
				keys[a.Key], found = true, true
			}
		}
		if !found {
			return nil, nil, unknownApp(name, apps)
		}
	}
	apps = slices.DeleteFunc(apps, func(a control.App) bool { return !keys[a.Key] })
	return apps, func(a *config.App) bool { return keys[a.Key] }, nil
}

func unknownApp(name string, apps []control.App) *call.Error {
	known := make([]string, 0, len(apps))
	for _, a := range apps {
		known = append(known, a.Key)
	}
	message := fmt.Sprintf("There is no app %q.", name)
	if near := names.Near(name, known, 3); len(near) > 0 {
		message += " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return control.Errorf(call.AppUnknown, "%s", message)
}

// Tools implements [control.House].
func (d *Daemon) Tools(ctx context.Context, f control.Filter) (control.Tools, error) {
	d.host.Fresh(ctx)
	apps, wanted, err := d.asked(f)
	if err != nil {
		return control.Tools{}, err
	}
	tools := control.Tools{Items: []control.Tool{}, Apps: apps}
	for _, t := range d.host.Catalog().Tools() {
		if wanted(t.App) {
			tools.Items = append(tools.Items, toolOf(t))
		}
	}
	return tools, nil
}

func toolOf(t *host.Tool) control.Tool {
	return control.Tool{
		Name:         t.Name,
		App:          t.App.Key,
		Package:      t.App.Package,
		UpstreamName: t.Upstream,
		Alias:        t.Alias,
		Title:        t.Title,
		Description:  t.Description,
		Risk:         string(t.Risk),
		Enabled:      t.Enabled,
		Held:         t.Held,
		InputSchema:  t.InputSchema,
		OutputSchema: t.OutputSchema,
		Definition:   t.Definition,
	}
}

// Export implements [control.House].
func (d *Daemon) Export(ctx context.Context, dialect string, f control.Filter) (control.Export, error) {
	to := toolschema.Dialect(dialect)
	if !slices.Contains(toolschema.Dialects(), to) {
		return control.Export{}, control.Errorf(call.UsageInvalid, "there is no dialect %q; there are openai, anthropic and gemini", dialect)
	}
	d.host.Fresh(ctx)
	apps, wanted, err := d.asked(f)
	if err != nil {
		return control.Export{}, err
	}
	var tools []toolschema.Tool
	for _, t := range d.host.Catalog().Tools() {
		if t.Enabled && !t.Held && !t.TaskRequired && wanted(t.App) {
			tools = append(tools, toolschema.Tool{
				Alias: t.Alias, Canonical: t.Name, App: t.App.Key,
				Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
			})
		}
	}
	made := toolschema.Convert(to, tools, &toolschema.Options{Own: d.own})
	x := control.Export{Tools: made.Tools, Left: []control.Left{}, Notes: made.Notes, Apps: apps}
	for _, l := range made.Left {
		x.Left = append(x.Left, control.Left{Name: l.Canonical, Reason: l.Reason})
	}
	return x, nil
}

// Resources implements [control.House].
func (d *Daemon) Resources(ctx context.Context, f control.Filter) (control.Resources, error) {
	d.host.Fresh(ctx)
	apps, wanted, err := d.asked(f)
	if err != nil {
		return control.Resources{}, err
	}
	r := control.Resources{Items: []control.Resource{}, Apps: apps}
	catalog := d.host.Catalog()
	for _, x := range catalog.Resources() {
		if wanted(x.App) {
			r.Items = append(r.Items, control.Resource{
				URI: x.URI, App: x.App.Key, Package: x.App.Package, Name: x.Name, Title: x.Title,
				Description: x.Description, MIMEType: x.MIMEType, Definition: x.Definition,
			})
		}
	}
	for _, x := range catalog.Templates() {
		if wanted(x.App) {
			r.Items = append(r.Items, control.Resource{
				URI: x.URITemplate, Template: true, App: x.App.Key, Package: x.App.Package, Name: x.Name, Title: x.Title,
				Description: x.Description, MIMEType: x.MIMEType, Definition: x.Definition,
			})
		}
	}
	return r, nil
}

// Prompts implements [control.House].
func (d *Daemon) Prompts(ctx context.Context, f control.Filter) (control.Prompts, error) {
	d.host.Fresh(ctx)
	apps, wanted, err := d.asked(f)
	if err != nil {
		return control.Prompts{}, err
	}
	p := control.Prompts{Items: []control.Prompt{}, Apps: apps}
	for _, x := range d.host.Catalog().Prompts() {
		if !wanted(x.App) {
			continue
		}
		item := control.Prompt{
			Name: x.Name, App: x.App.Key, Package: x.App.Package, UpstreamName: x.Upstream, Title: x.Title,
			Description: x.Description, Arguments: []control.PromptArgument{}, Definition: x.Definition,
		}
		for _, a := range x.Arguments {
			item.Arguments = append(item.Arguments, control.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		p.Items = append(p.Items, item)
	}
	return p, nil
}
