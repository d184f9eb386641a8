package testkit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
)

// A Peer is a scripted server in memory. Its methods are safe for concurrent use.
type Peer struct {
	// Out is the server's stdout, In its stdin. In has a SetWriteDeadline
	// method. Both hold 64 KiB, like pipes between processes.
	Out io.ReadCloser
	In  io.WriteCloser

	number int // of its run; never changes
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	stdin  *pipeReader
	stdout *pipeWriter
	came   chan string // signals

	mu     sync.Mutex // guards the following
	code   int
	events []Event
	gates  map[string]chan struct{}
	stderr bytes.Buffer
}

// StartPeer runs the script in memory. The server is stopped when the test ends.
// Steps that need a process (fork, kill) are errors of the script.
func StartPeer(t testing.TB, script *Script) *Peer {
	t.Helper()
	return startPeer(t, script, 1)
}

// StartRun is [StartPeer] for the nth run of a script, from 1.
func StartRun(t testing.TB, script *Script, n int) *Peer {
	t.Helper()
	return startPeer(t, script, n)
}

// startPeer starts the nth run of a script.
func startPeer(t testing.TB, script *Script, n int) *Peer {
	t.Helper()
	p := &Peer{number: n, done: make(chan struct{}), came: make(chan string), gates: map[string]chan struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	outR, outW := newPipe()
	inR, inW := newPipe()
	p.Out, p.In, p.stdin, p.stdout = outR, inW, inR, outW
	p.record(Event{Kind: "start"})
	s := newServer(p.ctx, script, p, inR, outW, lockedWriter{&p.mu, &p.stderr})
	go func() {
		defer close(p.done)
		s.serve()
		s.wg.Wait()
	}()
	t.Cleanup(func() {
		p.end()
		<-p.done
	})
	return p
}

// MustParse returns the script in text; a mistake in it fails the test.
func MustParse(t testing.TB, text string) *Script {
	t.Helper()
	s, err := Parse("script", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Events returns what the server received and did so far.
func (p *Peer) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// Release opens a gate for `await release GATE`; it stays open.
func (p *Peer) Release(gate string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate(gate):
	default:
		close(p.gate(gate))
	}
}

// Signal runs the script's block for the signal (TERM, INT, HUP), or ends the
// server if it has none.
func (p *Peer) Signal(name string) {
	select {
	case p.came <- name:
	case <-p.ctx.Done():
	}
}

// Stderr returns what the server wrote there so far.
func (p *Peer) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// Done is closed when the server has ended.
func (p *Peer) Done() <-chan struct{} { return p.done }

// ExitCode returns the exit code once Done is closed.
func (p *Peer) ExitCode() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code
}

// gate returns the channel of a gate; mu is held.
func (p *Peer) gate(name string) chan struct{} {
	if p.gates[name] == nil {
		p.gates[name] = make(chan struct{})
	}
	return p.gates[name]
}

func (p *Peer) end() {
	p.cancel()
	_ = p.stdin.Close()
	_ = p.stdout.Close()
}

// The following make a Peer the ground of its server.

func (p *Peer) run() int                   { return p.number }
func (p *Peer) pid() int                   { return 0 }
func (p *Peer) argv() []string             { return []string{} }
func (p *Peer) cwd() string                { return "" }
func (p *Peer) environ() map[string]string { return map[string]string{} }

func (p *Peer) record(e Event) {
	e.Run = p.run()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

func (p *Peer) released(ctx context.Context, name string) error {
	p.mu.Lock()
	gate := p.gate(name)
	p.mu.Unlock()
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errNoProcess = errors.New("this step needs a process, and the server runs in memory")

func (p *Peer) fork(forkOptions) error { return errNoProcess }
func (p *Peer) kill(string) error      { return errNoProcess }
func (p *Peer) signals(names []string) <-chan string {
	return p.came
}

func (p *Peer) close(stream string) error {
	switch stream {
	case "stdin":
		return p.stdin.Close()
	case "stdout":
		return p.stdout.Close()
	}
	return nil
}

func (p *Peer) exit(code int) {
	p.mu.Lock()
	p.code = code
	p.events = append(p.events, exitEvent(code))
	p.mu.Unlock()
	p.end()
}

// A lockedWriter writes under a lock.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
