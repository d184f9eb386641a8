package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/redact"
)

// SwitchApp implements [control.Keeper].
func (d *Daemon) SwitchApp(ctx context.Context, name string, on bool) (control.App, error) {
	key, err := d.switchApp(ctx, name, on)
	if err == nil {
		err = d.host.Settled(ctx, key)
	}
	if err != nil {
		return control.App{}, control.AsError(err)
	}
	s, ok := d.host.AppStatus(key)
	if !ok {
		return control.App{}, control.Errorf(call.AppUnknown, "The app %q is not in apps/config.yml any more.", key)
	}
	return appOf(s), nil
}

// switchApp switches an app and returns its key when the house has come to it.
func (d *Daemon) switchApp(ctx context.Context, name string, on bool) (string, error) {
	d.keeping.turn.Lock()
	defer d.keeping.turn.Unlock()
	key, changed, err := d.file().switchApp(name, on)
	if err != nil || !changed {
		return key, err
	}
	_, err = d.readAgain(ctx, control.BySwitch)
	return key, err
}

// SwitchApp switches an app (key or package) of a home that nobody runs on or off
// in apps/config.yml, and says how it stands now. The error is HOME_LOCKED if
// somebody does.
func SwitchApp(ctx context.Context, o Options, name string, on bool) (app control.App, err error) {
	home, err := openHome(o.Home)
	if err != nil {
		return app, err
	}
	lock, err := acquire(ctx, home.RunDir(), o.LockWait)
	if err != nil {
		return app, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	file := appsFile{options: o}
	key, _, err := file.switchApp(name, on)
	if err != nil {
		return app, err
	}
	c, err := load(o, nil, nil)
	if err != nil {
		return app, err
	}
	// A host that is not started says it in the words of one that is.
	s, _ := host.New(host.Options{Apps: c.Apps}).AppStatus(key)
	app = appOf(s)
	if app.State == control.StateStopped {
		app.Reason = "It is switched on and runs when Aurora does."
	}
	return app, nil
}

// SwitchTool implements [control.Keeper].
func (d *Daemon) SwitchTool(ctx context.Context, name string, on bool) (control.ToolSwitch, error) {
	s, err := d.findTool(ctx, name)
	if err != nil {
		return control.ToolSwitch{}, control.AsError(err)
	}
	d.keeping.turn.Lock()
	defer d.keeping.turn.Unlock()
	s.Changed, err = d.file().switchTool(s.App, s.Name, on)
	if err == nil && s.Changed {
		_, err = d.readAgain(ctx, control.BySwitch)
	}
	if err != nil {
		return control.ToolSwitch{}, control.AsError(err)
	}
	s.OK, s.Enabled = true, on
	return s, nil
}

// findTool finds the tool that somebody wants to switch. One of an app that does
// not run is believed to be there if its whole name is given.
func (d *Daemon) findTool(ctx context.Context, name string) (control.ToolSwitch, error) {
	if t := d.tool(ctx, name); t != nil {
		return control.ToolSwitch{Name: t.Name, App: t.App.Key}, nil
	}
	_, unknown := d.host.Catalog().Resolve(name)
	var e *call.Error
	if !errors.As(unknown, &e) || e.Code != call.ToolUnknown {
		return control.ToolSwitch{}, unknown
	}
	for _, app := range d.wanted(d.Config()) {
		if !strings.HasPrefix(name, app.Package+".") {
			continue
		}
		if _, set := app.Tools[name]; set {
			return control.ToolSwitch{Name: name, App: app.Key, Note: "The app lists no such tool now."}, nil
		}
		if s, _ := d.host.AppStatus(app.Key); s.State != host.Ready && s.State != host.Degraded {
			return control.ToolSwitch{Name: name, App: app.Key, Note: fmt.Sprintf("The app is %s, so nobody knows whether it has such a tool.", s.State)}, nil
		}
	}
	return control.ToolSwitch{}, unknown
}

func (d *Daemon) file() *appsFile { return &appsFile{options: d.options, redact: d.conf.Redact} }

// An appsFile is the file apps/config.yml of a home, to be edited.
type appsFile struct {
	options Options
	redact  *redact.Redactor
}

// switchApp switches the app with a key or package, and returns its key and
// whether the file was changed.
func (f *appsFile) switchApp(name string, on bool) (key string, changed bool, err error) {
	changed, err = f.edit(func(text []byte, c *config.Config) ([]byte, error) {
		i := slices.IndexFunc(c.Apps, func(a *config.App) bool { return a.Key == name })
		if i < 0 {
			i = slices.IndexFunc(c.Apps, func(a *config.App) bool { return a.Package == name })
		}
		if i < 0 {
			var known []control.App
			for _, a := range c.Apps {
				known = append(known, control.App{Key: a.Key})
			}
			return nil, unknownApp(name, known)
		}
		key = c.Apps[i].Key
		return config.SwitchApp(text, c.Apps[i], on)
	}, func(after *config.Config) error {
		if on {
			return startable(after, key)
		}
		return nil
	})
	return key, changed, err
}

// switchTool switches a tool by its canonical name.
func (f *appsFile) switchTool(key, tool string, on bool) (changed bool, err error) {
	return f.edit(func(text []byte, c *config.Config) ([]byte, error) {
		app := c.App(key)
		if app == nil {
			return nil, control.Errorf(call.AppUnknown, "The app %q is not in apps/config.yml any more.", key)
		}
		if err := effective(c, key, tool); err != nil {
			return nil, err
		}
		return config.SwitchTool(text, app, tool, on)
	}, func(after *config.Config) error { return effective(after, key, tool) })
}

// effective says why a switch of a tool would have no effect: an app whose
// configuration is faulty runs on under the old one.
func effective(c *config.Config, key, tool string) error {
	return faulty(c, key, fmt.Sprintf("The tool %s was not switched, because its app's configuration is faulty, or would be, and would have no effect.", tool))
}

// startable says why an app that is about to be switched on could not start.
func startable(c *config.Config, key string) error {
	return faulty(c, key, fmt.Sprintf("The app %q stays off, because it could not start.", key))
}

// faulty is the error that begins with these words if the configuration of an app
// has problems.
func faulty(c *config.Config, key, words string) error {
	var problems []config.Problem
	var said []string
	for _, p := range c.AppProblems(key) {
		if !p.Warning {
			problems = append(problems, p)
			said = append(said, sentence(p))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	data, err := control.Marshal(map[string]any{"problems": problems})
	if err != nil {
		data = nil // plain text and numbers: it always encodes
	}
	return &call.Error{Code: call.ConfigInvalid, Data: data, Message: words + " " + strings.Join(said, " ")}
}

// edits is how often an edit begins anew when somebody else writes the file.
const edits = 5

// edit changes the file. It tells whether there was something to change.
func (f *appsFile) edit(change func([]byte, *config.Config) ([]byte, error), check func(*config.Config) error) (changed bool, err error) {
	for range edits {
		if changed, err = f.editOnce(change, check); !errors.Is(err, config.ErrFileChanged) {
			break
		}
	}
	var broken *config.EditError
	switch {
	case errors.As(err, &broken):
		return false, control.Errorf(call.ConfigInvalid, "apps/config.yml: %v", err)
	case errors.Is(err, config.ErrFileChanged), errors.Is(err, fs.ErrPermission):
		return false, control.Errorf(call.ConfigInvalid, "apps/config.yml cannot be written: %v", err)
	}
	return changed, err
}

func (f *appsFile) editOnce(change func([]byte, *config.Config) ([]byte, error), check func(*config.Config) error) (bool, error) {
	c, err := load(f.options, nil, f.redact)
	if err != nil {
		return false, err
	}
	path := c.Home.AppsFile()
	before, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		before = nil
	case err != nil:
		return false, err
	case before == nil:
		before = []byte{}
	}
	text := before
	if before == nil && c.DefaultApps {
		// The bundled apps run without the file; with it they must stand in it.
		var apps []config.Item
		for _, app := range f.options.Bundled {
			apps = append(apps, config.Item{Key: app.Key, Value: []config.Item{}})
		}
		if text, err = config.AddAt([]byte("# The apps of this home. All keys: docs/configuration.md.\n"), []string{"apps"}, apps...); err != nil {
			return false, err
		}
	}
	after, err := change(text, c)
	if err != nil || bytes.Equal(after, text) {
		return false, err
	}
	tried, err := load(f.options, map[string][]byte{path: after}, f.redact)
	if err != nil {
		return false, err
	}
	if err := check(tried); err != nil {
		return false, err
	}
	return true, config.Replace(config.Replacement{Path: path, Before: before, After: after})
}
