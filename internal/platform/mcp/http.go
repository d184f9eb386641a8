package mcp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A streamable is the transport of MCP 2025-11-25,
// basic/transports#streamable-http. Each request is one exchange: a POST whose
// answer is JSON or a stream of events.
type streamable struct {
	web
	renewed  chan struct{} // capacity 1
	doubted  chan struct{} // capacity 1
	draining chan struct{} // holds a token for each stream that is read on

	sessions struct {
		sync.Mutex // guards the fields below
		current    *generation
		flight     *renewal // under way; nil: none
	}
}

// A generation is one session of the server. It never changes once it is
// current.
type generation struct {
	number  int
	id      string      // Mcp-Session-Id; empty: the server gave none
	version string      // of the protocol; empty before the handshake
	post    http.Header // of a call
	ask     http.Header // of any other message
	// open is set when notifications/initialized has been taken, which was at
	// since.
	open  bool
	since time.Time
	// hello is the initialize request, welcome its result.
	hello, welcome []byte
	// stream is the life of the stream that is opened by GET.
	stream context.Context
	cut    context.CancelFunc
	// listening tells whether there is such a stream; decided is closed when
	// the server has said so, the first time.
	listening *atomic.Bool
	decided   chan struct{}
	// proven is set when a request within it, other than initialize, had a
	// result: the session was good once.
	proven *atomic.Bool
}

// NewStreamableHTTP returns a transport to a remote server. It connects to
// nothing before the first message.
//
// A request is one POST on its caller's goroutine, bounded by its caller's
// limits; there is no limit of the transport on how long an answer may take. A
// POST that could not connect was surely not delivered. One whose answer breaks
// off is resumed with Last-Event-ID if the server numbers its events, and is
// lost if not.
//
// When the handshake is over a stream is opened by GET, if the server has one.
// Requests that may have the server speak on it wait for that, half a second at
// most. When it breaks it is opened again, after the time that the server asks
// for or after waits that grow; nothing else depends on it.
//
// When the server has forgotten the session, the transport begins another one,
// once for all requests that found out, and sends them again; they were surely
// not executed. Renewed tells of it. If the server is not what it was in the
// handshake, or will not begin a session, the transport ends.
//
// Close sends DELETE if there is a session, for two seconds at most; Run returns
// when that is over.
func NewStreamableHTTP(o HTTPOptions) (Transport, error) {
	t := &streamable{renewed: make(chan struct{}, 1), doubted: make(chan struct{}, 1), draining: make(chan struct{}, maxDraining)}
	if err := t.init(o); err != nil {
		return nil, err
	}
	t.sessions.current = t.newGeneration(generation{})
	return t, nil
}

// Renewed is sent to when messages of the server may have been missed: a new
// session has begun, or the stream was broken for a while. Lists may have
// changed, and subscriptions are gone after the former.
func (t *streamable) Renewed() <-chan struct{} { return t.renewed }

func (t *streamable) tellRenewed() { tell(t.renewed) }

// Doubted is sent to when the stream cannot be opened again because nobody takes
// connections: the server may be gone, which a ping would show.
func (t *streamable) Doubted() <-chan struct{} { return t.doubted }

// tell leaves word in a channel of capacity 1.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has been told
	}
}

// newGeneration completes g.
func (t *streamable) newGeneration(g generation) *generation {
	g.post = t.origin.with(
		"Content-Type", "application/json",
		"Accept", "application/json, text/event-stream",
		"Mcp-Session-Id", g.id,
		"Mcp-Protocol-Version", g.version,
	)
	g.ask = safe(g.post)
	g.stream, g.cut = context.WithCancel(t.life)
	g.listening, g.proven = &atomic.Bool{}, &atomic.Bool{}
	g.decided = make(chan struct{})
	return &g
}

func (t *streamable) current() *generation {
	t.sessions.Lock()
	defer t.sessions.Unlock()
	return t.sessions.current
}

// advance replaces the generation and ends what belongs to the old one only.
func (t *streamable) advance(g *generation) {
	t.sessions.Lock()
	old := t.sessions.current
	t.sessions.current = g
	t.sessions.Unlock()
	old.cut()
}

// Run delivers until the transport is closed or fails.
func (t *streamable) Run(deliver func(*Message)) error {
	t.deliver = deliver
	close(t.ready)
	<-t.life.Done()
	err := context.Cause(t.life)
	t.finish()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Send posts a notification or an answer.
func (t *streamable) Send(ctx context.Context, msg []byte) error {
	g := t.current()
	method := methodOf(msg)
	msg = bytes.Clone(msg)
	tell := func(ctx context.Context) error { return t.tell(ctx, t.origin.where(), g.ask, msg) }
	if method == "" || method == methodCancelled {
		return t.later(ctx, method, tell)
	}
	err := t.within(ctx, tell)
	if err == nil && method == methodInitialized {
		t.opened(g)
	}
	return err
}

// methodOf returns the method of a message that we made.
func methodOf(msg []byte) string {
	var s splitter
	s.scanner = scanner{b: msg}
	s.message()
	return string(s.m.Method)
}

// opened makes g the current generation, whose handshake is over, and listens
// to it.
func (t *streamable) opened(g *generation) *generation {
	open := *g
	open.open, open.since = true, time.Now()
	open.stream, open.cut = context.WithCancel(t.life)
	t.advance(&open)
	g.cut()
	t.spawn(func() { t.listen(&open) })
	return &open
}

// Close ends the session with the server and lets Run come to its end.
func (t *streamable) Close() error {
	t.close(os.ErrClosed, t.leave)
	return nil
}

// leave ends the session with DELETE (MCP 2025-11-25,
// basic/transports#session-management).
func (t *streamable) leave(ctx context.Context) {
	g := t.current()
	if g.id == "" || t.origin.down.Load() {
		return
	}
	res, err := t.origin.do(ctx, http.MethodDelete, t.headersOf(g), nil)
	if err != nil {
		t.log.Debug("The session could not be ended.", "err", err)
		return
	}
	finish(res) // 405 means that it ends by itself
}

// headersOf are those of a request without a body.
func (t *streamable) headersOf(g *generation, more ...string) http.Header {
	return t.origin.with(append([]string{"Mcp-Session-Id", g.id, "Mcp-Protocol-Version", g.version}, more...)...)
}
