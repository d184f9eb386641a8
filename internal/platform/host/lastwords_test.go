package host

import (
	"strings"
	"testing"
)

func TestTheLineThatSaysMost(t *testing.T) {
	for _, c := range []struct {
		name, stderr, line string
		last               bool
	}{
		{"nothing", "", "", false},
		{"blank lines", " \n\n", "", false},
		{"one line", "ERROR: DEMO_TOKEN is not set\n\n", "ERROR: DEMO_TOKEN is not set", true},
		{"a hint below its error", "bad config\n  see the manual", "see the manual", true},
		{"Python", "Traceback (most recent call last):\n  File \"s.py\", line 1, in <module>\n    import mcp\n    ^^^^^^^^^^\nModuleNotFoundError: No module named 'mcp'", "ModuleNotFoundError: No module named 'mcp'", true},
		{"Node", "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/x/y.js'\n    at Module._load (node:internal/x:1:2)\n    at node:internal/main:30:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v22.1.0", "Error: Cannot find module '/x/y.js'", false},
		{"Node, an error of its own", "Error: no key {\n  code: 7\n}\n\nNode.js v22.1.0", "Error: no key", false},
		{"a script of Node that prints the stack", "Error: DEMO boom\n    at Timeout._onTimeout (file:///t/node.mjs:8:52)\n    at listOnTimeout (node:internal/timers:581:17)", "Error: DEMO boom", false},
		{"Java", "Exception in thread \"main\" java.lang.IllegalStateException: no key\n\tat Main.main(Main.java:3)", "Exception in thread \"main\" java.lang.IllegalStateException: no key", false},
		{"npm", "npm error code E404\nnpm error 404 'nope@latest' is not in this registry.\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log", "npm error 404 'nope@latest' is not in this registry.", false},
		{"Go", "listening\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:5 +0x25\nexit status 2", "panic: boom", false},
		{"nothing but a trace", "    at a\n    at b", "at b", true},
		{"a lone brace", "}", "}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if line, last := telling(strings.Split(c.stderr, "\n")); line != c.line || last != c.last {
				t.Errorf("got %q, last: %v", line, last)
			}
		})
	}
}

func TestHowMessagesAreFramedWrongly(t *testing.T) {
	for line, want := range map[string]string{
		"Content-Length: 148": "Content-Length",
		"content-length:7":    "Content-Length",
		"Content-Type: x":     "Content-Length",
		"{'jsonrpc': '2.0'":   "Python",
		`"{\"jsonrpc\": \"2`:  "in quotes",
		"{":                   "over several lines",
		"}":                   "over several lines",
		"{\x00\"\x00j\x00":    "UTF-16",
		"usage: serve [-p]":   "",
		"{}":                  "",
	} {
		if got := misframed(line); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q", line, got)
		}
	}
}
