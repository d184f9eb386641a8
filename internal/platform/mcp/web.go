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

// event delivers the messages of an event of a stream; false: it is of another
// kind (HTML Living Standard, 9.2.6). Some servers name those with messages as
// they like, so that a message is one whatever its event is called.
func (w *web) event(ev event, deliver func(*Message)) bool {
	named := ev.name != "" && ev.name != "message"
	if named && !bytes.Contains(ev.data, []byte(`"jsonrpc"`)) {
		return false
	}
	if ev.long != nil {
		deliver(&Message{
			ID:  idOf(ev.long.head, ev.long.tail),
			Err: &TooLargeError{Size: ev.long.size, Max: int64(w.o.MaxMessage)},
		})
		return true
	}
	if w.split(ev.data, deliver) {
		return true
	}
	if !named {
		w.noise.Add(1)
		if w.o.OnNoise != nil {
			w.o.OnNoise(clip(ev.data, noiseOffered))
		}
	}
	return false
}

// events reads the stream of an answer.
func (w *web) events(res *http.Response) *eventReader {
	return newEventReader(res.Body, w.o.MaxMessage, &w.pool)
}

// tell posts a message that has no answer and waits until the server has it.
// Any status of success will do, and what comes with it is not looked at.
func (w *web) tell(ctx context.Context, to *url.URL, h http.Header, msg []byte) error {
	return w.tellAnd(ctx, to, h, msg, func(*http.Response) {})
}

// tellAnd is tell, and shows see what comes with success.
func (w *web) tellAnd(ctx context.Context, to *url.URL, h http.Header, msg []byte, see func(*http.Response)) error {
	res, err := w.origin.to(ctx, to, http.MethodPost, h, msg)
	if err != nil {
		return w.sorted(err)
	}
	if res.StatusCode/100 != 2 {
		e, _ := newStatusError(res)
		return refusedBy(e)
	}
	see(res)
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
	<-w.life.Done() // so that who finds a stream cut off knows why
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
