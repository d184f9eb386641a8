package testkit

import (
	"strings"
	"testing"
)

func TestAMistakeInAScriptNamesFileAndLine(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"tol x", `f:1: unknown statement "tol"`},
		{"\n\ntool", `f:3: tool wants a name`},
		{"tool x {", `f:1: the JSON that begins here is never closed`},
		{"tool x nope", `f:1: tool x: not JSON: nope`},
		{"  tool x", `f:1: "tool x" is indented under nothing`},
		{"tool x\n  reply {}", `f:2: "reply {}" is indented under "tool", which takes no steps`},
		{"on tools/list", `f:1: "on tools/list" wants steps`},
		{"on tools/list\n  replay {}", `f:2: unknown step "replay"`},
		{"on tools/list\n  reply {]", `f:2: not JSON`},
		{"on tools/list\n  reply nothing", `f:2: not JSON`},
		{"on tools/list\n  reply ${idd}", `f:2: unknown variable ${idd}`},
		{"on tools/list #0\n  ignore", `f:1: "0" counts nothing`},
		{"on tools/list #4-2\n  ignore", `f:1: "4-2" counts nothing`},
		{"on tools/list run\n  ignore", `f:1: "run" is no condition`},
		{"start #1\n  ignore", `f:1: # counts messages`},
		{"start\n  reply {}", `f:2: reply stands in a block that handles a message`},
		{"before answers\n  reply {}", `f:2: reply stands in a block that handles a message`},
		{"on signal KILL\n  ignore", `f:1: a signal block is for one of TERM, INT, HUP`},
		{"on x\n  sleep long", `f:2: "long" is no time`},
		{"on x\n  kill BUS", `f:2: kill wants one of`},
		{"on x\n  exit 256", `f:2: exit wants a code`},
		{"on x\n  repeat", `f:2: "repeat" wants steps`},
		{"on x\n  repeat never\n    ignore", `f:2: repeat wants a number or forever`},
		{"on x\n    ignore\n  ignore", `f:3: "ignore" stands between two depths`},
		{"on x\n  stderr flood lots", `f:2: "lots" is no size`},
		{"on x\n  fork twice", `f:2: unknown word "twice" after fork`},
		{"on x\n\tignore", `f:2: indent with blanks`},
		{"on x\n  stdout \"open", `f:2: bad string`},
		{"on x\n  reply error nope", `f:2: reply error wants a number`},
		{"on x\n  reply error 1 nope", `f:2: write reply error 1 "message" [JSON]`},
		{"ids roman", `f:1: unknown ids "roman"`},
		{"frame gold", `f:1: unknown frame "gold"`},
		{"page 0", `f:1: page wants a positive number`},
	} {
		_, err := Parse("f", c.script)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v\n want %s…", c.script, err, c.want)
		}
	}
}

func TestAnArchiveHoldsManyServers(t *testing.T) {
	a := ParseArchive("x.txtar", []byte("What happened.\n\n-- server: one --\ntool a\n-- steps --\nx\n-- server: two words --\n\noops\n"))
	if got := strings.Join(a.Servers(), ","); got != "one,two words" {
		t.Errorf("servers %s", got)
	}
	if _, err := a.Server("one"); err != nil {
		t.Error(err)
	}
	if _, err := a.Server("two words"); err == nil || err.Error() != `x.txtar:9: unknown statement "oops"` {
		t.Errorf("error %v does not name the line of the archive", err)
	}
	if _, err := a.Server("three"); err == nil || !strings.Contains(err.Error(), "server: one, steps") {
		t.Errorf("error %v does not say what there is", err)
	}
	if text, line, ok := a.Section("steps"); text != "x\n" || line != 6 || !ok {
		t.Errorf("section %q at %d", text, line)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("tool x {\"a\": [\n1]}\non tools/call \"a b\" #2+\n  repeat 3 every 1ms\n    reply {\"x\": ${args.a}}  # done\n")
	f.Add("start run 1-2\n  raw \"\\xb9\"\n  frame pieces 1 every 1ms\non eof\n  fork setsid hold stdout\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", text)
		if (s == nil) == (err == nil) {
			t.Errorf("script %v, error %v", s, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("error without a place: %v", err)
		}
	})
}
