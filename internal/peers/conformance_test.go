package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	newestProtocol  = "2025-11-25" // of those that Aurora speaks
	conformanceFile = "testdata/conformance.json"
	conformanceName = "npm @modelcontextprotocol/conformance"
)

// A judgement is what the official conformance runner said of Aurora.
type judgement struct {
	Runner  string     `json:"runner"`
	Trials  []*trial   `json:"trials"`
	LeftOut []omission `json:"left_out"`
}

// A trial is one scenario in one version of the protocol.
type trial struct {
	Scenario string `json:"scenario"`
	Protocol string `json:"protocol"`
	With     string `json:"with"`
	// Passed are checks.
	Passed []string `json:"passed,omitempty"`
	// Refused is what Aurora says to what it grants to nobody.
	Refused string `json:"refused,omitempty"`
}

// An omission is why scenarios are not tried.
type omission struct {
	Why       string   `json:"why"`
	Scenarios []string `json:"scenarios"`
}

// refusals are what Aurora says in scenarios that want what it does not grant.
var refusals = map[string]string{
	"elicitation-sep1034-client-defaults": "Method not found: elicitation/create",
}

// A scenario is what the runner lists.
type scenario struct {
	name     string
	versions []string
}

// ahead is a scenario of a later protocol that asks for nothing that is new in it.
const ahead = "json-schema-ref-no-deref"

// protocols returns the versions of the handshake era in which the scenario is
// tried.
func (s scenario) protocols() []string {
	if s.name == ahead {
		return []string{newestProtocol}
	}
	var list []string
	for _, v := range s.versions {
		if v != "extension" && v <= newestProtocol {
			list = append(list, v)
		}
	}
	return list
}

// omitted returns why a scenario is not tried; empty if it is.
func (s scenario) omitted() string {
	switch {
	case strings.HasPrefix(s.name, "auth/"):
		return "They sign in with OAuth, which Aurora cannot do yet."
	case strings.HasPrefix(s.name, "sep-2640-"):
		return "They are about skills, an extension of MCP that Aurora does not have."
	case len(s.protocols()) == 0:
		return "They need protocol 2026-07-28, which Aurora does not speak yet."
	}
	return ""
}

// TestConformance has the official conformance runner judge the real binary:
// the runner is the server, and this test binary (see guest) the client that
// hands what is to be done on to aurora.
func TestConformance(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh, with which the client is started")
	}
	r := newRunner(t)
	j := &judgement{Runner: conformanceName + " " + version(t, conformanceName)}
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range r.scenarios(t) {
			if why := s.omitted(); why != "" {
				j.omit(why, s.name)
				continue
			}
			e, ok := errands[s.name]
			if !ok {
				t.Errorf("%s: nothing says what Aurora does in it, or why it is left out", s.name)
			}
			for _, protocol := range s.protocols() {
				tried := &trial{Scenario: s.name, Protocol: protocol, With: e.with}
				j.Trials = append(j.Trials, tried)
				t.Run(s.name+" "+protocol, func(t *testing.T) {
					t.Parallel()
					r.try(t, tried)
				})
			}
		}
	})
	if len(j.Trials) == 0 {
		t.Error("there are no scenarios")
	}
	untried := func(t *trial) bool { return t.Passed == nil && t.Refused == "" }
	if t.Failed() || slices.ContainsFunc(j.Trials, untried) {
		t.Log("not every scenario was tried with success: docs/compatibility.md is not compared")
		return
	}
	keep(t, conformanceFile, j)
}

// omit notes that a scenario is not tried.
func (j *judgement) omit(why, name string) {
	i := slices.IndexFunc(j.LeftOut, func(o omission) bool { return o.Why == why })
	if i < 0 {
		i = len(j.LeftOut)
		j.LeftOut = append(j.LeftOut, omission{Why: why})
	}
	j.LeftOut[i].Scenarios = append(j.LeftOut[i].Scenarios, name)
}

// A runner is the conformance runner and what it judges.
type runner struct {
	argv   []string
	aurora string
	self   string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	program := place(t, "conformance", "node_modules", ".bin", "conformance")
	node := place(t, "conformance", "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node" // it is new enough, or the runner would not be there
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &runner{argv: ownNetwork([]string{node, program}), aurora: build(t), self: self}
}

// command runs the runner.
func (r *runner) command(ctx context.Context, args ...string) *exec.Cmd {
	argv := slices.Concat(r.argv, args)
	return exec.CommandContext(ctx, argv[0], argv[1:]...)
}

// scenarios asks the runner which scenarios for clients it has.
func (r *runner) scenarios(t *testing.T) []scenario {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := r.command(ctx, "list", "--client").Output()
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^  - (\S+) \[([^\]]+)\]$`)
	var list []scenario
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "  - ") {
			continue
		}
		m := form.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("the runner lists %q, which is no scenario", line)
		}
		list = append(list, scenario{m[1], strings.Split(m[2], ",")})
	}
	return list
}

// try runs one scenario and notes what the runner says.
func (r *runner) try(t *testing.T, tried *trial) {
	home := filepath.Join(t.TempDir(), "我的 机器人")
	results := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), patience+guestTime)
	defer cancel()
	cmd := r.command(ctx, "client",
		// It is handed to a shell.
		"--command", "'"+r.self+"'",
		"--scenario", tried.Scenario, "--spec-version", tried.Protocol, "--force",
		"--timeout", fmt.Sprint(patience.Milliseconds()),
		"--output-dir", results)
	cmd.Env = append(os.Environ(), guestBinary+"="+r.aurora, guestHome+"="+home)
	said, err := cmd.CombinedOutput()
	defer func() {
		if t.Failed() {
			t.Logf("%v\n%s", err, said)
		}
	}()
	if left, _ := processesOf(home); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}

	var failed []string
	for _, c := range checksIn(t, results) {
		switch c.Status {
		case "SUCCESS":
			tried.Passed = append(tried.Passed, c.ID)
		case "INFO":
		default: // what was skipped, too, or nobody would see it
			failed = append(failed, fmt.Sprintf("%s: %s %s", c.ID, c.Status, c.Message))
		}
	}
	if refusal := refusals[tried.Scenario]; refusal != "" {
		// The errand has seen that the call ended well.
		tried.Refused = refusal
		if len(tried.Passed) > 0 || !slices.ContainsFunc(failed, func(s string) bool { return strings.Contains(s, refusal) }) || strings.Contains(string(said), "Client exited") {
			t.Errorf("Aurora should have said %q; passed: %q; failed: %q", refusal, tried.Passed, failed)
		}
		return
	}
	if err != nil || len(failed) > 0 || len(tried.Passed) == 0 {
		t.Errorf("%v; passed: %q; failed: %q", err, tried.Passed, failed)
	}
}

// A check is one thing that the runner looked at.
type check struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// checksIn reads the only checks.json below a folder.
func checksIn(t *testing.T, dir string) []check {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the runner left %d results: %v", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var list []check
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}
