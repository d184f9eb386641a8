//go:build unix

package proc

import (
	"cmp"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	homeVar = "HOME"
	// errBadFormat is how exec calls a file that is neither binary nor script.
	errBadFormat = syscall.ENOEXEC
)

// A group is a child and all that did not leave its process group. Its methods
// must not be called when the child is reaped.
type group struct{ pgid int }

func newGroup(leader *os.Process) (*group, error) { return &group{leader.Pid}, nil }

func (g *group) terminate() { unix.Kill(-g.pgid, unix.SIGTERM) }
func (g *group) kill()      { unix.Kill(-g.pgid, unix.SIGKILL) }
func (g *group) close()     {}

// platformCommand turns a program and its arguments into what is executed.
func platformCommand(path string, argv []string) (string, []string, *syscall.SysProcAttr, error) {
	return path, argv, childAttributes(), nil
}

// exitOf reads the end of a child.
func exitOf(state *os.ProcessState) Exit {
	e := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = signalName(status.Signal())
	}
	return e
}

func signalName(s syscall.Signal) string {
	return cmp.Or(unix.SignalName(s), s.String())
}

// candidates lists the files a path may mean: here, the path.
func candidates(path string, _ []string) []string { return []string{path} }

// executable asks the system, which knows about permissions of this user, access
// lists and file systems mounted noexec.
func executable(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
}

func sameKey(a, b string) bool { return a == b }
