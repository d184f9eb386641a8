package home

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Home is a home folder and the programs that run in it.
type Home struct {
	T   *testing.T
	Dir string // the home
	Bin string // its programs, which its PATH begins with
}

// New makes an empty home with aurora and the named programs.
func New(t *testing.T, programs ...string) *Home {
	t.Helper()
	h := &Home{T: t, Dir: t.TempDir(), Bin: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(programs, "aurora") {
		if err := link(self, filepath.Join(h.Bin, name+exe(self))); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// Program returns the name that this test binary was started under, without the
// ending that Windows gives it.
func Program() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

// exe returns the ending of programs here.
func exe(self string) string {
	if filepath.Ext(self) == ".exe" {
		return ".exe"
	}
	return ""
}

// link makes a program of another name out of this one. A symbolic link does not
// do where the program asks for its own path.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o700)
}

// Put writes a file of the home. In its text BIN is the folder of the programs
// and HOME that of the home.
func (h *Home) Put(name, text string) {
	h.T.Helper()
	path := filepath.Join(h.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.T.Fatal(err)
	}
	text = strings.NewReplacer("BIN", filepath.ToSlash(h.Bin), "HOME", filepath.ToSlash(h.Dir)).Replace(text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
}

// Command returns an aurora that is not started yet.
func (h *Home) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.Bin, "aurora"), args...)
	cmd.Dir = h.Dir
	cmd.Env = []string{"PATH=" + h.Bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + h.Dir, "TMPDIR=" + os.TempDir()}
	return cmd
}

// Run runs a command that must end with this exit code, and returns its stdout.
func (h *Home) Run(code int, args ...string) []byte {
	h.T.Helper()
	cmd := h.Command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.T.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.T.Fatalf("aurora %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}
