package proc

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestStartErrorTexts is field fault P01: what the user reads.
func TestStartErrorTexts(t *testing.T) {
	tmp := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("bin/readme", "text\n", 0o600)
	file("bin/text", "text\n", 0o700)
	file("bin/python3", "#!/bin/sh\n", 0o700)
	file("bin/dos", "#!/bin/sh\r\n", 0o700)
	file("bin/old", "#!/opt/ruby1.8 -w\n", 0o700)
	file("bin/npxlike", "#!/usr/bin/env node\n", 0o700)
	file("bin/spread", "#!/usr/bin/env -S ruby --yjit\n", 0o700)
	file("home/.local/bin/uvx", "#!/bin/sh\n", 0o700)
	file("server.py", "", 0o600)
	file("server.js", "", 0o600)
	file("folder/x", "", 0o600)
	foreign := file("foreign", foreignBinary, 0o700)
	path := "PATH=" + filepath.Join(tmp, "bin")
	env := []string{"SECRET=sk-123", path, "HOME=" + filepath.Join(tmp, "home")}

	l := launcher(t, Options{})
	var got strings.Builder
	show := func(title string, err error) {
		t.Helper()
		var e *StartError
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v is no StartError", title, err)
		}
		if strings.Contains(fmt.Sprintf("%#v", e), "sk-123") {
			t.Errorf("%s: the error holds the environment", title)
		}
		e.places = slices.DeleteFunc(e.places, func(place string) bool { return !strings.HasPrefix(place, tmp) })
		permanent := "permanent"
		if !e.Permanent() {
			permanent = "may pass"
		}
		fmt.Fprintf(&got, "# %s: %s, %s\n%s\n\n", title, e.Kind, permanent, strings.ReplaceAll(e.Error(), tmp, "TMP"))
	}
	try := func(title string, s Spec) {
		t.Helper()
		p, err := l.Start(context.Background(), s)
		if err == nil {
			p.Stop(context.Background())
			t.Fatalf("%s: it started", title)
		}
		show(title, err)
	}
	one := func(title, command string) {
		t.Helper()
		try(title, Spec{Name: "demo", Argv: []string{command, "-y"}, Env: env, Dir: tmp})
	}

	one("a bare name", "no-such-launcher-zz")
	one("npx without Node", "npx")
	one("python where there is python3", "python")
	one("a program outside PATH", "uvx")
	one("a whole command line", "node server.js")
	one("nothing", "")
	try("no arguments at all", Spec{})
	try("no PATH", Spec{Argv: []string{"server"}, Env: []string{}})
	one("an absolute path", "/no/such/server")
	one("a relative path", "./server")
	one("a file in PATH without permission", "readme")
	one("a Python script", "./server.py")
	one("a Node script", "./server.js")
	one("a folder", "./folder")
	one("a text", "text")
	one("a script with a missing interpreter", "old")
	one("a script of a missing environment", "npxlike")
	one("a script of one with arguments", "spread")
	one("a script with Windows line ends", "dos")
	one("a binary with a missing loader", foreign)
	try("a missing working directory", Spec{Argv: []string{"/bin/true"}, Dir: filepath.Join(tmp, "nowhere")})
	try("a file as working directory", Spec{Argv: []string{"/bin/true"}, Dir: filepath.Join(tmp, "server.py")})
	try("a NUL", Spec{Argv: []string{"/bin/true", "a\x00b"}, Env: env})
	try("too much", Spec{Argv: []string{"/bin/true", strings.Repeat("x", 4<<20)}, Env: env})
	busy := file("bin/busy", "#!/bin/sh\n", 0o700)
	writer, err := os.OpenFile(busy, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	one("a program that is being replaced", "busy")
	show("no more processes", &StartError{Kind: Other, Command: "/bin/true", Path: "/bin/true", Err: &os.PathError{Op: "fork/exec", Path: "/bin/true", Err: syscall.EAGAIN}})
	show("a closed folder", &StartError{Kind: NotFound, Command: "/root/x", Path: "/root/x", Err: &os.PathError{Op: "stat", Path: "/root/x", Err: syscall.EACCES}})

	golden := filepath.Join("testdata", "starterrors.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("texts differ from %s (-update rewrites it):\n%s", golden, got.String())
	}
}

// foreignBinary is the shortest ELF program for this machine that asks for a
// loader: a header, one segment that names it, and the name.
var foreignBinary = func() string {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil || len(self) < 64 {
		return ""
	}
	header := append([]byte(nil), self[:64]...) // machine and byte order are ours
	const loader = "/lib/ld-foreign.so.1\x00"
	segment := make([]byte, 56)
	put := func(b []byte, at int, value byte) { b[at] = value }
	clear(header[24:])
	put(header, 32, 64) // the segments begin here
	put(header, 52, 64) // size of this header
	put(header, 54, 56) // size of a segment's
	put(header, 56, 1)  // one segment
	put(segment, 0, 3)  // PT_INTERP
	put(segment, 8, 120)
	put(segment, 32, byte(len(loader)))
	put(segment, 40, byte(len(loader)))
	return string(header) + string(segment) + loader
}()

func TestLookPath(t *testing.T) {
	tmp := t.TempDir()
	put := func(path string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(tmp, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("one/server", 0o600) // no program
	put("two/server/x", 0o600)
	put("three/server", 0o700)
	put("three/only", 0o700)
	put("here", 0o700)
	if err := os.Symlink("../three/server", filepath.Join(tmp, "two/link")); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("PATH=%s/one:%[1]s/two:%[1]s/three", tmp)
	for _, test := range []struct{ name, path, want string }{
		{"server", path, "three/server"}, // past what cannot be run
		{"link", path, "two/link"},       // links stay
		{"./three/only", path, "three/only"},
		{"three/../here", "", "here"},
		{filepath.Join(tmp, "here"), "", "here"},
		{"here", path + ":.:", ""}, // the working directory is no place to search
		{"here", "PATH=", ""},
		{"here", "NOPATH=" + tmp, ""},
	} {
		got, err := LookPath(test.name, []string{test.path}, tmp)
		want := test.want
		if want != "" {
			want = filepath.Join(tmp, want)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("LookPath(%q) with %s = %q, %v", test.name, test.path, got, err)
		}
	}
}
