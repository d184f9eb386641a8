package mcp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tellTime bounds the POST of a notification or an answer, for which the
	// server has nothing to do but say that it got it.
	tellTime = 10 * time.Second
	// farewellTime bounds what is said to a server after Close.
	farewellTime = 2 * time.Second
	maxTelling   = 16 // cancellations and answers that are posted at once
	maxDraining  = 16 // streams that are read on after their answer
)

// A web is what the two transports over HTTP have in common: the origin, the
// goroutines, and the way of messages to the session.
type web struct {
	o      HTTPOptions
	log    *slog.Logger
	origin *origin
	pool   buffers
	splits sync.Pool // of *splitter
	noise  atomic.Int64

	life context.Context // ends when the transport is closed or has failed
	end  context.CancelCauseFunc
	late context.Context // ends when everything must have been said
	hush context.CancelFunc

	ready   chan struct{} // closed when deliver is set
	deliver func(*Message)
	// delivering is held while deliver runs: messages come from many streams.
	delivering sync.Mutex

	mu sync.Mutex
	// mu guards the field below, so that nothing is added to work when it is
	// waited for.
	over bool
	work sync.WaitGroup

	telling chan struct{} // holds a token for each POST under way
	closing sync.Once
}

func (w *web) init(o HTTPOptions) error {
	if o.MaxMessage <= 0 {
		o.MaxMessage = defaultMaxMessage
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	w.origin, err = newOrigin(&o)
	w.o, w.log = o, o.Logger
	w.life, w.end = context.WithCancelCause(context.Background())
	w.late, w.hush = context.WithCancel(context.Background())
	w.ready = make(chan struct{})
	w.telling = make(chan struct{}, maxTelling)
	return err
}

// Noise returns how many events were no message.
func (w *web) Noise() int64 { return w.noise.Load() }

// begin counts somebody in who works for the transport; false: it is over.
func (w *web) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.work.Add(1)
	}
	return !w.over
}

// spawn runs f on a goroutine of the transport; false: it is over.
func (w *web) spawn(f func()) bool {
	if !w.begin() {
		return false
	}
	go func() {
		defer w.work.Done()
		f()
	}()
	return true
}

// finish waits until nothing of the transport runs any more.
func (w *web) finish() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.work.Wait()
	w.origin.http.CloseIdleConnections()
}

// Wait returns when nothing of the transport runs any more. Call it after Close.
func (w *web) Wait() {
	<-w.late.Done()
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.work.Wait()
}

// hand gives one message to the session, after the one before it.
func (w *web) hand(m *Message) {
	flatten(m.Params)
	flatten(m.Result)
	flatten(m.Error)
	w.delivering.Lock()
	defer w.delivering.Unlock()
	w.deliver(m)
}

// flatten puts JSON on one line, as it is on stdio: a line end in it can only be
// white space, since strings hold none.
func flatten(json []byte) {
	for _, end := range []byte("\n\r") {
		for rest := json; ; {
			k := bytes.IndexByte(rest, end)
			if k < 0 {
				break
			}
			rest[k] = ' '
			rest = rest[k+1:]
		}
	}
}

// split delivers the messages in a text; false: some of it is noise.
func (w *web) split(text []byte, deliver func(*Message)) bool {
	s, _ := w.splits.Get().(*splitter)
	if s == nil {
		s = &splitter{}
	}
	defer w.splits.Put(s)
	return s.split(bytes.TrimPrefix(text, byteOrderMark), deliver) == nil
}

// event delivers the messages of an event of a stream.
func (w *web) event(ev event, deliver func(*Message)) {
	if ev.name != "" && ev.name != "message" {
		return // of another kind (HTML Living Standard, 9.2.6)
	}
	if ev.long != nil {
		deliver(&Message{
			ID:  idOf(ev.long.head, ev.long.tail),
			Err: &TooLargeError{Size: ev.long.size, Max: int64(w.o.MaxMessage)},
		})
		return
	}
	if !w.split(ev.data, deliver) {
		w.noise.Add(1)
		if w.o.OnNoise != nil {
			w.o.OnNoise(clip(ev.data, noiseShown))
		}
	}
}

// events reads the stream of an answer.
func (w *web) events(res *http.Response) *eventReader {
	return newEventReader(res.Body, w.o.MaxMessage, &w.pool)
}

// tell posts a message that has no answer and waits until the server has it.
// Any status of success will do, and what comes with it is not looked at.
func (w *web) tell(ctx context.Context, to *url.URL, h http.Header, msg []byte) error {
	res, err := w.origin.to(ctx, to, http.MethodPost, h, msg)
	if err != nil {
		return w.sorted(err)
	}
	if res.StatusCode/100 != 2 {
		e, _ := newStatusError(res)
		return refusedBy(e)
	}
	finish(res)
	return nil
}

// within calls f with a context that ends with ctx, when the transport ends, and
// after tellTime.
func (w *web) within(ctx context.Context, f func(context.Context) error) error {
	if !w.begin() {
		return &NotDeliveredError{os.ErrClosed}
	}
	defer w.work.Done()
	ctx, stop := context.WithTimeoutCause(ctx, tellTime, errNotTaken)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(w.life, func() { end(context.Cause(w.life)) })()
	return f(ctx)
}

var errNotTaken = errors.New("the server did not say that it got the message")

// later calls f, which posts a message for which nobody waits, on a goroutine of
// its own: a slow server must not keep the next one waiting. It may go on for a
// moment after Close. An error goes to the log, since a server that loses such
// messages loses the others as well.
func (w *web) later(ctx context.Context, method string, f func(context.Context) error) error {
	select {
	case w.telling <- struct{}{}:
	case <-ctx.Done():
		return &NotDeliveredError{context.Cause(ctx)}
	}
	if w.spawn(func() {
		defer func() { <-w.telling }()
		ctx, stop := context.WithTimeoutCause(w.late, tellTime, errNotTaken)
		defer stop()
		if err := f(ctx); err != nil {
			w.log.Debug("A message could not be sent.", "method", method, "err", err)
		}
	}) {
		return nil
	}
	<-w.telling
	return &NotDeliveredError{os.ErrClosed}
}

// close ends the transport because of cause, once. bye, if set, is called when
// the last words are spoken; it has what is left of farewellTime.
func (w *web) close(cause error, bye func(context.Context)) {
	w.closing.Do(func() {
		w.spawn(func() { w.farewell(bye) })
		w.end(cause)
	})
}

func (w *web) farewell(bye func(context.Context)) {
	timer := time.AfterFunc(farewellTime, w.hush)
	defer timer.Stop()
	defer w.hush()
	for range maxTelling { // the POSTs that have begun come first
		select {
		case w.telling <- struct{}{}:
		case <-w.late.Done():
			return
		}
	}
	if bye != nil {
		bye(w.late)
	}
}

// sorted makes the error of a request one that says how it ends. When the
// transport has ended that is the reason.
func (w *web) sorted(err error) error {
	var not *NotDeliveredError
	undelivered := errors.As(err, &not)
	if w.life.Err() != nil {
		return &exchangeError{Closed, !undelivered, context.Cause(w.life)}
	}
	var redirect *RedirectError
	if errors.As(err, &redirect) {
		return &exchangeError{Refused, false, err}
	}
	if undelivered {
		return err
	}
	return &exchangeError{Lost, true, err}
}

// refusedBy is the end of a request that a status refused.
func refusedBy(e *StatusError) error { return &exchangeError{Refused, e.executed(), e} }

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
	id      string // Mcp-Session-Id; empty: the server gave none
	version string // of the protocol; empty before the handshake
	post    http.Header
	// open is set when notifications/initialized has been taken.
	open bool
	// hello is the initialize request, welcome its result.
	hello, welcome []byte
	// stream is the life of the stream that is opened by GET.
	stream context.Context
	cut    context.CancelFunc
	// listening tells whether there is such a stream.
	listening *atomic.Bool
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
// When it breaks it is opened again, after the time that the server asks for or
// after waits that grow; nothing else depends on it.
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
	g.stream, g.cut = context.WithCancel(t.life)
	g.listening = &atomic.Bool{}
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
	tell := func(ctx context.Context) error { return t.tell(ctx, t.origin.where(), g.post, msg) }
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
	open.open = true
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
