package faults

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/testkit"
)

// Calls, cancellations, crashes, orders, changes of lists and of the
// configuration come in any order: each call ends exactly once and as what it
// was, none gets the answer of another, none is made twice, and nothing is left.
// A failure names its seed; AURORA_TEST_SEED plays it again.
func TestEveryCallEndsOnceWhateverHappensInMemory(t *testing.T) {
	n := 40
	if long {
		n = 2000
	}
	if testing.Short() {
		n = 5
	}
	for _, seed := range seeds(t, n) {
		ok := t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &memoryWorld{t: t, script: testkit.MustParse(t, restless), peers: map[string][]*memoryProcess{}}
				d := newWild(t, seed, w, time.Second, []string{"one", "two", "web"}, func(key string) *config.App {
					c := &config.App{}
					c.MCP.Transport = config.Stdio
					c.MCP.HealthTimeout = 10 * time.Second
					if key == "web" {
						c.MCP.Transport, c.MCP.URL = config.StreamableHTTP, w.serve(seed)
					}
					return c
				})
				d.live(300)
				d.calm()
				d.end()
			})
		})
		if !ok {
			return
		}
	}
}

// A memoryWorld runs servers in memory: app "web" behind HTTP, each of the
// others as what looks like a process.
type memoryWorld struct {
	t      *testing.T
	script *testkit.Script
	web    *webServer
	events bool // web answers by events
	remote host.RemoteDialer

	mu    sync.Mutex // guards peers
	peers map[string][]*memoryProcess
}

// serve makes the server behind HTTP. Servers differ in how they answer.
func (w *memoryWorld) serve(seed uint64) (url string) {
	w.web = &webServer{}
	how := "strict\nanswers json"
	if w.events = seed%2 == 0; w.events {
		how = "strict\nanswers sse\nnumbered\nretry 100ms"
	}
	w.web.HTTPServer = testkit.StartHTTP(w.t, w.web.connector(w.t, w.script), testkit.MustParseHTTP(w.t, how))
	w.remote.Connect = w.web.Dial
	return w.web.URL
}

func (w *memoryWorld) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	if app.MCP.Transport != config.Stdio {
		return w.remote.Dial(ctx, app)
	}
	p := &memoryProcess{TB: w.t}
	p.peer = testkit.StartPeer(p, w.script)
	w.t.Cleanup(p.kill)
	w.mu.Lock()
	w.peers[app.Key] = append(w.peers[app.Key], p)
	w.mu.Unlock()
	return &host.Link{Transport: mcp.NewStdio(p.peer.Out, p.peer.In, mcp.StdioOptions{}), Process: p}, nil
}

func (w *memoryWorld) all(key string) []*memoryProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peers[key]
}

// tells: the server that answers by events announces on the stream of any call,
// also of one that its caller has given up.
func (w *memoryWorld) tells(key string) bool { return key != "web" || !w.events }

func (w *memoryWorld) ordered(key string) bool { return key != "web" }

// kill of a server behind HTTP restarts it.
func (w *memoryWorld) kill(key string) {
	if key == "web" {
		w.web.Down()
		w.web.Up()
		return
	}
	if all := w.all(key); len(all) > 0 {
		all[len(all)-1].kill()
	}
}

func (w *memoryWorld) runs(key string) [][]testkit.Event {
	var runs [][]testkit.Event
	if key == "web" {
		w.web.mu.Lock()
		defer w.web.mu.Unlock()
		for _, p := range w.web.peers {
			runs = append(runs, p.Events())
		}
		return runs
	}
	for _, p := range w.all(key) {
		runs = append(runs, p.peer.Events())
	}
	return runs
}

// A memoryProcess is a server in memory that looks like a child process. It is
// the test of its server, so that it can be ended before the test.
type memoryProcess struct {
	testing.TB
	peer *testkit.Peer
	stop sync.Once

	mu   sync.Mutex // guards last
	last []func()
}

// Cleanup keeps what ends the server.
func (p *memoryProcess) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, f)
}

func (p *memoryProcess) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.last {
		f()
	}
	p.last = nil
}

func (p *memoryProcess) PID() int              { return 1 }
func (p *memoryProcess) Done() <-chan struct{} { return p.peer.Done() }

func (p *memoryProcess) Exit() (proc.Exit, bool) {
	select {
	case <-p.peer.Done():
		return proc.Exit{Code: p.peer.ExitCode()}, true
	default:
		return proc.Exit{}, false
	}
}

func (p *memoryProcess) StderrTail(n int) []string {
	text := strings.TrimSuffix(p.peer.Stderr(), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}

func (p *memoryProcess) Stop(ctx context.Context) proc.Exit {
	p.stop.Do(func() {
		var in io.Closer = p.peer.In
		_ = in.Close() // a pipe in memory
		select {
		case <-p.peer.Done():
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		p.kill()
		_ = p.peer.Out.Close()
	})
	<-p.peer.Done()
	e, _ := p.Exit()
	return e
}
