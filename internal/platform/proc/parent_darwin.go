package proc

import (
	"bytes"
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A parent is this process in its part as the parent of others. macOS has
// neither subreapers nor parent-death signals, so there is nothing to keep.
type parent struct{}

func newParent() (*parent, error) { return new(parent), nil }

func (*parent) do(_ context.Context, f func()) error { f(); return nil }
func (*parent) close()                               {}
func (*parent) reap()                                {}

// adopted returns all processes: orphans go to launchd, so they are found by
// group, session and cookie among all.
func (*parent) adopted() []entry { return processes() }

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitExit waits until the child has ended and leaves it a zombie: as long as
// it is one, its pid and its group cannot belong to anybody else. How the child
// ended is not known before it is reaped.
func awaitExit(handle *os.Process) *Exit {
	for awaitEvent(handle.Pid) != nil { // a shortage of files or memory, which passes
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// awaitEvent waits for the end of a process by a kqueue, as the waitid of macOS
// also reports stopped children.
func awaitEvent(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	watch := []unix.Kevent_t{{
		Ident:  uint64(pid),
		Filter: unix.EVFILT_PROC,
		Flags:  unix.EV_ADD | unix.EV_ONESHOT,
		Fflags: unix.NOTE_EXIT,
	}}
	for {
		_, err := unix.Kevent(queue, watch, make([]unix.Kevent_t, 1), nil)
		switch err {
		case unix.EINTR:
		case unix.ESRCH: // it has ended already
			return nil
		default:
			return err
		}
	}
}

// bootID is empty: start times are points in time here.
func bootID() string { return "" }

// processes returns every living process.
func processes() []entry {
	infos, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	var table []entry
	for i := range infos {
		if e, ok := entryOf(&infos[i]); ok {
			table = append(table, e)
		}
	}
	return table
}

// lookup returns a living process.
func lookup(pid int) (entry, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return entry{}, false
	}
	return entryOf(info)
}

func entryOf(info *unix.KinfoProc) (entry, bool) {
	const zombie = 5 // SZOMB of sys/proc.h
	pid := int(info.Proc.P_pid)
	sid, _ := unix.Getsid(pid)
	started := info.Proc.P_starttime
	return entry{
		pid:   pid,
		ppid:  int(info.Eproc.Ppid),
		pgid:  int(info.Eproc.Pgid),
		sid:   sid,
		start: uint64(started.Sec)*1e6 + uint64(started.Usec),
		comm:  unix.ByteSliceToString(info.Proc.P_comm[:]),
	}, pid > 0 && info.Proc.P_stat != zombie
}

// cookieOf returns the cookie a process was started with. The block that
// KERN_PROCARGS2 gives holds the arguments and then the environment, and no
// environment for programs of the system.
func cookieOf(pid int) string {
	block, _ := unix.SysctlRaw("kern.procargs2", pid)
	for kv := range bytes.SplitSeq(block, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(CookieVar+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// descendants returns the living descendants of a process.
func descendants(pid int) []entry {
	return claim(processes(), func(e entry) (string, bool) { return "", e.ppid == pid })
}
