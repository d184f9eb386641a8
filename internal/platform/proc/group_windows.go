package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	homeVar = "USERPROFILE"
	// errBadFormat is how CreateProcess calls a file that is no program.
	errBadFormat = windows.ERROR_BAD_EXE_FORMAT
)

// A group is a job object: a child and everything it starts, without a way
// out. Windows ends the job when its last handle is closed, so also when this
// process dies. Its methods must not be called after close.
type group struct {
	job windows.Handle
	pid int
}

// newGroup puts a child, which platformCommand had started suspended, into a
// job, and lets it run. Nothing it starts can so escape the job.
func newGroup(leader *os.Process) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job object: %w", err)
	}
	g := &group{job: job, pid: leader.Pid}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		handleErr := leader.WithHandle(func(handle uintptr) {
			err = windows.AssignProcessToJobObject(job, windows.Handle(handle))
		})
		err = errors.Join(err, handleErr)
	}
	if err == nil {
		err = resume(leader.Pid)
	}
	if err != nil {
		g.close()
		return nil, fmt.Errorf("putting the child into a job object: %w", err)
	}
	return g, nil
}

// resume lets the threads of a suspended process run: there is one.
func resume(pid int) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != uint32(pid) {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		return err
	}
	return err
}

// terminate is Ctrl-Break, which reaches only children that share our console.
func (g *group) terminate() {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.pid))
}

func (g *group) kill()  { windows.TerminateJobObject(g.job, 1) }
func (g *group) close() { windows.CloseHandle(g.job) }

// platformCommand turns a program and its arguments into what is executed.
// Batch files are run by cmd.exe.
func platformCommand(path string, argv []string) (string, []string, *syscall.SysProcAttr, error) {
	sys := &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED}
	if !isBatch(path) {
		return path, argv, sys, nil
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return "", nil, nil, err
	}
	shell := filepath.Join(system, "cmd.exe")
	sys.CmdLine, err = batchCommandLine(shell, path, argv[1:])
	return shell, argv, sys, err
}

// exitOf reads the end of a child.
func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }

// candidates lists the files a path may mean.
func candidates(path string, env []string) []string {
	pathExt, _ := getenv(env, "PATHEXT")
	return withExtensions(path, pathExt)
}

// executable: the extension has said it.
func executable(string) error { return nil }

func sameKey(a, b string) bool { return strings.EqualFold(a, b) }

// awaitExit waits until the child has ended. Done follows at once, so how it
// ended is left to that.
func awaitExit(handle *os.Process) *Exit {
	handle.WithHandle(func(h uintptr) {
		windows.WaitForSingleObject(windows.Handle(h), windows.INFINITE)
	})
	return nil
}

// A parent is this process in its part as the parent of others. Job objects do
// all of its work.
type parent struct{}

func newParent() (*parent, error) { return new(parent), nil }

func (*parent) do(_ context.Context, f func()) error { f(); return nil }
func (*parent) close()                               {}
func (*parent) reap()                                {}
func (*parent) adopted() []entry                     { return nil }

// With job objects nothing is ever left over, so no table of processes is read.

func bootID() string               { return "" }
func processes() []entry           { return nil }
func lookup(int) (entry, bool)     { return entry{}, false }
func descendants(int) []entry      { return nil }
func cookieOf(int) (cookie string) { return "" }
