package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// purgeTime bounds the killing of what a child leaves behind.
	purgeTime = 2 * time.Second
	// stuckTime is how long Stop waits after KILL. Only a process that hangs in
	// the kernel, say on a dead network disk, takes longer.
	stuckTime = 5 * time.Second
)

// A Process is one child and its family. It is made by [Launcher.Start] and
// safe for concurrent use, but for the reading of Stdout.
type Process struct {
	name                string
	pid                 int
	cookie              string
	launcher            *Launcher
	log                 *slog.Logger
	eofGrace, termGrace time.Duration

	stdin          *os.File
	stdout, stderr *stream
	tail           *tail

	exited chan struct{} // closed when the child has ended; it may still be a zombie
	early  *Exit         // set before exited is closed: how it ended; nil: not known yet
	done   chan struct{} // closed when nothing is left to do
	exit   Exit          // set before done is closed

	stopping atomic.Bool
	climbed  chan struct{} // closed when the ladder of Stop is at its end
	hurried  sync.Once
	hurry    chan struct{} // closed by the first Kill

	mu     sync.Mutex // guards the fields below; held over system calls that do not wait
	handle *os.Process
	family *group
	reaped bool           // then the pid may be somebody else's
	kin    map[int]uint64 // descendants seen so far: start time by pid
}

func newProcess(l *Launcher, s Spec, cookie string, handle *os.Process, family *group, pipes *pipes) *Process {
	return &Process{
		name:      s.Name,
		pid:       handle.Pid,
		cookie:    cookie,
		launcher:  l,
		log:       l.log.With("app", s.Name, "pid", handle.Pid),
		eofGrace:  cmp.Or(s.EOFGrace, eofGrace),
		termGrace: cmp.Or(s.TermGrace, termGrace),
		stdin:     pipes.stdin,
		stdout:    newStream(pipes.stdout),
		stderr:    newStream(pipes.stderr),
		tail:      newTail(s.StderrKeep, l.redact),
		exited:    make(chan struct{}),
		done:      make(chan struct{}),
		climbed:   make(chan struct{}),
		hurry:     make(chan struct{}),
		handle:    handle,
		family:    family,
		kin:       make(map[int]uint64),
	}
}

// Stdin is the writing end of a child's standard input.
type Stdin interface {
	io.WriteCloser
	// SetWriteDeadline bounds writes, as of [os.File]. On Windows it fails with
	// [os.ErrNoDeadline].
	SetWriteDeadline(time.Time) error
}

// Name returns the app's name from the Spec.
func (p *Process) Name() string { return p.name }

// PID returns the process id. After Done it may belong to somebody else.
func (p *Process) PID() int { return p.pid }

// Stdin returns the child's standard input. It is closed when the child ends;
// closing wakes a blocked Write.
func (p *Process) Stdin() Stdin { return p.stdin }

// Stdout is the reading end of a child's standard output.
type Stdout interface {
	io.Reader
	// SetReadDeadline bounds reads, as of [os.File], until the child has ended.
	// On Windows it fails with [os.ErrNoDeadline].
	SetReadDeadline(time.Time) error
}

// Stdout returns the child's standard output, for one reader. It ends with
// io.EOF when all writers have closed it, or when the child has ended and the
// pipe is empty and stayed silent for 200 ms. What was written before the end is read
// first, unless Stop is called and nobody reads for 200 ms.
func (p *Process) Stdout() Stdout { return p.stdout }

// FirstOutput is closed when the reader of Stdout has got its first byte.
func (p *Process) FirstOutput() <-chan struct{} { return p.stdout.first }

// Done is closed when the child has ended and is reaped, its leftovers are
// killed, and its standard error is read to the end.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the child ended, and false while it runs. On Linux it is
// known from that moment on, elsewhere from Done on; Leftovers are counted, and
// the tail of standard error is complete, only then.
func (p *Process) Exit() (Exit, bool) {
	select {
	case <-p.done:
		return p.exit, true
	default:
	}
	select {
	case <-p.exited:
		if p.early != nil {
			return *p.early, true
		}
	default:
	}
	return Exit{}, false
}

// over reports whether nothing is left to do.
func (p *Process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// StderrTail returns the last n lines of standard error, oldest first, redacted
// and in valid UTF-8; n < 1 returns all that is kept. A line of more than 4 KiB
// is cut. A last line without its end is there once the child has ended, or
// when it has stood for 250 ms, as a prompt does.
func (p *Process) StderrTail(n int) []string { return p.tail.last(n) }

// Stop ends the child: it closes stdin and waits for EOFGrace, sends TERM to
// the group and waits for TermGrace, then sends KILL. It goes on as soon as the
// child has ended. What is left of its family then gets TERM and TermGrace too,
// and KILL. Stdout is closed when its reader has come to the end or does nothing
// for 200 ms. When ctx ends, all is killed at once.
//
// Stop may be called at any time and from many goroutines, but not from Stdout's
// reader; one ladder is climbed, and every call returns the one Exit. Only a
// child that KILL does not end within 5 s makes it return early, with Exit.Stuck.
func (p *Process) Stop(ctx context.Context) Exit {
	if p.stopping.CompareAndSwap(false, true) {
		go p.climb()
	}
	select {
	case <-p.climbed:
	case <-ctx.Done():
		p.Kill()
		<-p.climbed
	}
	if !p.over() {
		return Exit{Code: -1, Stuck: true}
	}
	p.stdout.finish(ctx.Done())
	return p.exit
}

// climb is the ladder. It is climbed once, on its own goroutine, and ends when
// the process is done or stuck.
func (p *Process) climb() {
	defer close(p.climbed)
	if p.over() {
		return
	}
	begin := time.Now()
	p.noteKin()
	p.stdin.Close()
	step := "end of input"
	if !p.endsWithin(p.eofGrace) {
		p.noteKin()
		p.terminate()
		step = "TERM"
		if !p.endsWithin(p.termGrace) {
			p.Kill()
			step = "KILL"
		}
	}
	select {
	case <-p.done:
	case <-p.hurry:
	case <-time.After(drainTime + p.termGrace + purgeTime): // farewell, and what comes after
		p.Kill()
	}
	select {
	case <-p.done:
		p.log.Debug("child stopped", "by", step, "after", time.Since(begin))
	case <-time.After(stuckTime):
		p.log.Error("child survives KILL")
	}
}

// endsWithin waits for the end of the child.
func (p *Process) endsWithin(grace time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-p.hurry:
	case <-time.After(grace):
	}
	return false
}

// Kill sends KILL to the child and its group and returns at once. Done follows.
func (p *Process) Kill() {
	p.noteKin()
	p.hurried.Do(func() { close(p.hurry) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.family.kill()
	}
}

func (p *Process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.family.terminate()
	}
}

// noteKin remembers the descendants while their parents still show whose
// they are. One that has left the session and wiped its environment is known by
// nothing else once its parent is gone.
func (p *Process) noteKin() {
	kin := descendants(p.pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		for _, e := range kin {
			p.kin[e.pid] = e.start
		}
	}
}

// owns says whether a process is of this child's family. It is asked only while
// the child is not reaped, so that its pid cannot mean somebody else.
func (p *Process) owns(e entry) (owner string, ok bool) {
	p.mu.Lock()
	start, known := p.kin[e.pid]
	p.mu.Unlock()
	return p.name, e.pid != p.pid &&
		(e.sid == p.pid || e.pgid == p.pid || known && start == e.start || cookieOf(e.pid) == p.cookie)
}

// keep waits for the child and cleans up after it. It is the one goroutine that
// reaps the child.
func (p *Process) keep() {
	p.early = awaitExit(p.handle)
	close(p.exited)
	p.stdin.Close()
	p.stdout.drain()
	p.stderr.drain()

	family := func() []entry { return claim(p.launcher.parent.adopted(), p.owns) }
	if p.stopping.Load() {
		p.farewell(family)
	}
	ctx, cancel := context.WithTimeout(context.Background(), purgeTime)
	killed, left := purge(ctx, family)
	cancel()

	p.mu.Lock()
	p.family.kill() // where there is no table of processes to read, this is all
	p.family.close()
	state, err := p.handle.Wait() // does not wait: the child is a zombie
	p.reaped = true
	p.mu.Unlock()
	p.launcher.parent.reap()
	<-p.tail.done

	p.exit = Exit{Code: -1}
	if err == nil {
		p.exit = exitOf(state)
	}
	select {
	case <-p.hurry: // the group got KILL with the child and did not outlive it by itself
		killed = slices.DeleteFunc(killed, func(e entry) bool { return e.pgid == p.pid })
	default:
	}
	p.exit.Leftovers = len(killed)
	if len(killed) > 0 {
		p.log.Warn("killed what the child left behind", "killed", len(killed), "left", len(left))
	}
	if len(left) == 0 {
		p.launcher.erase(p)
	}
	p.launcher.forget(p)
	close(p.done)
}

// farewell lets the family of a child that was stopped end in peace. A wrapper
// such as npx may be gone while the server behind it still writes its data.
func (p *Process) farewell(family func() []entry) {
	if p.goneWithin(drainTime, family) {
		return
	}
	for _, e := range family() {
		e.signal(syscall.SIGTERM)
	}
	p.goneWithin(p.termGrace, family)
}

func (p *Process) goneWithin(grace time.Duration, family func() []entry) bool {
	limit := time.After(grace)
	for pause := time.Millisecond; len(family()) > 0; pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-limit:
			return false
		case <-p.hurry:
			return false
		}
	}
	return true
}

// An Exit says how a child ended.
type Exit struct {
	// Code is the exit code, -1 when the child did not exit by itself.
	Code int
	// Signal is the name of the signal that ended the child, such as "SIGSEGV".
	Signal string
	// Leftovers is how many descendants outlived the child and had to be killed.
	Leftovers int
	// Stuck: the child did not end, not even by KILL.
	Stuck bool
}

// String is "exit code 2", "killed by SIGSEGV" and the like.
func (e Exit) String() string {
	switch {
	case e.Stuck:
		return "hangs in the kernel, KILL has no effect"
	case e.Signal != "":
		return "killed by " + e.Signal
	case e.Code < 0:
		return "ended in an unknown way"
	}
	return fmt.Sprintf("exit code %d", e.Code)
}
