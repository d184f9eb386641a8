package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

func TestDiagnosis(t *testing.T) {
	app := &config.App{Key: "x", Package: "x"}
	for _, c := range []struct {
		name  string
		state control.App
		ok    bool
		what  string
		hint  string
	}{
		{"ready", control.App{State: "ready"}, true, "", ""},
		{"disabled", control.App{State: "disabled", Reason: "enabled: false"}, true, "", ""},
		{"noisy", control.App{State: "ready", NoiseLines: 3}, true, "3 lines that are no messages on stdout", "stderr"},
		{"once noisy", control.App{State: "ready", NoiseLines: 1, Restarts: 1}, true, "1 line that is no message on stdout.\nIt was restarted once", "stderr"},
		{"restarted", control.App{State: "ready", Restarts: 2}, true, "restarted 2 times", "aurora logs x"},
		{"a warning", control.App{State: "degraded", Reason: "A list is stale.", Warnings: []string{"tool y is withheld"}}, true, "withheld", ""},
		{"silent", control.App{State: "starting", Since: time.Now().Add(-9 * time.Second)}, false, "not answered for 9s", "health_timeout_seconds"},
		{"lacks a key", control.App{State: "unavailable", Reason: "It exited with code 2.", Exit: &control.Exit{Code: 2}, LastStderr: []string{"DEMO_TOKEN is not set"}}, false, "code 2", "mcp.env"},
		{"lacks a module", control.App{State: "unavailable", Exit: &control.Exit{Code: 1}, LastStderr: []string{"ModuleNotFoundError: No module named 'mcp'"}}, false, "unavailable", "Python package"},
		{"lacks a node module", control.App{State: "restarting", Exit: &control.Exit{Code: 1}, LastStderr: []string{"Error: Cannot find module 'zod'"}}, false, "restarting", "npm install"},
		{"port in use", control.App{State: "unavailable", LastStderr: []string{"listen EADDRINUSE: address already in use"}}, false, "", "port"},
		{"killed", control.App{State: "unavailable", Transport: "stdio", Reason: "It was killed by SIGSEGV.", Exit: &control.Exit{Signal: "SIGSEGV"}}, false, "SIGSEGV", "fault of the app"},
		{"killed by us", control.App{State: "restarting", Transport: "stdio", Reason: "The request initialize timed out after 8s.", Exit: &control.Exit{Code: -1, Signal: "SIGTERM"}}, false, "timed out", "run its command by hand"},
		{"another era", control.App{State: "unavailable", Transport: "stdio", Reason: "No common protocol version.", Exit: &control.Exit{}}, false, "version", "Install a version of the app"},
		{"last words", control.App{State: "unavailable", Transport: "stdio", Reason: "It exited with code 1.", Exit: &control.Exit{Code: 1}, LastStderr: []string{"oh"}}, false, "code 1", "aurora logs x"},
		{"silent death", control.App{State: "unavailable", Transport: "stdio", Reason: "It exited with code 1.", Exit: &control.Exit{Code: 1}}, false, "code 1", "run its command by hand"},
		{"refused", control.App{State: "unavailable", Transport: "streamable-http", Reason: "Connection refused."}, false, "refused", "mcp.url"},
		{"sign-in", control.App{State: "auth_required", Transport: "streamable-http", Reason: "The server answered 401."}, false, "401", "headers"},
		{"stopped", control.App{State: "stopped"}, true, "stopped", "aurora apps start x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.state.Key = "x"
			home := config.Home{Dir: makeHome(t, "")}
			if _, err := openHome(home.Dir); err != nil {
				t.Fatal(err)
			}
			d := Diagnose(t.Context(), &config.Config{Home: home, Apps: []*config.App{app}}, []control.App{c.state}, nil, nil, nil)
			if d.OK != c.ok || d.Apps[0].OK != c.ok {
				t.Errorf("ok is %v: %+v", d.OK, d)
			}
			var what, hint []string
			for _, f := range d.Apps[0].Findings {
				what, hint = append(what, f.What), append(hint, f.Hint)
			}
			if !strings.Contains(strings.Join(what, "\n"), c.what) || !strings.Contains(strings.Join(hint, "\n"), c.hint) {
				t.Errorf("findings %q, hints %q", what, hint)
			}
			if c.what == "" && c.ok && len(what) > 0 {
				t.Errorf("it finds %q where nothing is", what)
			}
		})
	}
}

func TestDiagnosisOfTheConfigurationComesFirst(t *testing.T) {
	home := config.Home{Dir: makeHome(t, "")}
	c := &config.Config{
		Home:     home,
		Apps:     []*config.App{{Key: "x"}},
		Problems: []config.Problem{{App: "x", File: "apps/config.yml", Line: 3, Column: 5, Field: "mcp.command", Message: "not found", Hint: "install it"}},
	}
	d := Diagnose(t.Context(), c, []control.App{{Key: "x", State: "unavailable", Reason: "apps/config.yml says so"}}, nil, nil, nil)
	if f := d.Apps[0].Findings; d.OK || len(f) != 1 || f[0].What != "apps/config.yml:3:5: mcp.command: not found" || f[0].Hint != "install it" {
		t.Errorf("findings %+v", f)
	}
}
