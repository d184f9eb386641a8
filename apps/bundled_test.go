package apps_test

import (
	"io"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps"
	"github.com/goccy/go-yaml"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachBundledAppIsNamedOnceAndStartsItself(t *testing.T) {
	seen := make(map[string]bool)
	for _, app := range apps.All() {
		for _, name := range []string{app.Name, app.Key, app.Package} {
			if name == "" || seen[name] {
				t.Errorf("%s: the name %q is empty or there twice", app.Key, name)
			}
			seen[name] = true
		}
		var manifest struct {
			Package string
			MCP     struct{ Command []string }
		}
		if err := yaml.Unmarshal(app.Manifest, &manifest); err != nil {
			t.Errorf("%s: %v", app.Key, err)
		}
		if got := strings.Join(manifest.MCP.Command, " "); manifest.Package != app.Package || got != "aurora app run "+app.Name {
			t.Errorf("%s: the manifest says %s is started by %q", app.Key, manifest.Package, got)
		}
	}
}

// Every line that a bundled app writes to stdout must be a message, and it must
// end by itself when its input ends (design documents, MCP guide, section 18.3).
func TestEachBundledAppAnswersAndEnds(t *testing.T) {
	for _, app := range apps.All() {
		t.Run(app.Name, func(t *testing.T) {
			var out strings.Builder
			err := app.Run(t.Context(), appkit.Process{
				Stdin: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`),
				Stdout: &out, Stderr: io.Discard, Environ: []string{},
			})
			if err != nil {
				t.Errorf("it ends with %v", err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], app.Package) || !strings.Contains(lines[1], `"tools":[{`) {
				t.Errorf("it says\n%s", out.String())
			}
			for _, line := range lines {
				if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
					t.Errorf("stdout holds %q", line)
				}
			}
		})
	}
}
