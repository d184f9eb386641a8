package proc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// CookieVar is the environment variable that marks every child and, by
// inheritance, its descendants. Its value is "<run>.<number>": the run of the
// Launcher and the number of the child in it.
const CookieVar = "AURORA_RUN_ID"

// ErrClosed is what Start answers after Close.
var ErrClosed = errors.New("launcher is closed")

// Options configure a Launcher. The zero value is useful.
type Options struct {
	// Dir is the folder of the pid files, by which Sweep finds what a killed
	// run has left. It is made when missing. Empty: no files, nothing to sweep.
	Dir string
	// Logger hears of signals and leftovers. Nil: nothing is logged.
	Logger *slog.Logger
	// Redact masks secrets in a line of standard error. It must be safe for
	// concurrent use. Nil: lines are kept as they are.
	Redact func(string) string
}

// A Launcher starts child processes and ends what is left of them. A program
// has one. It is safe for concurrent use.
type Launcher struct {
	run    string
	boot   string
	self   identity
	dir    string
	log    *slog.Logger
	redact func(string) string
	parent *parent

	starting sync.WaitGroup // Starts under way; added to under mu while open
	ended    chan struct{}  // closed when Close has finished

	mu     sync.Mutex // guards the fields below, never held over I/O
	closed bool
	count  int
	procs  map[*Process]struct{}
}

// NewLauncher makes a Launcher. On Linux it makes this process a child
// subreaper, which it stays.
func NewLauncher(o Options) (*Launcher, error) {
	l := &Launcher{
		run:    rand.Text(),
		boot:   bootID(),
		self:   identityOf(os.Getpid()),
		dir:    o.Dir,
		log:    o.Logger,
		redact: o.Redact,
		ended:  make(chan struct{}),
		procs:  make(map[*Process]struct{}),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.redact == nil {
		l.redact = func(s string) string { return s }
	}
	if l.dir != "" {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the folder of pid files: %w", err)
		}
	}
	var err error
	if l.parent, err = newParent(); err != nil {
		return nil, err
	}
	return l, nil
}

// A Spec says what to start. Argv is all it needs.
type Spec struct {
	// Name is the app's, for logs and pid files.
	Name string
	// Argv is the command and its arguments, passed verbatim, without a shell.
	// The command is found by the rule of [LookPath].
	Argv []string
	// Dir is the working directory. Empty: this process's own.
	Dir string
	// Env is the complete environment, "KEY=value" each. Nothing is inherited;
	// [CookieVar] is added. Of two equal keys the first counts for finding
	// the command.
	Env []string
	// EOFGrace is how long Stop waits after closing stdin, TermGrace how long
	// after the TERM signal. Zero: 2 s and 3 s. Negative: not at all.
	EOFGrace, TermGrace time.Duration
	// StderrKeep is how many bytes of standard error are kept. Zero: 64 KiB.
	StderrKeep int
	// OnStderr, if set, gets each line of standard error, redacted, valid
	// UTF-8, without its line end. It runs on the goroutine that drains the
	// pipe: while it blocks, the child may block.
	OnStderr func(line string)
}

const (
	eofGrace   = 2 * time.Second
	termGrace  = 3 * time.Second
	stderrKeep = 64 << 10
)

// Start starts a child. The context bounds the start only, not the child's
// life. The error is a [*StartError] when the child could not be started, else
// ErrClosed or the context's own. After an error nothing is left open.
func (l *Launcher) Start(ctx context.Context, s Spec) (*Process, error) {
	cookie, err := l.begin()
	if err != nil {
		return nil, err
	}
	defer l.starting.Done()

	c, err := newCommand(s, cookie)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, c.failed(err)
	}
	defer pipes.closeChildEnds()
	handle, err := l.spawn(ctx, c, pipes.childEnds())
	if err != nil {
		pipes.closeParentEnds()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, c.failed(err)
	}
	family, err := newGroup(handle)
	if err != nil { // only on Windows: without a job the child cannot be ended well
		pipes.closeParentEnds()
		handle.Kill()
		handle.Wait()
		return nil, c.failed(err)
	}

	p := newProcess(l, s, cookie, handle, family, pipes)
	l.record(p)
	l.mu.Lock()
	l.procs[p] = struct{}{}
	l.mu.Unlock()
	go p.tail.drain(p.stderr, s.OnStderr)
	go p.keep()
	return p, nil
}

// begin enters a Start and names its child.
func (l *Launcher) begin() (cookie string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return "", ErrClosed
	}
	l.starting.Add(1)
	l.count++
	return l.run + "." + strconv.Itoa(l.count), nil
}

// spawn forks. A program file that is just being replaced, say by a package
// manager, is "busy" for a moment; so is a file we wrote ourselves while
// another fork held it open. That passes, so it is tried a few times.
func (l *Launcher) spawn(ctx context.Context, c *command, files []*os.File) (handle *os.Process, err error) {
	for pause := 5 * time.Millisecond; ; pause *= 2 {
		if doErr := l.parent.do(ctx, func() { handle, err = c.start(files) }); doErr != nil {
			return nil, doErr
		}
		if !errors.Is(err, syscall.ETXTBSY) || pause > 100*time.Millisecond {
			return handle, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// forget takes an ended process off the list.
func (l *Launcher) forget(p *Process) {
	l.mu.Lock()
	delete(l.procs, p)
	l.mu.Unlock()
}

// Close stops every process, all at once, each with its own graces, then kills
// every orphan of this run. It returns an error naming the processes that
// could not be killed. Every call returns when the first one has finished;
// later ones return nil. Start answers ErrClosed from the first moment.
//
// To close in a hurry, Kill the processes first.
func (l *Launcher) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		<-l.ended
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	defer close(l.ended)

	l.starting.Wait()
	l.mu.Lock()
	procs := make([]*Process, 0, len(l.procs))
	for p := range l.procs {
		procs = append(procs, p)
	}
	l.mu.Unlock()

	errs := make([]error, len(procs))
	var all sync.WaitGroup
	for i, p := range procs {
		all.Go(func() {
			if exit := p.Stop(context.Background()); exit.Stuck {
				errs[i] = fmt.Errorf("%s (pid %d): %s", p.name, p.pid, exit)
			}
		})
	}
	all.Wait()
	errs = append(errs, l.purgeOrphans())
	l.parent.close()
	return errors.Join(errs...)
}

// purgeOrphans kills what no single process could be charged with: orphans of
// this run that have wiped their environment and left their session. One that
// took other rights, as by sudo, or hangs in the kernel is left alone in the end.
func (l *Launcher) purgeOrphans() error {
	ctx, cancel := context.WithTimeout(context.Background(), purgeTime)
	defer cancel()
	killed, left := purge(ctx, func() []entry {
		return claim(l.parent.adopted(), func(e entry) (string, bool) {
			c := cookieOf(e.pid)
			return "", strings.HasPrefix(c, l.run+".") || c == "" && e.adopted
		})
	})
	l.parent.reap()
	if len(killed) > 0 {
		l.log.Warn("killed orphans of ended apps", "killed", len(killed), "left", len(left))
	}
	if len(left) > 0 {
		return fmt.Errorf("%s (pid %d), which an app has left behind, cannot be killed", left[0].comm, left[0].pid)
	}
	return nil
}
