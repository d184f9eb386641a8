package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// A Diagnosis is what is wrong with a home and how to mend it. Its JSON form
// is that of `aurora doctor --json`.
type Diagnosis struct {
	OK          bool             `json:"ok"`
	Home        string           `json:"home"`
	Daemon      *control.Version `json:"daemon"`      // null: none is running
	Environment []Check          `json:"environment"` // of the machine
	Apps        []AppDiagnosis   `json:"apps"`
	Problems    []config.Problem `json:"problems"` // of the configuration as it is on disk
}

// A Check is one thing about the machine.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Said string `json:"said"` // what was found
	Hint string `json:"hint"` // what to do, if it is not OK
}

// An AppDiagnosis is what is wrong with one app.
type AppDiagnosis struct {
	Key        string    `json:"key"`
	State      string    `json:"state"` // empty: it was not started
	OK         bool      `json:"ok"`
	Findings   []Finding `json:"findings"`
	LastStderr []string  `json:"last_stderr"`
}

// A Finding is one thing that is wrong with an app, or worth knowing.
type Finding struct {
	What string `json:"what"`
	Hint string `json:"hint"` // how to mend it; sometimes empty
	Note bool   `json:"note"` // the app works all the same
}

// Diagnose joins what the configuration says with how the apps and the flow of
// events are. States is nil if no app could be started. Running is the daemon
// they were asked of, nil for a house of our own; flow and brain are nil if it said
// nothing of events, or of how it thinks.
func Diagnose(ctx context.Context, c *config.Config, states []control.App, running *control.Version, flow *control.Flow, brain *control.Brain) Diagnosis {
	d := Diagnosis{
		OK:          true,
		Home:        c.Home.Dir,
		Daemon:      running,
		Environment: environment(ctx, c, running, flow, brain),
		Apps:        []AppDiagnosis{},
		Problems:    append([]config.Problem{}, c.Problems...),
	}
	for _, app := range c.Apps {
		a := AppDiagnosis{Key: app.Key, Findings: []Finding{}, LastStderr: []string{}}
		for _, p := range c.AppProblems(app.Key) {
			a.Findings = append(a.Findings, Finding{What: place(p) + p.Message, Hint: p.Hint, Note: p.Warning})
		}
		if i := slices.IndexFunc(states, func(s control.App) bool { return s.Key == app.Key }); i >= 0 {
			a.State = states[i].State
			a.LastStderr = states[i].LastStderr
			// What is wrong with the configuration is said better by its problem.
			if len(a.Findings) == 0 || !states[i].Missing() {
				a.Findings = append(a.Findings, findings(app, states[i])...)
			}
		}
		a.OK = !slices.ContainsFunc(a.Findings, func(f Finding) bool { return !f.Note })
		d.OK = d.OK && a.OK
		d.Apps = append(d.Apps, a)
	}
	for _, check := range d.Environment {
		d.OK = d.OK && check.OK
	}
	d.OK = d.OK && len(c.Errors()) == 0
	return d
}

func place(p config.Problem) string {
	switch {
	case p.Line > 0 && p.Field != "":
		return fmt.Sprintf("%s:%d:%d: %s: ", p.File, p.Line, p.Column, p.Field)
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		return p.File + ": "
	}
	return ""
}

// startTime is what an app may take to start before the doctor wonders.
const startTime = 3 * time.Second

// findings says what is wrong with an app by its state.
func findings(app *config.App, s control.App) []Finding {
	var all []Finding
	add := func(note bool, hint, format string, args ...any) {
		all = append(all, Finding{What: fmt.Sprintf(format, args...), Hint: hint, Note: note})
	}
	switch s.State {
	case control.StateUnavailable, control.StateRestarting, control.StateAuthRequired:
		add(false, mend(app, s), "%s", reason(s))
	case control.StateDegraded:
		add(true, "", "%s", reason(s))
	case control.StateStarting:
		silence := time.Since(s.Since)
		add(silence < startTime, "Does it wait for input, or download something at its first start? Raise mcp.health_timeout_seconds if it needs longer, or run its command by hand to see.",
			"It has not answered for %s.", silence.Round(time.Second))
	case control.StateStopped:
		add(true, "aurora apps start "+app.Key, "It was stopped.")
	}
	if s.NoiseLines > 0 {
		add(true, "Nothing is lost by it, but a server should log on stderr.", "It printed %s on stdout.", noise(s.NoiseLines))
	}
	if s.Restarts > 0 && !s.Missing() {
		add(true, "aurora logs "+app.Key, "It was restarted %s since Aurora started.", times(s.Restarts))
	}
	for _, w := range s.Warnings {
		add(true, "", "%s", w)
	}
	return all
}

func noise(lines int64) string {
	if lines == 1 {
		return "1 line that is no message"
	}
	return fmt.Sprintf("%d lines that are no messages", lines)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func reason(s control.App) string {
	if s.Reason != "" {
		return s.Reason
	}
	return "It is " + s.State + "."
}

// environment checks the machine as far as this home depends on it.
func environment(ctx context.Context, c *config.Config, running *control.Version, flow *control.Flow, brain *control.Brain) []Check {
	checks := []Check{writable(c.Home), daemonCheck(running)}
	if said := lastRun(c.Home.Data("platform", "health.json")); said != "" && running == nil {
		checks = append(checks, Check{Name: "last run", OK: true, Said: said})
	}
	checks = append(checks, spoolChecks(c, flow)...)
	checks = append(checks, brainCheck(c, brain))
	return append(checks, programs(ctx, c.Apps)...)
}

func writable(home config.Home) Check {
	c := Check{Name: "home", OK: true, Said: home.Dir + " can be written to"}
	dir := home.RunDir()
	for _, above := range []string{home.Data(), home.Dir} {
		if _, err := os.Stat(dir); err != nil {
			dir = above // it could not be made
		}
	}
	if err := probe(dir); err != nil {
		c.OK, c.Said = false, err.Error()
		c.Hint = "Give the user who runs Aurora the right to write in " + home.Data() + ", or free space on the disk."
	}
	return c
}

// probe writes a small file into a folder, makes it durable, and removes it. An
// empty file would fit on a disk that is full.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// spoolChecks looks at the spools, and at what the daemon says of them.
func spoolChecks(c *config.Config, flow *control.Flow) []Check {
	now := flow
	if now == nil {
		files, err := Events(c).Flow()
		if err != nil {
			return []Check{{Name: "events", Said: err.Error(), Hint: "Give the user who runs Aurora the right to read " + c.Home.Data("kernel") + "."}}
		}
		now = &files
	}
	var checks []Check
	for _, s := range now.Spools {
		check := Check{Name: "spool " + s.Name, OK: true, Said: fmt.Sprintf("%d waiting, %d in work, %d done, %d dead", s.Pending, s.Processing, s.Done, s.Dead)}
		if s.Dropped > 0 {
			check.Said += fmt.Sprintf("; %s since Aurora started", dropped(s.Dropped, "event"))
		}
		pending := filepath.Join(s.Dir, "pending")
		_, missing := os.Stat(pending)
		if said := spoolProblem(s); said != "" {
			check.OK, check.Said = false, said
			check.Hint = "Start its consumer, or raise amp.spools." + s.Name + ".max_files. aurora events --spool " + s.Name + " shows what waits."
			if !s.Full {
				check.Hint = "Free space on the disk, or give the user who runs Aurora the right to write in " + s.Dir + "."
			}
		} else if missing == nil {
			if err := probe(pending); err != nil {
				check.OK, check.Said = false, err.Error()
				check.Hint = "Free space on the disk, or give the user who runs Aurora the right to write in " + s.Dir + "."
			}
		}
		checks = append(checks, check)
	}
	for _, said := range now.Problems {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.Said == said }) {
			checks = append(checks, Check{Name: "events", Said: said, Hint: "Free space on the disk, or give the user who runs Aurora the right to write in " + c.Home.Data("platform") + "."})
		}
	}
	return checks
}

// brainCheck looks at the brain: at what the daemon says of it, else at its
// topology.
func brainCheck(c *config.Config, now *control.Brain) Check {
	check := Check{Name: "brain", OK: true}
	t, err := Topology(c)
	switch {
	case now != nil && len(now.Problems) > 0:
		check.OK, check.Said = false, strings.Join(now.Problems, " ")
		check.Hint = "aurora topology shows the nodes, aurora trace last the way of an event, aurora logs what was said. A node tries again by itself; a brain that does not run needs a restart of the daemon."
	case now != nil && now.State == control.BrainReady:
		check.Said = fmt.Sprintf("it thinks (model %s, %s under way)", now.Model, brain.Count(now.Turns, "turn"))
	case t.State == control.BrainOff:
		check.Said = "switched off (brain.enabled: false)"
	case err != nil:
		check.OK, check.Said = false, fmt.Sprintf("it cannot run: the topology %s is wrong", filepath.Base(topologyFile(c)))
		check.Hint = "The places are listed below; aurora check shows them too."
	default:
		check.Said = fmt.Sprintf("%d nodes (%s), model %s", len(t.Nodes), t.File, t.Model)
	}
	return check
}

func daemonCheck(running *control.Version) Check {
	c := Check{Name: "daemon", OK: true, Said: "none is running; the apps were started for this report"}
	if running == nil {
		return c
	}
	c.Said = fmt.Sprintf("running (pid %d, since %s)", running.PID, running.Started.Local().Format("2006-01-02 15:04:05"))
	return c
}

// mend says how an app that does not work may be mended, by what it said last.
func mend(app *config.App, s control.App) string {
	said := strings.ToLower(strings.Join(s.LastStderr, "\n"))
	for _, h := range hints {
		for _, sign := range h.signs {
			if strings.Contains(said, sign) {
				return h.text
			}
		}
	}
	switch {
	case s.State == control.StateAuthRequired:
		return "Give it its credentials in apps/config.yml (mcp.headers or mcp.env; write ${NAME} there and the secret into .env)."
	case s.Transport != string(config.Stdio):
		return "Is the server running, and is mcp.url right?"
	case s.Exit != nil && s.Exit.Signal != "" && strings.Contains(s.Reason, s.Exit.Signal): // not by us
		return "It was killed by a signal: a fault of the app, or the system was short of memory. See: aurora logs " + app.Key
	case strings.Contains(s.Reason, "protocol version"):
		return "Install a version of the app that speaks one of the versions of Aurora, then: aurora apps restart " + app.Key
	case len(s.LastStderr) > 0:
		return "Its last words may say why; see: aurora logs " + app.Key + ". After mending: aurora apps restart " + app.Key
	case s.Exit != nil:
		return "It said nothing on stderr: run its command by hand to see what it does. After mending: aurora apps restart " + app.Key
	}
	return ""
}

// A hint knows a common fault by what programs say about it, in lower case.
type hint struct {
	signs []string
	text  string
}

// hints are tried in order.
var hints = []hint{
	{[]string{"cannot find module", "err_module_not_found"},
		"A Node package is missing: run npm install in the folder of the app."},
	{[]string{"modulenotfounderror", "no module named"},
		"A Python package is missing: install the app's requirements into the Python that its command names."},
	{[]string{"npm err! 404", "npm error 404", "no matching distribution found", "not found in the package registry"},
		"There is no package of that name: check the name in mcp.command."},
	{[]string{"enotfound", "eai_again", "could not resolve host", "name resolution", "dns error"},
		"It could not reach the network: check the connection, the proxy variables and name resolution."},
	{[]string{"eaddrinuse", "address already in use"},
		"Another program listens on its port: stop that one, or give the app another port."},
	{[]string{"eacces", "permission denied", "permissionerror"},
		"It may not read or write a file: check the rights of the user who runs Aurora."},
	{[]string{"enospc", "no space left on device"},
		"The disk is full: free some space."},
	{[]string{"unsupported engine", "requires node", "requires-python", "requires a different python", "syntaxerror"},
		"The installed Node or Python does not suit it: see the versions above."},
	{[]string{"is not set", "is required", "missing required", "must be set", "environment variable", "api key", "api_key"},
		"It misses a setting: add it under mcp.env of the app in apps/config.yml (write ${NAME} there and the secret into .env)."},
	{[]string{"usage:"},
		"It did not understand its arguments: check mcp.command and mcp.args."},
}
