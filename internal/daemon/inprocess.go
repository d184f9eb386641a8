package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/console"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
)

// A consoleDialer serves the console in this process, over pipes in memory, and
// leaves every other app to the next dialer.
type consoleDialer struct {
	next    host.Dialer
	console *console.Console // nil: there is none
	log     *slog.Logger     // what the console writes on stderr
}

// Dial implements [host.Dialer].
func (d consoleDialer) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	if app.Key != console.Key || app.Package != console.Package {
		return d.next.Dial(ctx, app)
	}
	if d.console == nil { // the brain was switched on since
		return nil, &host.Refusal{Reason: "The console comes with the brain, which starts with Aurora: restart it."}
	}
	stdin, toIt := net.Pipe()
	fromIt, stdout := net.Pipe()
	run, cancel := context.WithCancel(context.Background())
	p := &inProcess{stdin: toIt, stdout: fromIt, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		err := d.console.Serve(run, appkit.Process{
			Stdin: stdin, Stdout: stdout, Environ: app.MCP.Env,
			Stderr: &stderrLines{log: d.log.With("app", app.Key)},
		})
		if err != nil {
			p.fail()
			d.log.Error("The console has failed.", "app", app.Key, "err", err)
		}
		stdin.Close()
		stdout.Close()
	}()
	return &host.Link{Transport: mcp.NewStdio(fromIt, toIt, mcp.StdioOptions{}), Process: p}, nil
}

// An inProcess is an app that runs in this process.
type inProcess struct {
	stdin, stdout net.Conn // our ends
	cancel        context.CancelFunc
	done          chan struct{} // closed when it has ended

	mu     sync.Mutex // guards failed
	failed bool
}

func (p *inProcess) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

// PID implements [host.Process]: it has no process of its own.
func (p *inProcess) PID() int { return 0 }

// Done implements [host.Process].
func (p *inProcess) Done() <-chan struct{} { return p.done }

// Exit implements [host.Process].
func (p *inProcess) Exit() (proc.Exit, bool) {
	select {
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.failed {
			return proc.Exit{Code: 1}, true
		}
		return proc.Exit{}, true
	default:
		return proc.Exit{}, false
	}
}

// StderrTail implements [host.Process]. What it says is in the log.
func (p *inProcess) StderrTail(int) []string { return nil }

// Stop implements [host.Process].
func (p *inProcess) Stop(ctx context.Context) proc.Exit {
	p.stdin.Close() // the end of input, at which it ends
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	p.cancel()
	p.stdout.Close()
	<-p.done
	exit, _ := p.Exit()
	return exit
}

// stderrLines logs what is written to it, line by line.
type stderrLines struct {
	log  *slog.Logger
	mu   sync.Mutex // guards rest
	rest []byte
}

func (w *stderrLines) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, b...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		w.log.Debug("stderr", "line", string(line))
		w.rest = rest
	}
}
