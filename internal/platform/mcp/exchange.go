package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
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

	session  string // Mcp-Session-Id of the answer
	again    bool   // it is sent a second time
	answered bool
	handedOn bool   // another goroutine reads on and ends it
	nameless []byte // an error without an id, which may be the answer
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
			x.again = true
			err = x.post(own, g)
		}
	}
	if !x.handedOn {
		x.unfollow()
		cancel(nil)
	}
	return err
}

// A goneError says that the server does not know the session any more, so that
// it did nothing.
type goneError struct{ *StatusError }

// post sends the request and reads its answer.
func (x *exchange) post(ctx context.Context, g *generation) error {
	h := g.post
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
		return x.refused(res, g)
	case isEventStream(res):
		return x.stream(ctx, res, g)
	case res.StatusCode == http.StatusAccepted && g.listening.Load():
		finish(res)
		return nil // some servers answer on the other stream
	}
	return x.body(ctx, res)
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
		x.end()
		if x.welcome != nil && m.Result != nil {
			x.welcome(bytes.Clone(m.Result), x.session)
		}
	case m.ID == nil && m.Error != nil && !x.answered:
		x.nameless = bytes.Clone(m.Error)
		return
	case m.ID == nil && m.Err != nil:
		x.tooLarge = m.Err
	}
	x.take(m)
}

// end makes the exchange one that is answered: its caller, who is about to go,
// does not end it any more.
func (x *exchange) end() {
	x.answered = true
	x.unfollow()
}

// settle gives the request an answer that did not say whose it is, now that no
// other comes.
func (x *exchange) settle() bool {
	id := strconv.AppendInt(nil, x.id, 10)
	switch {
	case x.answered:
	case x.nameless != nil:
		x.end()
		x.take(&Message{ID: id, Error: x.nameless})
	case x.tooLarge != nil:
		x.end()
		x.take(&Message{ID: id, Err: x.tooLarge})
	}
	return x.answered
}

// refused reads an answer whose status says no.
func (x *exchange) refused(res *http.Response, g *generation) error {
	e, body := newStatusError(res)
	if g.open && g.id != "" && !x.again && forgotten(e, body) {
		return &goneError{e}
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
	if x.settle() {
		return nil
	}
	return refusedBy(e)
}

// forgotten tells whether the server refused a request because it does not know
// the session. That is 404 by the specification; others answer 401 to it, or
// another 4xx and say so. What was refused so was not done; where it was not the
// session, a new one changes nothing.
func forgotten(e *StatusError, body []byte) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusUnauthorized:
		return true
	case http.StatusTooManyRequests:
		return false
	}
	return e.Code/100 == 4 && ofSession.Match(body)
}

// ofSession knows the words in which servers say that they do not know a session.
var ofSession = regexp.MustCompile(`(?i)session[ -]?id|` +
	`\b(no|not|invalid|unknown|unrecognized|missing|expired)\b[^.]{0,20}\bsession\b|` +
	`\bsession\b[^.]{0,40}\b(not found|not exist|not known|unknown|invalid|expired|terminated)\b|` +
	`\bnot initialized\b`)

// body reads an answer that is one JSON text.
func (x *exchange) body(ctx context.Context, res *http.Response) error {
	defer res.Body.Close()
	t := x.t
	box, err := t.readAll(res)
	var large *TooLargeError
	switch {
	case errors.As(err, &large):
		x.tooLarge = err
		x.settle()
		return nil
	case ctx.Err() != nil:
		return x.t.sorted(context.Cause(ctx))
	case err != nil:
		return x.t.sorted(fmt.Errorf("the answer broke off: %w", err))
	}
	defer t.pool.put(box)
	if !t.split(*box, x.message) {
		t.noise.Add(1)
	}
	if x.settle() {
		return nil
	}
	return &exchangeError{BadAnswer, true, &ContentError{Type: excerpt([]byte(res.Header.Get("Content-Type"))), Body: excerpt(*box)}}
}

// readAll reads a body into a buffer of the pool.
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
func (x *exchange) stream(ctx context.Context, res *http.Response, g *generation) error {
	t := x.t
	last, idle := "", 0
	for {
		events := t.events(res)
		events.lastID, events.id = last, last
		any := false
		var err error
		for err == nil && !x.answered {
			var ev event
			if ev, err = events.next(); err == nil {
				any = true
				t.event(ev, x.message)
			}
		}
		if x.answered {
			x.readOn(events, res)
			return nil
		}
		events.release()
		_ = res.Body.Close() // it has ended
		switch {
		case ctx.Err() != nil:
			return x.t.sorted(context.Cause(ctx))
		case x.settle():
			return nil
		case events.lastID == "":
			return x.t.sorted(fmt.Errorf("the stream of the answer ended without it: %w", err))
		}
		if idle++; any || events.lastID != last {
			idle = 0
		}
		last = events.lastID
		if res, err = t.resume(ctx, g, last, idle, events.retry); err != nil {
			return x.t.sorted(err)
		}
	}
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
