package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

const (
	// readOnTime is how long a stream is read on after its answer: for what the
	// server may add, and for its end, which frees the connection.
	readOnTime = time.Second

	resumeWait  = 250 * time.Millisecond // before the first attempt to resume
	resumeCap   = 5 * time.Second        // and at most before any, unless the server says
	resumeLeast = 10 * time.Millisecond  // whatever the server says
	resumeTries = 5                      // attempts in a row that may fail
)

// What is asked of a server of the stateless era, to learn that it is one.
const (
	methodDiscover  = "server/discover"
	discoverVersion = "2026-07-28"
)

// An exchange is one request over Streamable HTTP, from its POST to its answer.
// It belongs to the goroutine of the caller.
type exchange struct {
	t      *streamable
	method string
	id     int64
	msg    []byte
	// follow ends the exchange with its caller's context until the answer is
	// there; unfollow stops that.
	cancel   context.CancelCauseFunc
	unfollow func() bool
	// welcome, if set, gets the result of an initialize request and the id of
	// the session before anybody else knows of them.
	welcome func(result []byte, session string)
	// take gets all messages.
	take func(*Message)

	g        *generation // within which it was sent
	session  string      // Mcp-Session-Id of the answer
	again    bool        // it is sent a second time
	answered bool
	handedOn bool   // another goroutine reads on and ends it
	nameless []byte // an error without an id, which may be the answer
	refusal  []byte // the answer, if it may say that the session is gone
	stray    []byte // the id of an answer to something else; "null" for none
	tooLarge error  // a message without an id that was too large
}

// exchange sends a request and returns when its answer has been delivered, or
// cannot come any more.
func (t *streamable) exchange(ctx context.Context, method string, id int64, msg []byte) error {
	if !t.begin() {
		return &NotDeliveredError{os.ErrClosed}
	}
	defer t.work.Done()
	select {
	case <-t.ready:
	case <-ctx.Done():
		return &NotDeliveredError{context.Cause(ctx)}
	}
	// The transport may still read the message when the request has failed.
	x := &exchange{t: t, method: method, id: id, msg: bytes.Clone(msg), take: t.hand}
	g := t.current()
	if method == methodInitialize {
		g = t.newGeneration(generation{number: g.number})
		defer g.cut()
		x.welcome = func(result []byte, session string) { t.begun(x.msg, result, session) }
	}
	return x.run(ctx, g)
}

// begun notes what an initialize request has brought (MCP 2025-11-25,
// basic/transports#session-management).
func (t *streamable) begun(hello, welcome []byte, session string) {
	t.advance(t.newGeneration(generation{
		number:  t.current().number + 1,
		id:      session,
		version: stringOf(object(welcome)["protocolVersion"]),
		hello:   hello,
		welcome: welcome,
	}))
}

// run makes the exchange within g, or the one after it.
func (x *exchange) run(ctx context.Context, g *generation) error {
	own, cancel := context.WithCancelCause(x.t.life)
	x.cancel = cancel
	x.unfollow = context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	err := x.post(own, g)
	var gone *goneError
	if errors.As(err, &gone) {
		if g, err = x.t.renew(own, g); err != nil {
			err = x.t.sorted(&NotDeliveredError{err})
		} else {
			x.again, x.refusal, x.nameless = true, nil, nil
			err = x.post(own, g)
		}
	}
	if !x.handedOn {
		x.unfollow()
		cancel(nil)
	}
	return err
}

// post sends the request, once there is a stream for what the server says
// meanwhile, and reads its answer.
func (x *exchange) post(ctx context.Context, g *generation) error {
	x.g = g
	if err := x.place(ctx); err != nil {
		return x.t.sorted(err)
	}
	h := g.ask
	if !repeatable(x.method) {
		h = g.post
	}
	if x.method == methodDiscover {
		h = h.Clone() // of the stateless era, which wants to be told so
		h.Set("Mcp-Protocol-Version", discoverVersion)
		h.Set("Mcp-Method", methodDiscover)
	}
	res, err := x.t.origin.do(ctx, http.MethodPost, h, x.msg)
	if err != nil {
		return x.t.sorted(err)
	}
	x.session = sessionID(res)
	switch {
	case res.StatusCode/100 != 2:
		err = x.refused(ctx, res)
	case isEventStream(res):
		err = x.stream(ctx, res)
	default:
		err = x.body(ctx, res)
	}
	return err
}

// sessionID returns the id that an answer gives; ids are visible ASCII.
func sessionID(res *http.Response) string {
	id := res.Header.Get("Mcp-Session-Id")
	for _, c := range []byte(id) {
		if c < 0x21 || c > 0x7e {
			return ""
		}
	}
	return id
}

// message takes a message of the answer.
func (x *exchange) message(m *Message) {
	switch n, _, ok := integer(m.ID); {
	case m.Method != nil:
	case ok && n == x.id:
		if _, perhaps := x.g.of(m.Error); perhaps && !x.again {
			x.refusal = bytes.Clone(m.Error)
			return
		}
		x.end()
		if m.Result != nil {
			x.g.proven.Store(true)
		}
		if x.welcome != nil && m.Result != nil {
			x.welcome(bytes.Clone(m.Result), x.session)
		}
	case m.ID == nil && m.Error != nil && !x.answered:
		x.nameless = bytes.Clone(m.Error)
		return
	case m.ID == nil && m.Err != nil:
		x.tooLarge = m.Err
	case m.Result != nil, m.Error != nil:
		if x.stray = bytes.Clone(m.ID); x.stray == nil {
			x.stray = []byte("null")
		}
	}
	x.take(m)
}

// end makes the exchange one that is answered: its caller, who is about to go,
// does not end it any more.
func (x *exchange) end() {
	x.answered = true
	x.unfollow()
}

// settle gives the request an answer that did not say whose it is, or that was
// kept back, now that no other comes. It fails if the answer is that the session
// is gone.
func (x *exchange) settle(ctx context.Context) (bool, error) {
	id := strconv.AppendInt(nil, x.id, 10)
	if x.refusal == nil && !x.answered && !x.again {
		if _, perhaps := x.g.of(x.nameless); perhaps {
			x.refusal = x.nameless
		}
	}
	switch {
	case x.answered:
	case x.refusal != nil:
		if sure, _ := x.g.of(x.refusal); sure || x.t.lost(ctx, x.g, nil) {
			return false, &goneError{parseRPCError(x.refusal)}
		}
		x.end()
		x.take(&Message{ID: id, Error: x.refusal})
	case x.nameless != nil:
		x.end()
		x.take(&Message{ID: id, Error: x.nameless})
	case x.tooLarge != nil:
		x.end()
		x.take(&Message{ID: id, Err: x.tooLarge})
	}
	return x.answered, nil
}

// refused reads an answer whose status says no.
func (x *exchange) refused(ctx context.Context, res *http.Response) error {
	e, body := newStatusError(res)
	if g := x.g; g.open && g.id != "" && !x.again {
		if forgotten(e, body) || g.proven.Load() && suspicious(e, body) && x.t.lost(ctx, g, e) {
			return &goneError{e}
		}
	}
	switch {
	case e.Credentials(), e.Code == http.StatusTooManyRequests, e.Code == http.StatusServiceUnavailable:
		return refusedBy(e) // it is about more than this request
	}
	x.t.split(body, func(m *Message) {
		if m.Error != nil && !x.answered { // whatever its id is
			x.nameless = bytes.Clone(m.Error)
		}
	})
	if ok, err := x.settle(ctx); ok || err != nil {
		return err
	}
	return refusedBy(e)
}

// body reads an answer that is one JSON text.
func (x *exchange) body(ctx context.Context, res *http.Response) error {
	defer res.Body.Close()
	t := x.t
	box, err := t.readAll(res)
	var large *TooLargeError
	var events *eventsError
	switch {
	case errors.As(err, &events):
		res.Body = beginning(events.begin, res.Body)
		return x.stream(ctx, res)
	case errors.As(err, &large):
		x.tooLarge = err
		_, err = x.settle(ctx)
		return err
	case ctx.Err() != nil:
		return x.t.sorted(context.Cause(ctx))
	case err != nil:
		return x.t.sorted(fmt.Errorf("the answer broke off: %w", err))
	}
	defer t.pool.put(box)
	if !t.split(*box, x.message) {
		t.noise.Add(1)
	}
	if ok, err := x.settle(ctx); ok || err != nil {
		return err
	}
	if len(bytes.TrimSpace(*box)) == 0 || res.StatusCode == http.StatusAccepted {
		if ok, err := x.elsewhere(ctx); ok || err != nil {
			return err
		}
	}
	if x.stray != nil {
		return &exchangeError{BadAnswer, true, fmt.Errorf("its id is %s, not %d, so it is the answer to something else", clip(x.stray, noiseShown), x.id)}
	}
	return &exchangeError{BadAnswer, true, contentError(res, *box)}
}

// elsewhere tells whether the answer may come on the stream that is opened by
// GET: some servers only take a request where it is posted. It waits until the
// server has said whether there is such a stream.
func (x *exchange) elsewhere(ctx context.Context) (bool, error) {
	if !x.g.open {
		return false, nil
	}
	select {
	case <-x.g.decided:
		return x.g.listening.Load(), nil
	case <-ctx.Done():
		return false, x.t.sorted(context.Cause(ctx))
	}
}

// An eventsError says that a body is a stream of events, whatever its type says,
// and how it begins.
type eventsError struct{ begin []byte }

func (*eventsError) Error() string { return "the answer is a stream of events" }

// beginning is a body of which the beginning has been read.
func beginning(begin []byte, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), rest), rest}
}

// readAll reads a body into a buffer of the pool. If it is a stream of events the
// error is an *eventsError.
func (w *web) readAll(res *http.Response) (*[]byte, error) {
	limit := w.o.MaxMessage
	if res.ContentLength > int64(limit) {
		return nil, &TooLargeError{Size: res.ContentLength, Max: int64(limit)}
	}
	box := w.pool.get(int(max(res.ContentLength, 0)) + 1)
	for {
		b := *box
		if len(b) == cap(b) {
			larger := w.pool.get(2 * cap(b))
			*larger = append(*larger, b...)
			w.pool.put(box)
			box, b = larger, *larger
		}
		n, err := res.Body.Read(b[len(b):cap(b)])
		*box = b[:len(b)+n]
		switch {
		case len(b) == 0 && isEvents(*box):
			err = &eventsError{bytes.Clone(*box)}
		case len(*box) > limit:
			err = &TooLargeError{Size: int64(len(*box)), Max: int64(limit)}
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			return box, nil
		}
		w.pool.put(box)
		return nil, err
	}
}

// stream reads an answer that is a stream of events, and resumes it where it
// breaks off before the answer.
func (x *exchange) stream(ctx context.Context, res *http.Response) error {
	t := x.t
	last, idle := "", 0
	ever, other := false, "" // there was an event; the last one that was no message
	for {
		events := t.events(res)
		if !ever && events.json() {
			res.Body = events.rest(res.Body)
			return x.body(ctx, res)
		}
		events.lastID, events.id = last, last
		any := false
		var err error
		for err == nil && !x.answered && x.refusal == nil {
			var ev event
			if ev, err = events.next(); err == nil {
				any, ever = true, true
				if !t.event(ev, x.message) {
					other = excerpt(append([]byte(ev.name+" "), ev.data...))
				}
			}
		}
		if x.answered {
			x.readOn(events, res)
			return nil
		}
		events.release()
		_ = res.Body.Close() // it has ended
		if ctx.Err() != nil {
			return x.t.sorted(context.Cause(ctx))
		}
		if ok, err := x.settle(ctx); ok || err != nil {
			return err
		}
		if events.lastID == "" {
			if !ever && errors.Is(err, io.EOF) {
				if ok, err := x.elsewhere(ctx); ok || err != nil {
					return err
				}
			}
			return x.t.sorted(endedWithout(err, other))
		}
		if idle++; any || events.lastID != last {
			idle = 0
		}
		last = events.lastID
		if res, err = t.resume(ctx, x.g, last, idle, events.retry); err != nil {
			return x.t.sorted(err)
		}
	}
}

// endedWithout is the end of a stream that brought no answer. other is what it
// brought last, if anything.
func endedWithout(err error, other string) error {
	text := "the stream of the answer ended without it"
	if other != "" {
		text += "; the last it said was: " + other
	}
	if errors.Is(err, io.EOF) {
		return errors.New(text) // a regular end
	}
	return fmt.Errorf("%s: %w", text, err)
}

// resume opens the stream again after an event (MCP 2025-11-25,
// basic/transports#resumability-and-redelivery). It waits as long as the server
// asks for, and the longer the more often nothing has come: idle times so far.
func (t *streamable) resume(ctx context.Context, g *generation, last string, idle int, retry time.Duration) (*http.Response, error) {
	asked := time.Duration(0) // by an error of the server
	for try := 1; ; try++ {
		wait := min(resumeWait<<min(idle+try-1, 10), resumeCap)
		switch {
		case retry >= 0 && idle+try == 1:
			wait = max(retry, resumeLeast)
		case retry >= 0:
			wait = max(retry, wait)
		}
		if !pause(ctx, max(wait, asked)) {
			return nil, context.Cause(ctx)
		}
		res, err := t.get(ctx, g, last)
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = res.Body.Close() // nobody wants it
			}
			return nil, context.Cause(ctx)
		case err == nil && res.StatusCode == http.StatusOK && isEventStream(res):
			return res, nil
		case err == nil:
			e, _ := newStatusError(res)
			err = e
			if e.Code/100 != 5 && e.Code != http.StatusTooManyRequests {
				try = resumeTries
			}
			asked = e.RetryAfter
		}
		if try == resumeTries {
			return nil, fmt.Errorf("the stream of the answer broke off and could not be resumed: %w", lostFor(err))
		}
	}
}

// lostFor takes from an error that a request was not delivered: it speaks of
// another request.
func lostFor(err error) error {
	var not *NotDeliveredError
	if errors.As(err, &not) {
		return not.Err
	}
	return err
}

// get asks for a stream of events.
func (t *streamable) get(ctx context.Context, g *generation, last string) (*http.Response, error) {
	return t.origin.do(ctx, http.MethodGet, t.headersOf(g,
		"Accept", "text/event-stream",
		"Accept-Encoding", "identity", // compression would hold events back
		"Last-Event-Id", last,
	), nil)
}

// pause waits; false: ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// readOn lets another goroutine read the rest of a stream whose answer is there.
func (x *exchange) readOn(events *eventReader, res *http.Response) {
	t := x.t
	leave := func() {
		events.release()
		_ = res.Body.Close() // what is left of it is not wanted
	}
	select {
	case t.draining <- struct{}{}:
	default:
		leave()
		return
	}
	x.handedOn = true
	read := func() {
		timer := time.AfterFunc(readOnTime, func() { x.cancel(nil) })
		for ev, err := events.next(); err == nil; ev, err = events.next() {
			t.event(ev, x.message)
		}
		timer.Stop()
		leave()
		x.cancel(nil)
		<-t.draining
	}
	if !t.spawn(read) {
		read()
	}
}
