package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/short"
)

// A Process is the local process behind a session. [*proc.Process] is one.
type Process interface {
	PID() int
	// Done is closed when the process has ended.
	Done() <-chan struct{}
	// Exit says how it ended; false while it runs.
	Exit() (proc.Exit, bool)
	// StderrTail returns the last n lines of stderr, redacted.
	StderrTail(n int) []string
	// Stop ends it and everything it started, and returns when that is done.
	// It may be called more than once. When ctx ends it stops being polite.
	Stop(ctx context.Context) proc.Exit
}

// A Link is a way to a peer that has just been opened.
type Link struct {
	Transport mcp.Transport
	// Process is nil for a remote app.
	Process Process
	// FirstByte is closed when the peer has said anything at all. A start
	// gives its slot to the next one then. Nil: not known.
	FirstByte <-chan struct{}
	// LastNoise, if set, returns the last line on stdout that was no message,
	// redacted; empty if there was none.
	LastNoise func() string
	// Renewed is sent to when the peer may have said something that did not
	// arrive, or has begun a new session of its own, so that lists and
	// subscriptions are to be looked after. Nil: never.
	Renewed <-chan struct{}
	// Doubted is sent to when the peer may be gone without anybody having asked
	// it for anything. Nil: never.
	Doubted <-chan struct{}
}

// A Dialer opens a link to an app. It is called by the app's own goroutines,
// for several apps at once. It must return soon after ctx ends.
// An error that is a [*Refusal] is final; after any other the host tries again.
type Dialer interface {
	Dial(ctx context.Context, app *config.App) (*Link, error)
}

// A Refusal is a reason not to try again before the configuration changes or
// somebody asks: a command that does not exist, a server that wants a sign-in.
type Refusal struct {
	// State is Unavailable or AuthRequired; empty means Unavailable.
	State State
	// Reason is a full sentence that says what happened and what to do.
	Reason string
	Err    error
}

func (r *Refusal) Error() string { return r.Reason }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// processDone returns a channel that is closed when the app's process has
// ended; it is nil for a remote app.
func (l *Link) processDone() <-chan struct{} {
	if l.Process == nil {
		return nil
	}
	return l.Process.Done()
}

// wait returns when nothing of a transport runs any more that was closed, if it
// can tell: it may have last words for its peer, for which it takes its time.
func (l *Link) wait() {
	if t, ok := l.Transport.(interface{ Wait() }); ok {
		t.Wait()
	}
}

// noise returns how many lines of this link were no messages.
func (l *Link) noise() int64 {
	if n, ok := l.Transport.(interface{ Noise() int64 }); ok {
		return n.Noise()
	}
	return 0
}

// stderr returns the last lines that the process wrote there, redacted; nil if
// there is no process, or no link at all.
func (l *Link) stderr() []string {
	if l == nil || l.Process == nil {
		return nil
	}
	return l.Process.StderrTail(stderrLines)
}

// exit returns how the process ended, for which it waits at most so long; nil
// if it runs on or there is none.
func (l *Link) exit(wait time.Duration) *Exit {
	if l.Process == nil {
		return nil
	}
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-l.Process.Done():
		case <-t.C:
		}
	}
	if e, ok := l.Process.Exit(); ok {
		return exitOf(e)
	}
	return nil
}

// A StdioDialer starts local apps as child processes. It does not speak with
// remote ones and refuses them.
type StdioDialer struct {
	Launcher *proc.Launcher
	// Logger gets the apps' stderr at DEBUG and what they print on stdout that
	// is no message, the first lines of each start at WARN. Default: none.
	Logger *slog.Logger
	// Redact masks secrets in noise lines. Nil masks what looks like one.
	Redact *redact.Redactor
}

// noiseLogged is how many noise lines of one start are logged above DEBUG.
const noiseLogged = 5

// noiseShown is how many bytes of a noise line are logged.
const noiseShown = 200

// Dial starts the app's process and returns its pipes.
func (d *StdioDialer) Dial(ctx context.Context, app *config.App) (*Link, error) {
	if app.MCP.Transport != config.Stdio {
		return nil, &Refusal{Reason: fmt.Sprintf("It is a remote app (%s), and only local ones can be started here.", app.MCP.Transport)}
	}
	log := d.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("app", app.Key)
	p, err := d.Launcher.Start(ctx, proc.Spec{
		Name:     app.Key,
		Argv:     app.MCP.Command,
		Dir:      app.MCP.Dir,
		Env:      app.MCP.Env,
		OnStderr: func(line string) { log.Debug("stderr", "line", line) },
	})
	var start *proc.StartError
	switch {
	case errors.As(err, &start) && start.Permanent():
		return nil, &Refusal{Reason: "It could not be started: " + start.Error() + "." + restartHint(app.Key), Err: err}
	case err != nil:
		return nil, err
	}
	var noise atomic.Int64
	var last atomic.Pointer[string]
	t := mcp.NewStdio(p.Stdout(), p.Stdin(), mcp.StdioOptions{
		OnNoise: func(line []byte) {
			text := string(line)
			last.Store(&text)
			level := slog.LevelWarn
			if noise.Add(1) > noiseLogged {
				level = slog.LevelDebug
			}
			if log.Enabled(ctx, level) {
				log.Log(ctx, level, "App printed a line on stdout that is no message.", "line", short.Bytes(d.Redact.String(text), noiseShown))
			}
		},
	})
	lastNoise := func() string {
		if line := last.Load(); line != nil {
			return d.Redact.String(*line)
		}
		return ""
	}
	return &Link{Transport: t, Process: p, FirstByte: p.FirstOutput(), LastNoise: lastNoise}, nil
}

var _ Process = (*proc.Process)(nil)
var _ Dialer = (*StdioDialer)(nil)
