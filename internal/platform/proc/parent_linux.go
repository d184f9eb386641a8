package proc

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A parent is this process in its part as the parent of others.
//
// It owns one operating system thread on which all children are started. The
// parent-death signal of a child is sent when the thread that forked it ends,
// and the Go runtime may end threads; this one lives until the last child is gone.
//
// The thread is never the main thread. Orphans that the kernel hands to a
// subreaper become children of its main thread, so the two kinds of children
// are told apart by the thread they belong to.
type parent struct {
	work chan func()
	quit chan struct{}
	gone chan struct{}

	// reaping guards the orphans that are zombies: between listing and reaping
	// nobody else may reap, or a pid could have a new meaning.
	reaping sync.Mutex
}

func newParent() (*parent, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming a child subreaper: %w", err)
	}
	// What we inherited from a careless shell, and could pass on, stays with us.
	// Kernels before 5.11 do not know this, and then it is as it was.
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	p := &parent{work: make(chan func()), quit: make(chan struct{}), gone: make(chan struct{})}
	ready := make(chan struct{})
	go p.run(ready)
	<-ready
	return p, nil
}

func (p *parent) run(ready chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Gettid() == unix.Getpid() {
		elsewhere := make(chan struct{})
		go p.run(elsewhere) // on another thread, as this one is held until then
		<-elsewhere
		close(ready)
		return
	}
	close(ready)
	defer close(p.gone)
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	defer signal.Stop(died)
	for {
		select {
		case f := <-p.work:
			f()
		case <-died:
			p.reap()
		case <-p.quit:
			return
		}
	}
}

// do runs f on the thread of the parent.
func (p *parent) do(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan struct{})
	select {
	case p.work <- func() { f(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *parent) close() {
	close(p.quit)
	<-p.gone
}

// orphans lists the processes that came to us when their parents died, by pid.
// Those of our own session are left to whoever started them with os/exec.
func orphans() []int {
	self := strconv.Itoa(os.Getpid())
	session, _ := unix.Getsid(0)
	var found []int
	for _, pid := range childrenOf("/proc/self/task/" + self) {
		if e, _, ok := readStat(pid); ok && e.sid != session {
			found = append(found, pid)
		}
	}
	return found
}

// adopted returns the living orphans and their descendants.
func (p *parent) adopted() []entry {
	p.reaping.Lock() // a list that shrinks while it is read may lose a line
	roots := orphans()
	p.reaping.Unlock()
	var table []entry
	for _, pid := range roots {
		if e, ok := lookup(pid); ok {
			e.adopted = true
			table = append(table, e)
		}
		table = append(table, descendants(pid)...)
	}
	return table
}

// reap takes the dead orphans off the table of processes. It waits for single
// pids that nobody else knows of, never for any child: that would steal the exit
// codes of children started elsewhere.
func (p *parent) reap() {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	for _, pid := range orphans() {
		if _, zombie, ok := readStat(pid); ok && zombie {
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// childAttributes: a session, and so a group, of its own, without a terminal:
// a program that asks for a password fails instead of stopping for ever. And
// death when we die.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit waits until the child has ended and leaves it a zombie: as long as
// it is one, its pid and its group cannot belong to anybody else. It returns how
// the child ended, nil if the kernel does not say it in the form that is known.
func awaitExit(handle *os.Process) *Exit {
	var info childInfo
	for {
		err := unix.Waitid(unix.P_PID, handle.Pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return info.exit(handle.Pid)
		}
		if err != unix.EINTR {
			return nil
		}
	}
}

// A childInfo is a siginfo_t (sigaction(2)) as waitid fills it in.
type childInfo struct {
	signo, errno, code int32
	_                  [unsafe.Sizeof(uintptr(0))/4 - 1]int32 // what follows is aligned to a pointer
	pid                int32
	uid                uint32
	status             int32
	_                  [128]byte // at least the rest
}

// What code may be: CLD_EXITED and so on.
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
)

func (i *childInfo) exit(pid int) *Exit {
	switch {
	case int(i.pid) != pid: // another layout; only MIPS has one
	case i.code == childExited:
		return &Exit{Code: int(i.status)}
	case i.code == childKilled, i.code == childDumped:
		return &Exit{Code: -1, Signal: signalName(syscall.Signal(i.status))}
	}
	return nil
}
