package proc

import (
	"slices"
	"testing"
)

func TestWithExtensions(t *testing.T) {
	for _, test := range []struct {
		path, pathExt string
		want          []string
	}{
		{"npx", ".EXE;.CMD", []string{"npx.exe", "npx.cmd"}},
		{"npx.cmd", ".EXE;.CMD", []string{"npx.cmd", "npx.cmd.exe", "npx.cmd.cmd"}},
		{"Node.EXE", ".EXE", []string{"Node.EXE", "Node.EXE.exe"}},
		{"server.js", ".EXE;;", []string{"server.js.exe"}},
		{"npx", "", []string{"npx.com", "npx.exe", "npx.bat", "npx.cmd"}},
	} {
		if got := withExtensions(test.path, test.pathExt); !slices.Equal(got, test.want) {
			t.Errorf("withExtensions(%q, %q) = %q, want %q", test.path, test.pathExt, got, test.want)
		}
	}
}

func TestIsBatch(t *testing.T) {
	for path, want := range map[string]bool{"npx.cmd": true, "RUN.BAT": true, "node.exe": false, "bat": false} {
		if got := isBatch(path); got != want {
			t.Errorf("isBatch(%q) = %v", path, got)
		}
	}
}

func TestBatchCommandLine(t *testing.T) {
	const head = `"C:\Windows\System32\cmd.exe" /e:ON /v:OFF /d /c "`
	line := func(args ...string) (string, error) {
		return batchCommandLine(`C:\Windows\System32\cmd.exe`, `C:\Program Files\nodejs\npx.cmd`, args)
	}
	for _, test := range []struct {
		what string
		args []string
		want string
	}{
		{"no arguments", nil, ``},
		{"plain words stay as they are", []string{"-y", "@scope/server-x", `C:\data`, "a_b.c:1"}, ` -y @scope/server-x C:\data a_b.c:1`},
		{"blanks and nothing", []string{"a b", ""}, ` "a b" ""`},
		{"what starts a command in cmd.exe", []string{"&calc", "a|b", "<x>", "^", "(y)"}, ` "&calc" "a|b" "<x>" "^" "(y)"`},
		{"a quote does not end the quotes", []string{`"&calc&"`}, ` """&calc&"""`},
		{"nor does one after a backslash", []string{`\"&calc`, `a\\"b`}, ` "\\""&calc" "a\\\\""b"`},
		{"a backslash at the end does not hide the quote", []string{`C:\a b\`, `C:\`}, ` "C:\a b\\" "C:\\"`},
		{"variables do not expand", []string{"%PATH%"}, ` "%%cd:~,%PATH%%cd:~,%"`},
		{"lists are one word", []string{"a,b;c=d"}, ` "a,b;c=d"`},
		{"letters of the world", []string{"北京"}, ` "北京"`},
	} {
		got, err := line(test.args...)
		want := head + `"C:\Program Files\nodejs\npx.cmd"` + test.want + `"`
		if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", test.what, got, err, want)
		}
	}
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if got, err := line(arg); err == nil {
			t.Errorf("%q was accepted: %s", arg, got)
		}
	}
}
