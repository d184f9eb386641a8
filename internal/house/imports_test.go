package house

import (
	"slices"
	"strings"
	"testing"
)

// A rule says what the packages that match a pattern may import of Aurora's.
// A pattern is the path of a package, or a path with "/..." for it and all
// below it.
type rule struct {
	who string
	// only, if not nil, is all that they may import; amp everybody may.
	only []string
	// never is what they must not import.
	never []string
	why   string
}

var rules = []rule{
	{who: "amp", only: []string{}, why: "other people's programs read our envelopes with it"},
	{who: "internal/call", only: []string{}, why: "it is the vocabulary of both wings"},
	{who: "internal/names", only: []string{}, why: "it is a leaf"},
	{who: "internal/spool", only: []string{}, why: "it is a leaf"},
	{who: "internal/redact", only: []string{}, why: "it is a leaf"},
	{who: "internal/short", only: []string{}, why: "it is a leaf"},
	{who: "internal/toolschema", only: []string{"internal/names"}, why: "it knows schemas, not apps"},
	{who: "internal/config", only: []string{"internal/names", "internal/redact", "internal/short"}, why: "it knows files, not what they are for"},
	{who: "internal/importer", only: []string{"internal/config", "internal/names", "internal/short"}, why: "it knows foreign files and ours"},
	{who: "internal/control", only: []string{"internal/call"}, why: "clients and daemons share it"},
	{who: "appkit/...", never: []string{"internal/..."}, why: "people write apps with it"},
	{who: "apps/...", never: []string{"internal/..."}, why: "an app is an MCP server like any other"},
	{who: "examples/...", never: []string{"internal/..."}, why: "readers cannot import it either"},
	{who: "cmd/aurora", only: []string{"internal/cli"}, why: "main only starts the command line"},

	{who: "internal/platform/proc", only: []string{"internal/call", "internal/redact"}, why: "it knows processes"},
	{who: "internal/platform/mcp", only: []string{"internal/call", "internal/redact"}, why: "it knows one session"},
	{who: "internal/platform/policy", never: []string{"internal/platform/host", "internal/platform/mcp", "internal/platform/proc"}, why: "it judges and does nothing"},
	{who: "internal/platform/audit", never: []string{"internal/platform/host", "internal/platform/mcp", "internal/platform/proc"}, why: "it writes down and does nothing"},
	{who: "internal/platform/host", never: []string{"internal/platform/bridge", "internal/platform/gateway", "internal/spool", "internal/control"}, why: "it does not know who listens"},
	{who: "internal/platform/...", never: []string{"internal/brain/...", "internal/console/...", "internal/cli/...", "internal/daemon/..."}, why: "the platform knows nothing of the brain"},
	{who: "internal/brain/...", never: []string{"internal/platform/...", "internal/console/...", "internal/cli/...", "internal/daemon/..."}, why: "the brain knows nothing of MCP"},
	{who: "internal/cli", never: []string{"internal/platform/..."}, why: "a command asks a house, near or far"},
	{who: "...", never: []string{"internal/testkit/...", "internal/faults/...", "internal/peers/...", "internal/house/..."}, why: "they are for tests"},
}

func TestWhoMayImportWhom(t *testing.T) {
	for _, system := range systems {
		for _, p := range packages(t, system) {
			for _, r := range rules {
				if !match(r.who, p.path) {
					continue
				}
				for _, imported := range p.ours() {
					if breaks(r, p.path, imported) {
						t.Errorf("%s imports %s (on %s), and must not: %s", p.path, imported, system, r.why)
					}
				}
			}
		}
	}
}

// Only the composition root may see both wings.
func TestTheWingsMeetInTheDaemonOnly(t *testing.T) {
	for _, system := range systems {
		for _, p := range packages(t, system) {
			platform := slices.ContainsFunc(p.ours(), func(i string) bool { return match("internal/platform/...", i) })
			brain := slices.ContainsFunc(p.ours(), func(i string) bool { return match("internal/brain/...", i) })
			if platform && brain && p.path != "internal/daemon" {
				t.Errorf("%s sees both the platform and the brain", p.path)
			}
		}
	}
}

// TestTheRulesBite makes sure that a rule which is broken is found broken.
func TestTheRulesBite(t *testing.T) {
	for _, c := range []struct {
		who, imported string
		broken        bool
	}{
		{"amp", "internal/call", true},
		{"internal/call", "amp", false},
		{"internal/platform/mcp", "internal/config", true},
		{"internal/platform/mcp", "internal/call", false},
		{"internal/platform/host", "internal/daemon", true},
		{"internal/brain/node", "internal/platform/host", true},
		{"apps/weather", "internal/call", true},
		{"apps/weather", "appkit", false},
		{"internal/cli", "internal/platform/host", true},
		{"internal/daemon", "internal/platform/host", false},
		{"internal/daemon", "internal/testkit", true},
		{"internal/testkit/sub", "internal/testkit", false},
	} {
		got := slices.ContainsFunc(rules, func(r rule) bool { return match(r.who, c.who) && breaks(r, c.who, c.imported) })
		if got != c.broken {
			t.Errorf("%s importing %s: broken %v, want %v", c.who, c.imported, got, c.broken)
		}
	}
}

func breaks(r rule, who, imported string) bool {
	any := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return match(p, imported) })
	}
	switch {
	case imported == "amp":
		return false
	case slices.ContainsFunc(r.never, func(p string) bool { return match(p, imported) && match(p, who) }):
		return false // a package and what is below it are one
	case r.only != nil && !any(r.only):
		return true
	}
	return any(r.never)
}

func match(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}
