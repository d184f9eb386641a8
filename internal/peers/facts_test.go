package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/platform/host"
)

const (
	factsFile = "testdata/facts.json"
	pageFile  = "../../docs/compatibility.md"
)

// facts are what was seen of one server.
type facts struct {
	Key       string            `json:"key"`
	About     string            `json:"about"`
	Transport string            `json:"transport"`
	Server    string            `json:"server"` // as it calls itself
	Protocol  string            `json:"protocol"`
	Lists     [4]int            `json:"lists"` // tools, resources, templates, prompts
	Seen      map[string]string `json:"seen"`

	remote *remote
}

func newFacts(key, about string, r *remote) *facts {
	f := &facts{Key: key, About: about, Transport: "stdio", Seen: map[string]string{}, remote: r}
	if r != nil {
		f.Transport = r.transport
	}
	return f
}

// saw notes that something worked, or how it went.
func (f *facts) saw(what, how string) { f.Seen[what] = how }

func (f *facts) count(s host.Status, lists [4]int) {
	f.Server, f.Protocol, f.Lists = s.Server, s.ProtocolVersion, lists
}

// compare fails when what was seen is not what is written down, or writes it.
func compare(t *testing.T, seen []*facts) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux can tell what is left of a server: nothing is compared")
		return
	}
	keep(t, factsFile, seen)
}

// keep fails when what was seen is not what a file says, or writes the file, and
// with it the page.
func keep(t *testing.T, name string, seen any) {
	t.Helper()
	now, err := json.MarshalIndent(seen, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	now = append(now, '\n')
	file := filepath.FromSlash(name)
	if *update {
		if err := os.WriteFile(file, now, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.FromSlash(pageFile), page(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, now) {
		t.Errorf("what was seen is not what %s says (go test ./internal/peers -update writes it):\n%s", name, now)
	}
}

// recall reads what keep has written.
func recall(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// TestTheCompatibilityPage needs no server: the page must say what the facts do.
func TestTheCompatibilityPage(t *testing.T) {
	if *update {
		t.Skip("it is being written")
	}
	got, err := os.ReadFile(filepath.FromSlash(pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if want := page(t); !bytes.Equal(got, want) {
		t.Errorf("docs/compatibility.md is not what the facts make; go test ./internal/peers -update writes it\n%s", want)
	}
}

// page makes docs/compatibility.md.
func page(t *testing.T) []byte {
	t.Helper()
	var seen []*facts
	recall(t, factsFile, &seen)
	var judged judgement
	recall(t, conformanceFile, &judged)
	var b bytes.Buffer
	writeServers(&b, seen)
	judged.write(&b)
	return b.Bytes()
}

// columns are the features of the table; a server without one has a dash.
var columns = []struct{ head, key string }{
	{"calls", "calls"}, {"exact", "exact"}, {"resources", "resources"}, {"prompts", "prompts"},
	{"completion", "completion"}, {"subscription", "subscription"}, {"list changed", "list_changed"},
	{"progress", "progress"}, {"cancel", "cancellation"}, {"log", "logging"}, {"restart", "restart"}, {"stop", "stop"},
}

// writeServers writes what was seen of servers.
func writeServers(b *bytes.Buffer, seen []*facts) {
	b.WriteString(`# Servers that were tried

<!-- Made by go test ./internal/peers -update. Do not edit. -->

Each server here was installed from its registry, pinned by the lock files in
` + "`internal/peers`" + `, and run by Aurora as a child process, from a home folder with
blanks and Chinese characters in its path, or reached by Aurora at its address.
` + "`./test`" + ` does it again and fails when something differs.

| server | transport | calls itself | protocol | tools | resources | templates | prompts |
|---|---|---|---|---|---|---|---|
`)
	for _, f := range seen {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %d | %d | %d |\n", f.About, f.Transport, f.Server, f.Protocol, f.Lists[0], f.Lists[1], f.Lists[2], f.Lists[3])
	}
	b.WriteString("\n| server |")
	for _, c := range columns {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, f := range seen {
		b.WriteString("| " + f.Key + " |")
		for _, c := range columns {
			switch how := f.Seen[c.key]; how {
			case "":
				b.WriteString(" – |")
			case "yes":
				b.WriteString(" ✓ |")
			default:
				b.WriteString(" ✓ " + how + " |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(`
✓ means done and its effect checked; – means that the server does not offer it,
or offers nothing to try it with.

- **calls**: several tools with checked results; failures of the tool, arguments
  that do not fit, and unknown names end as what they are.
- **exact**: every tool definition and several results came out of Aurora with
  the same tokens, order of keys and text of numbers as the server sent them.
- **list changed**: the list named there changed during the session, and the new
  one was there without being asked for.
- **cancel**: a call was given up after its first sign of progress, and the server
  was told.
- **restart**: the process was killed with SIGKILL; the next call woke it. A remote
  server was started again by its keeper; the next call found it.
- **stop**: after the stop no process of the server was left.
`)
	if notes := warnings(seen); notes != "" {
		b.WriteString("\n## Oddities\n\n" + notes)
	}
}

// warnings lists what Aurora found odd about a server.
func warnings(seen []*facts) string {
	var b strings.Builder
	for _, f := range seen {
		if w := f.Seen["warnings"]; w != "" {
			fmt.Fprintf(&b, "- %s: %s\n", f.Key, w)
		}
	}
	return b.String()
}
