package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A keeping is what a house needs to change while it runs.
type keeping struct {
	// turn is held by who reads the configuration and takes it over, or writes its
	// files: one after the other.
	turn    sync.Mutex
	current atomic.Pointer[config.Config]     // the one that was taken over last
	last    atomic.Pointer[control.Reload]    // nil: there was none
	files   atomic.Pointer[map[string]string] // what the files held when they were read last

	watcher *watcher // nil: nobody watches the files
	stop    context.CancelFunc
	ended   chan struct{} // closed when the watcher has ended
}

func (k *keeping) begin(c *config.Config) {
	k.current.Store(c)
	k.files.Store(&c.Files)
}

// watch begins to watch the files.
func (k *keeping) watch(d *Daemon) {
	ctx, stop := context.WithCancel(context.Background())
	k.stop, k.ended = stop, make(chan struct{})
	w := newWatcher(func() map[string]string { return *k.files.Load() })
	w.reload = func(ctx context.Context, cause control.ReloadCause) {
		k.turn.Lock()
		defer k.turn.Unlock()
		if cause == control.ByFile && !w.changed(w.look()) {
			return // somebody else has read them meanwhile
		}
		// What went wrong is in the log, and in the last reload.
		_, _ = d.readAgain(ctx, cause)
	}
	k.watcher = w
	go func() {
		defer close(k.ended)
		w.run(ctx)
	}()
}

// end stops watching the files. What it returns waits until nobody does any more,
// which may have to wait for a reload under way, and so for an app to stop.
func (k *keeping) end() (wait func()) {
	if k.watcher == nil {
		return func() {}
	}
	k.stop()
	return func() { <-k.ended }
}

// Hangup has the configuration read again soon, as SIGHUP wants it. It never
// blocks. A house that is not served ignores it.
func (d *Daemon) Hangup() {
	d.mu.Lock()
	w := d.keeping.watcher
	d.mu.Unlock()
	if w != nil {
		w.hangup()
	}
}

// justNow is how long ago the watcher may have read the files for a reload by
// command to tell what that did: who changes a file and wants it taken over has
// both in mind.
const justNow = 10 * time.Second

// Reload implements [control.Keeper].
func (d *Daemon) Reload(ctx context.Context) (control.Reload, error) {
	d.keeping.turn.Lock()
	defer d.keeping.turn.Unlock()
	before := d.keeping.last.Load()
	r, err := d.readAgain(ctx, control.ByCommand)
	if err == nil && before != nil && before.Cause == control.ByFile && r.At.Sub(before.At) < justNow {
		r.Apps = together(before.Apps, r.Apps)
	}
	return r, err
}

// together returns what two reloads in a row did to each app: what the second
// did, or else the first, with the apps that the first removed at the end.
func together(first, second []control.AppReload) []control.AppReload {
	effects := map[string]string{}
	for _, a := range first {
		effects[a.Key] = a.Effect
	}
	both := slices.Clone(second)
	for i, a := range both {
		was := effects[a.Key]
		if a.Effect == control.Unchanged && was != "" && was != string(host.EffectPending) {
			both[i].Effect = was
		}
		delete(effects, a.Key)
	}
	for _, a := range first {
		if effects[a.Key] == string(host.EffectRemoved) {
			both = append(both, a)
		}
	}
	return both
}

// LastReload implements [control.Keeper].
func (d *Daemon) LastReload(context.Context) (control.Reload, error) {
	if last := d.keeping.last.Load(); last != nil {
		return *last, nil
	}
	return control.Reload{OK: true, Applied: true, Apps: []control.AppReload{}, Pending: []string{}, Problems: []control.Problem{}}, nil
}

// readAgain reads the configuration and takes it over as far as it can be. It is
// called by whoever has the turn.
func (d *Daemon) readAgain(ctx context.Context, cause control.ReloadCause) (control.Reload, error) {
	if d.host.Closing() {
		return control.Reload{}, &call.Error{Code: call.ShuttingDown, Message: "Aurora is stopping and reads nothing any more.", Retryable: true}
	}
	r := control.Reload{At: time.Now(), Cause: cause, Apps: []control.AppReload{}, Pending: []string{}}
	c, err := load(d.options, nil, d.conf.Redact)
	if err != nil {
		c = &config.Config{Problems: []config.Problem{{File: d.conf.Home.Dir, Message: control.AsError(err).Message}}, Files: *d.keeping.files.Load()}
	} else if c.DefaultApps && !d.Config().DefaultApps {
		c.Problems = append(c.Problems, config.Problem{
			File: "apps/config.yml", Message: "the file is gone; the apps run on as before", Hint: "put it back, or restart Aurora to run the bundled apps",
		})
	}
	withoutBrain(c)
	d.keeping.files.Store(&c.Files)
	r.Problems = problemsOf(c.Problems)
	r.OK = len(c.Errors()) == 0
	if r.Applied = !slices.ContainsFunc(c.Errors(), func(p config.Problem) bool { return p.App == "" }); r.Applied {
		d.takeOver(ctx, c, &r)
	}
	d.report(r, c.Problems)
	d.keeping.last.Store(&r)
	return r, nil
}

// takeOver makes a configuration the one of the house.
func (d *Daemon) takeOver(ctx context.Context, c *config.Config, r *control.Reload) {
	apps := d.wanted(c)
	faults, err := preflight(c, apps, true)
	if err != nil {
		return // cannot be: no problem is one of the whole house
	}
	d.keeping.current.Store(c)
	d.logs.level.Set(logLevel(c.Settings.Log.Level))
	if d.flow != nil {
		d.flow.current.Store(c)
	}
	r.Pending = pending(&d.conf.Settings, &c.Settings)
	if path := topologyFile(c); path == topologyFile(d.conf) && c.Files[path] != d.conf.Files[path] {
		r.Pending = append(r.Pending, filepath.Base(path))
	}
	for _, a := range d.host.Reload(ctx, apps, faults).Apps {
		r.Apps = append(r.Apps, control.AppReload{Key: a.Key, Effect: string(a.Effect)})
	}
}

// pending returns the settings that differ from those that the house was opened
// with and that it looks at only then.
func pending(then, now *config.Settings) []string {
	paths := config.ChangedSettings(then, now)
	return append([]string{}, slices.DeleteFunc(paths, func(path string) bool {
		// Apps get those of the user; the others are asked for when they are needed.
		return strings.HasPrefix(path, "user.") || path == "log.level" || path == "startup.keep_going"
	})...)
}

// report logs what a reload did.
func (d *Daemon) report(r control.Reload, problems []config.Problem) {
	for _, p := range problems {
		if p.Warning {
			d.logs.Warn("The configuration has a problem.", "problem", p.String())
		} else {
			d.logs.Error("The configuration has a problem.", "problem", p.String())
		}
	}
	if !r.Applied {
		d.logs.Error("The configuration was read again and is not taken over. Everything runs on as before.", "cause", string(r.Cause))
		return
	}
	var changes []string
	for _, a := range r.Apps {
		if a.Effect != string(host.EffectNone) {
			changes = append(changes, a.Key+" "+a.Effect)
		}
	}
	attrs := []any{"cause", string(r.Cause)}
	if len(changes) > 0 {
		attrs = append(attrs, "apps", strings.Join(changes, ", "))
	}
	if len(r.Pending) > 0 {
		attrs = append(attrs, "from_the_next_start", strings.Join(r.Pending, ", "))
	}
	d.logs.Info("The configuration was read again.", attrs...)
}

func problemsOf(list []config.Problem) []control.Problem {
	out := make([]control.Problem, len(list))
	for i, p := range list {
		out[i] = control.Problem{App: p.App, File: p.File, Line: p.Line, Column: p.Column, Field: p.Field, Message: p.Message, Hint: p.Hint, Warning: p.Warning}
	}
	return out
}

// AddReload adds how the last reload of the daemon went.
func (d *Diagnosis) AddReload(r control.Reload) {
	c := reloadCheck(r)
	d.Environment = append(d.Environment, c)
	d.OK = d.OK && c.OK
}

func reloadCheck(r control.Reload) Check {
	c := Check{Name: "configuration", OK: r.OK, Said: "as it was read at the start"}
	when := r.At.Local().Format("2006-01-02 15:04:05")
	switch {
	case r.At.IsZero():
		return c
	case !r.Applied:
		c.Said = fmt.Sprintf("the files are faulty since %s or before, so everything runs on as it was", when)
		c.Hint = "Mend what is listed below; the files are read again by themselves."
	case !r.OK:
		c.Said = fmt.Sprintf("read again at %s; some apps are faulty", when)
		c.Hint = "Mend what is listed below; the files are read again by themselves."
	default:
		c.Said = "read again at " + when
	}
	if len(r.Pending) > 0 {
		c.Said += "; from the next start on: " + strings.Join(r.Pending, ", ")
	}
	return c
}
