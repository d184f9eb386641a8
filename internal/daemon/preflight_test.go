package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

func TestAppsThatACommandNeeds(t *testing.T) {
	apps := []*config.App{
		{Key: "w", Package: "im.demo.weather"},
		{Key: "a", Package: "a"},
		{Key: "ab", Package: "a.b"},
	}
	for _, c := range []struct {
		names []string
		want  []string
	}{
		{nil, []string{"w", "a", "ab"}},
		{[]string{"w"}, []string{"w"}},
		{[]string{"im.demo.weather"}, []string{"w"}},
		{[]string{"im.demo.weather.get"}, []string{"w"}},
		{[]string{"im__demo__weather__get"}, []string{"w"}},
		{[]string{"a.b.c"}, []string{"a", "ab"}}, // b.c of a, or c of a.b
		{[]string{"a.c"}, []string{"a"}},
		{[]string{"get"}, []string{"w", "a", "ab"}}, // a bare name must be unique among all
		{[]string{"w", "get"}, []string{"w", "a", "ab"}},
		{[]string{"w", "a.c"}, []string{"w", "a"}},
	} {
		var got []string
		for _, a := range needed(apps, c.names) {
			got = append(got, a.Key)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("needed(%q) = %q, want %q", c.names, got, c.want)
		}
	}
}

const oneIsWrong = `apps:
  good: {mcp: {command: [aurora]}}
  bad: {mcp: {comand: [aurora]}}
`

func TestAWrongConfigurationStartsNothing(t *testing.T) {
	home := makeHome(t, oneIsWrong)
	_, err := Open(t.Context(), Options{Home: home})
	var p *PreflightError
	if !errors.As(err, &p) || len(p.Problems) != 1 || !p.Relaxed {
		t.Fatalf("Open: %v", err)
	}
	var e *call.Error
	if !errors.As(err, &e) || e.Code != call.ConfigInvalid || !strings.Contains(string(e.Data), `"app":"bad"`) {
		t.Errorf("as an error of calls: %v %s", e, e.Data)
	}
	// The home is free again.
	l, err := acquire(t.Context(), filepath.Join(home, "data", "run"), -1)
	if err != nil {
		t.Fatal(err)
	}
	l.release()
}

func TestKeepingGoingLeavesOutExactlyTheFaultyApp(t *testing.T) {
	d := open(t, Options{Home: makeHome(t, oneIsWrong), KeepGoing: true, Dialer: refuser{}})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	apps, _ := d.Apps(t.Context())
	if len(apps) != 2 || apps[0].Reason != refused || !strings.Contains(apps[1].Reason, "apps/config.yml:3:") {
		t.Errorf("apps are %+v", apps)
	}
}

func TestACommandIsNotStoppedByAnotherAppsMistake(t *testing.T) {
	d := open(t, Options{Home: makeHome(t, oneIsWrong), OneShot: true, Names: []string{"good.x"}, Dialer: refuser{}})
	if apps, _ := d.Apps(t.Context()); len(apps) != 1 || apps[0].Key != "good" {
		t.Errorf("apps are %+v", apps)
	}
	_, err := Open(t.Context(), Options{Home: makeHome(t, oneIsWrong), OneShot: true, Names: []string{"bad.x"}})
	var p *PreflightError
	if !errors.As(err, &p) || p.Relaxed {
		t.Errorf("Open for the faulty app: %v", err)
	}
}

func TestMistakesOfTheHouseForbidEverything(t *testing.T) {
	home := makeHome(t, oneIsWrong)
	put(t, filepath.Join(home, "aurora.yml"), "lgo: {}\n")
	_, err := Open(t.Context(), Options{Home: home, KeepGoing: true})
	var p *PreflightError
	if !errors.As(err, &p) || len(p.Problems) != 2 || p.Relaxed {
		t.Errorf("Open: %v", err)
	}
}

func TestAHomeThatCannotBeUsed(t *testing.T) {
	var e *call.Error
	if _, err := Open(t.Context(), Options{Home: filepath.Join(t.TempDir(), "none")}); !errors.As(err, &e) || e.Code != call.ConfigInvalid {
		t.Errorf("a home that does not exist: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	if _, err := Open(t.Context(), Options{Home: file}); !errors.As(err, &e) || e.Code != call.ConfigInvalid {
		t.Errorf("a home that is a file: %v", err)
	}
	// A data folder with wider rights is narrowed.
	home := makeHome(t, "apps: {}\n")
	if err := os.Mkdir(filepath.Join(home, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Home: home})
	if st, err := os.Stat(filepath.Join(home, "data")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("data: %v, %v", st.Mode(), err)
	}
}

func TestAMistakeIsToldOnceAndWhereItStands(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, "aurora.yml"), "brain: {quiet_hours: \"23:00-23:00\", heartbeat_seconds: 0.5}\namp:\n  spools:\n    turns: {}\n")
	c, err := Load(Options{Home: home, Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Problems {
		got = append(got, p.String())
	}
	want := []string{
		`aurora.yml:1:22: brain.quiet_hours: "23:00-23:00" begins when it ends (write HH:MM-HH:MM, such as 23:00-07:30)`,
		`aurora.yml:1:56: brain.heartbeat_seconds: must be 0 or at least 1, not 0.5`,
		`aurora.yml:4:5: amp.spools.turns: the folder data/kernel/turns is the brain's own (give the spool another name)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
