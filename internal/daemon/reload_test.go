package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// keep opens a house with this apps/config.yml, whose apps are scripts in memory.
func keep(t *testing.T, apps string) *Daemon {
	t.Helper()
	d, _ := openSuite(t)
	if apps != "" {
		d.rewrite(t, "apps/config.yml", apps)
	}
	return d
}

func (d *Daemon) rewrite(t *testing.T, file, text string) {
	t.Helper()
	put(t, filepath.Join(d.conf.Home.Dir, filepath.FromSlash(file)), text)
}

func (d *Daemon) reloaded(t *testing.T) control.Reload {
	t.Helper()
	r, err := d.Reload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last, err := d.LastReload(t.Context()); err != nil || last.At != r.At {
		t.Errorf("the last reload is %+v, %v", last, err)
	}
	return r
}

func TestSettingsThatCountLaterAreNamed(t *testing.T) {
	d := keep(t, "")
	d.rewrite(t, "aurora.yml", "brain: {enabled: false}\nlog: {level: debug, format: json}\nstartup: {concurrency: 2, keep_going: true}\nuser: {time_zone: Asia/Shanghai}\n")
	r := d.reloaded(t)
	if !r.OK || !r.Applied || !slices.Equal(r.Pending, []string{"log.format", "startup.concurrency"}) {
		t.Errorf("%+v", r)
	}
	if !d.logs.Enabled(t.Context(), -4) {
		t.Error("the level of the log did not follow")
	}
	if d.Config().Settings.Log.Format != "json" {
		t.Error("the configuration of the house is the old one")
	}
	// They stay so until the next start, and are forgotten when they are taken back.
	if r := d.reloaded(t); len(r.Pending) != 2 {
		t.Errorf("the second time: %q", r.Pending)
	}
	d.rewrite(t, "aurora.yml", "brain: {enabled: false}\nlog: {level: info}\n")
	if r := d.reloaded(t); len(r.Pending) != 0 {
		t.Errorf("taken back: %q", r.Pending)
	}
	if d.logs.Enabled(t.Context(), -4) {
		t.Error("the level of the log did not follow back")
	}
}

// A house does not get a brain, or lose it, by a reload; it is said so.
func TestTheBrainIsNotReloaded(t *testing.T) {
	d := keep(t, "")
	d.rewrite(t, "aurora.yml", "brain: {enabled: true}\n")
	r := d.reloaded(t)
	if !slices.Equal(r.Pending, []string{"brain.enabled"}) || len(r.Apps) != 2 {
		t.Errorf("%+v", r)
	}

	// Neither is its topology.
	home := makeHome(t, "apps: {}\n")
	put(t, filepath.Join(home, "aurora.yml"), "")
	d = open(t, Options{Home: home})
	if r := d.reloaded(t); len(r.Pending) != 0 {
		t.Errorf("%+v", r)
	}
	d.rewrite(t, "topology.yaml", "nodes: nonsense\n")
	r = d.reloaded(t)
	if !slices.Equal(r.Pending, []string{"topology.yaml"}) || !r.Applied || len(r.Problems) == 0 {
		t.Errorf("%+v", r)
	}
}

func TestAFaultyFileIsNotTakenOver(t *testing.T) {
	d := keep(t, "apps: [")
	before := d.Config()
	r := d.reloaded(t)
	if r.OK || r.Applied || len(r.Problems) != 1 || r.Problems[0].Line != 1 || d.Config() != before {
		t.Errorf("%+v", r)
	}
	if apps, err := d.Apps(t.Context()); err != nil || apps[0].State != control.StateReady {
		t.Errorf("%+v, %v", apps, err)
	}
	c := reloadCheck(r)
	if c.OK || !strings.Contains(c.Said, "runs on as it was") {
		t.Errorf("%+v", c)
	}
	// A mistake in aurora.yml or .env counts for all, too.
	d.rewrite(t, "apps/config.yml", suiteApps)
	d.rewrite(t, ".env", "A=\"\n")
	if r := d.reloaded(t); r.Applied {
		t.Errorf("%+v", r)
	}
	d.rewrite(t, ".env", "")
	if r := d.reloaded(t); !r.OK || !reloadCheck(r).OK {
		t.Errorf("%+v", r)
	}
}

func TestASecretOfANewConfigurationIsMasked(t *testing.T) {
	d := keep(t, suiteApps+"  more:\n    mcp: {command: [aurora], env: {API_KEY: \"${API_KEY}\"}}\n")
	d.rewrite(t, ".env", "API_KEY=invented-0123456789\n")
	if r := d.reloaded(t); !r.OK || r.Apps[2] != (control.AppReload{Key: "more", Effect: "added"}) {
		t.Fatalf("%+v", r)
	}
	d.logs.Info("It says invented-0123456789.")
	text, err := os.ReadFile(LogFile(d.conf.Home, ""))
	if err != nil || strings.Contains(string(text), "invented-0123456789") {
		t.Errorf("the log tells it: %v", err)
	}
}

func TestAHouseOfBundledAppsIsSwitched(t *testing.T) {
	home := t.TempDir()
	bundled := []config.Bundled{{Key: "demo", Manifest: []byte("mcp: {command: [aurora]}")}, {Key: "gone", Manifest: []byte("mcp: {command: [aurora]}")}}
	near := Options{Home: home, Bundled: bundled, LockWait: -1}
	a, err := SwitchApp(t.Context(), near, "demo", false)
	if err != nil || a.State != control.StateDisabled {
		t.Fatalf("%+v, %v", a, err)
	}
	const want = "# The apps of this home. All keys: docs/configuration.md.\napps:\n  demo:\n    enabled: false\n  gone: {}\n"
	if text, err := os.ReadFile(filepath.Join(home, "apps", "config.yml")); err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
	if a, err = SwitchApp(t.Context(), near, "demo", true); err != nil || a.State != control.StateStopped || a.Key != "demo" {
		t.Errorf("%+v, %v", a, err)
	}
	var e *call.Error
	if _, err = SwitchApp(t.Context(), near, "deme", true); !errors.As(err, &e) || e.Code != call.AppUnknown || !strings.Contains(e.Message, "demo") {
		t.Errorf("%v", err)
	}
	// Nobody writes in the home of somebody else.
	lock, err := acquire(t.Context(), config.Home{Dir: home}.RunDir(), -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = SwitchApp(t.Context(), near, "demo", false); !errors.As(err, &e) || e.Code != call.HomeLocked {
		t.Errorf("%v", err)
	}
	if err := lock.release(); err != nil {
		t.Fatal(err)
	}
}

func TestToolsOfAppsThatDoNotRunCanBeSwitched(t *testing.T) {
	d := keep(t, "")
	s, err := d.SwitchTool(t.Context(), "gone.something", false)
	if err != nil || !s.Changed || s.App != "gone" || !strings.Contains(s.Note, "unavailable") {
		t.Errorf("%+v, %v", s, err)
	}
	if set := d.Config().App("gone").Tools["gone.something"].Enabled; set == nil || *set {
		t.Error("it is not switched off")
	}
	var e *call.Error
	for _, name := range []string{"demo.nothing", "nobody.x", ""} {
		if _, err := d.SwitchTool(t.Context(), name, false); !errors.As(err, &e) || e.Code != call.ToolUnknown {
			t.Errorf("%q: %v", name, err)
		}
	}
	// One that was there once can be forgotten.
	d.rewrite(t, "apps/config.yml", strings.Replace(suiteApps, "demo.off:", "demo.once:", 1))
	d.reloaded(t)
	if s, err := d.SwitchTool(t.Context(), "demo.once", true); err != nil || !s.Changed || s.Note == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Many people at once switch, reload and write; nothing of it is lost, and the
// file is whole at any time.
func TestSwitchesAndReloadsDoNotLoseEachOther(t *testing.T) {
	var apps strings.Builder
	apps.WriteString(suiteApps)
	for i := range 6 {
		fmt.Fprintf(&apps, "  # app %d\n  more-%d:\n    mcp: {command: [aurora]}\n", i, i)
	}
	d := keep(t, apps.String())
	d.reloaded(t)
	if err := d.Serve(); err != nil { // with a watcher
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := range 3 {
				if _, err := d.SwitchApp(t.Context(), fmt.Sprintf("more-%d", i), n%2 == 1); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			if _, err := d.SwitchTool(t.Context(), "demo.echo", i%2 == 0); err != nil {
				t.Error(err)
			}
			d.Hangup()
			if r, err := d.Reload(t.Context()); err != nil || !r.OK {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	for i := range 6 {
		if a := d.Config().App(fmt.Sprintf("more-%d", i)); a == nil || a.Disabled == "" {
			t.Errorf("more-%d is %+v", i, a)
		}
	}
	text, err := os.ReadFile(d.conf.Home.AppsFile())
	if err != nil || strings.Count(string(text), "# app ") != 6 {
		t.Errorf("%v\n%s", err, text)
	}
	// While it closes nothing is read any more.
	closing := make(chan error, 1)
	go func() { closing <- d.Close(context.Background()) }()
	for {
		if _, err := d.Reload(t.Context()); err != nil {
			var e *call.Error
			if !errors.As(err, &e) || e.Code != call.ShuttingDown {
				t.Error(err)
			}
			break
		}
	}
	if err := <-closing; err != nil {
		t.Error(err)
	}
}

func TestTwoReloadsInARowAreToldAsOne(t *testing.T) {
	list := func(words string) (list []control.AppReload) {
		for word := range strings.FieldsSeq(words) {
			key, effect, _ := strings.Cut(word, ":")
			list = append(list, control.AppReload{Key: key, Effect: effect})
		}
		return list
	}
	for _, c := range []struct{ first, second, want string }{
		{"a:adjusted b:unchanged", "a:unchanged b:unchanged", "a:adjusted b:unchanged"},
		{"a:added b:removed", "a:unchanged", "a:added b:removed"},
		{"a:restarted", "a:started", "a:started"},
		{"a:pending", "a:unchanged", "a:unchanged"},
		{"a:removed", "a:added", "a:added"},
		{"a:adjusted", "", ""},
		{"", "a:added", "a:added"},
	} {
		if got := together(list(c.first), list(c.second)); !slices.Equal(got, list(c.want)) {
			t.Errorf("%s, then %s: %v, want %s", c.first, c.second, got, c.want)
		}
	}
}
