package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// With these variables set this test binary is the client that the conformance
// runner starts: it has the aurora binary of the first do what the scenario
// asks for, in the home folder of the second.
const (
	guestBinary = "AURORA_TEST_GUEST"
	guestHome   = "AURORA_TEST_GUEST_HOME"
)

// guestTime bounds a visit; the runner ends one that takes longer than
// patience.
const guestTime = patience - 30*time.Second

// An errand is what Aurora does in one scenario of the runner.
type errand struct {
	with string // the commands, for the page
	do   func(*guest) error
}

// errands are those of all scenarios that Aurora can do.
var errands = map[string]errand{
	"initialize":                          {"`aurora doctor`", (*guest).greet},
	"tools_call":                          {"`aurora call`", (*guest).add},
	"sse-retry":                           {"`aurora call`", (*guest).reconnect},
	"json-schema-2020-12-preservation":    {"`aurora tools` and `aurora call`", (*guest).echoSchema},
	"json-schema-ref-no-deref":            {"`aurora tools` and `aurora call`", (*guest).checkArguments},
	"elicitation-sep1034-client-defaults": {"`aurora call`", (*guest).refuse},
}

// A guest visits the server of one scenario.
type guest struct {
	aurora, home string
	ctx          context.Context
}

// newGuest returns nil unless this process was started as one.
func newGuest() *guest {
	if os.Getenv(guestBinary) == "" {
		return nil
	}
	return &guest{aurora: os.Getenv(guestBinary), home: os.Getenv(guestHome)}
}

// visit runs the errand of the scenario that the runner names, at the address
// that it gives, and returns the exit code.
func (g *guest) visit(args []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), guestTime)
	defer cancel()
	g.ctx = ctx
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	errand, ok := errands[scenario]
	err := fmt.Errorf("there is no errand for %q with %q", scenario, args)
	if ok && len(args) == 1 {
		err = g.settle(args[0], os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"))
		if err == nil {
			err = errand.do(g)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// settle writes the home. The newest protocol is the one that Aurora offers by
// itself.
func (g *guest) settle(url, protocol string) error {
	if protocol == newestProtocol {
		protocol = "auto"
	}
	config := fmt.Sprintf("apps:\n  peer:\n    package: org.example.peer\n    mcp: {url: %s, protocol: %s, health_timeout_seconds: 100}\n", quoted(url), quoted(protocol))
	if err := os.MkdirAll(filepath.Join(g.home, "apps"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.home, "apps", "config.yml"), []byte(config), 0o600)
}

// run runs aurora, which must succeed, and returns what it prints.
func (g *guest) run(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(g.ctx, g.aurora, append([]string{"--home", g.home}, args...)...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("aurora %s: %w\n%s%s", strings.Join(args, " "), err, out, problems.Bytes())
	}
	return out, nil
}

// call calls a tool, whose result must hold want.
func (g *guest) call(want, tool string, args ...string) error {
	out, err := g.run(append([]string{"call", tool}, args...)...)
	if err == nil && !bytes.Contains(out, []byte(want)) {
		err = fmt.Errorf("aurora call %s: %q does not hold %q", tool, out, want)
	}
	return err
}

// schema returns the input schema of a tool, as it came.
func (g *guest) schema(tool string) (json.RawMessage, error) {
	out, err := g.run("tools", "--json", tool)
	if err != nil {
		return nil, err
	}
	var tools []struct {
		Definition struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"definition"`
	}
	if err := json.Unmarshal(out, &tools); err != nil {
		return nil, err
	}
	if len(tools) != 1 {
		return nil, fmt.Errorf("%d tools are named %s", len(tools), tool)
	}
	return tools[0].Definition.InputSchema, nil
}

// greet begins a session and ends it.
func (g *guest) greet() error {
	_, err := g.run("doctor")
	return err
}

func (g *guest) add() error {
	return g.call("The sum of 5 and 3 is 8", "add_numbers", "a=5", "b=3")
}

// echoSchema gives the server back the schema that it sent.
func (g *guest) echoSchema() error {
	schema, err := g.schema("json_schema_2020_12_tool")
	if err != nil {
		return err
	}
	return g.call("echoed", "json_schema_echo", "schema:="+string(schema))
}

// checkArguments has Aurora check arguments by a schema that refers to another
// host. The server knows the tool but no calls, so that a refusal of its is what
// shows that the check let them pass.
func (g *guest) checkArguments() error {
	if _, err := g.schema("lookup_user"); err != nil {
		return err
	}
	err := g.call("", "lookup_user", "id=x", `profile:={"displayName":7}`)
	if err == nil || !strings.Contains(err.Error(), "Method not found") {
		return fmt.Errorf("the call should have come to the server, which knows none: %v", err)
	}
	return nil
}

// refuse has a tool ask the user, which Aurora grants to nobody. The call must
// end all the same.
func (g *guest) refuse() error {
	return g.call(refusals["elicitation-sep1034-client-defaults"], "test_client_elicitation_defaults")
}

// reconnect makes a call whose answer breaks off and is there when the stream is
// resumed.
func (g *guest) reconnect() error {
	return g.call("Reconnection test completed successfully", "test_reconnection")
}
