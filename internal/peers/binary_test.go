package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestTheBinaryIsExact asks the real command line: what tools --json calls the
// definition and what call --json calls the result must be what the server
// sent, and afterwards nothing runs.
func TestTheBinaryIsExact(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh and no tee")
	}
	python := place(t, "current", "bin", "python")
	server, err := filepath.Abs(filepath.Join("testdata", "fastmcp_server.py"))
	if err != nil {
		t.Fatal(err)
	}
	aurora := build(t)
	home := filepath.Join(t.TempDir(), "我的 机器人")
	if err := os.MkdirAll(filepath.Join(home, "apps"), 0o700); err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal([]string{"sh", "-c", `"$@" | tee -a "$0"`, filepath.Join(home, "tap"), python, server})
	if err != nil {
		t.Fatal(err)
	}
	config := "apps:\n  peer:\n    package: org.example.peer\n    mcp: {command: " + string(command) + ", health_timeout_seconds: 170}\n"
	if err := os.WriteFile(filepath.Join(home, "apps", "config.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(code int, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(aurora, append([]string{"--home", home}, args...)...)
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("aurora %s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), code, out, problems.Bytes())
		}
		return out
	}

	type namedTool struct {
		Name       string          `json:"name"`
		Definition json.RawMessage `json:"definition"`
	}
	var tools []namedTool
	if err := json.Unmarshal(run(0, "tools", "--json"), &tools); err != nil {
		t.Fatal(err)
	}
	// The console is always there, and no server of others.
	tools = slices.DeleteFunc(tools, func(tool namedTool) bool { return !strings.HasPrefix(tool.Name, "org.example.peer.") })
	if len(tools) != 8 {
		t.Fatalf("%d tools", len(tools))
	}
	type answer struct {
		Outcome string          `json:"outcome"`
		Result  json.RawMessage `json:"result"`
	}
	calls := []struct {
		code    int
		outcome string
		args    []string
	}{
		{0, "ok", []string{"org.example.peer.big_number"}},
		{0, "ok", []string{"天气", "城市=上海"}},
		{0, "ok", []string{"order", "order.item=<茶>&", "order.count=2", `order.filter={"all_of":[{"field":"x"}]}`}},
		{3, "tool_error", []string{"broken"}},
	}
	var results []json.RawMessage
	for _, c := range calls {
		var a answer
		if err := json.Unmarshal(run(c.code, append([]string{"call", "--json"}, c.args...)...), &a); err != nil {
			t.Fatal(err)
		}
		if a.Outcome != c.outcome {
			t.Errorf("%v: %s, want %s", c.args, a.Outcome, c.outcome)
		}
		results = append(results, a.Result)
	}

	said := bytes.Join(messages(t, filepath.Join(home, "tap")), []byte("\n"))
	for _, tool := range tools {
		if !bytes.Contains(said, compact(t, tool.Definition)) {
			t.Errorf("the server never sent this definition of %s:\n%s", tool.Name, tool.Definition)
		}
	}
	for i, r := range results {
		if !bytes.Contains(said, append([]byte(`"result":`), compact(t, r)...)) {
			t.Errorf("the server never sent this result of %v:\n%s", calls[i].args, r)
		}
	}
	if left, _ := processesOf(home); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
}

// build builds the real binary, once, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	aurora, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return aurora
}

var built = sync.OnceValues(func() (string, error) {
	aurora := filepath.Join(workshop, "aurora")
	out, err := exec.Command("go", "build", "-o", aurora, "../../cmd/aurora").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return aurora, err
})
