package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// flushTime bounds how long Close waits for its last messages to go out.
const flushTime = 100 * time.Millisecond

// A Session is one client session with one server. It is safe for concurrent
// use.
type Session struct {
	t      Transport
	leader leader // t, if it is one
	o      Options
	log    *slog.Logger
	info   Info // set before Connect returns
	start  time.Time
	pool   buffers
	free   sync.Pool // of *pending
	out    outbox
	guest  guest

	mu sync.Mutex
	// mu guards the fields below.
	lastID  int64
	pending map[int64]*pending
	reason  error         // why the session is over; nil while it lives
	timer   *time.Timer   // fires expire; nil before the first request
	alarmAt time.Duration // when the timer fires, since start; 0: not armed

	progressing sync.Mutex // held while a progress callback runs; before mu

	reader sync.WaitGroup
	over   chan struct{} // closed when the session is over and the transport closed
	count  counters
}

type counters struct {
	late, unknown, repaired, tooLarge, broken, notifications, refused, unanswered atomic.Int64
	echoed                                                                        atomic.Bool
}

// Stats count what a session has seen since it began.
type Stats struct {
	Noise         int64 // lines that were no message
	Late          int64 // answers to requests that had ended
	Unknown       int64 // answers to requests that never were, or without a usable id
	Repaired      int64 // bytes that were not UTF-8
	TooLarge      int64 // messages beyond the limit
	Broken        int64 // answers that broke off
	Notifications int64 // notifications, progress included
	Refused       int64 // requests of the server that were not granted or not known
	Unanswered    int64 // answers and cancellations lost because the server does not read
}

// Connect begins a session over t, which it owns from now on: it starts
// reading, performs the handshake (MCP 2025-11-25, basic/lifecycle) and returns
// a session that is ready for use. Without a deadline in ctx the handshake may
// take o.SoftTimeout. On an error, which is a *VersionError, a *RPCError or a
// *CallError inside, t is closed.
func Connect(ctx context.Context, t Transport, o Options) (*Session, error) {
	begin, err := eraOf(o.Protocol)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	s := newSession(t, o)
	s.reader.Go(s.read)
	info, err := begin(ctx, s)
	if err != nil {
		s.Close(err)
		return nil, err
	}
	s.info = info
	return s, nil
}

func newSession(t Transport, o Options) *Session {
	o.SoftTimeout = positive(o.SoftTimeout, DefaultSoftTimeout)
	o.HardTimeout = positive(o.HardTimeout, DefaultHardTimeout)
	o.ListTimeout = positive(o.ListTimeout, DefaultListTimeout)
	o.Client.Name = cmp.Or(o.Client.Name, "aurora")
	o.Client.Title = cmp.Or(o.Client.Title, "Aurora")
	o.Client.Version = cmp.Or(o.Client.Version, "dev")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		t:       t,
		o:       o,
		log:     o.Logger.With("app", o.Name),
		start:   time.Now(),
		pending: make(map[int64]*pending),
		over:    make(chan struct{}),
	}
	if l, ok := t.(leader); ok {
		s.leader = l
		l.pair(s.Inflight)
	}
	s.out.init(t, &s.count.unanswered)
	s.guest.init(&s.out, o.Grants)
	return s
}

// positive returns d, or the default when d is no length of time.
func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Info is what the handshake brought.
func (s *Session) Info() Info { return s.info }

// Inflight returns how many requests wait for an answer.
func (s *Session) Inflight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// Stats returns the counters.
func (s *Session) Stats() Stats {
	c := &s.count
	st := Stats{
		Late:          c.late.Load(),
		Unknown:       c.unknown.Load(),
		Repaired:      c.repaired.Load(),
		TooLarge:      c.tooLarge.Load(),
		Broken:        c.broken.Load(),
		Notifications: c.notifications.Load(),
		Refused:       c.refused.Load(),
		Unanswered:    c.unanswered.Load(),
	}
	if n, ok := s.t.(interface{ Noise() int64 }); ok {
		st.Noise = n.Noise()
	}
	return st
}

// Done is closed when the session is over: the server has ended it or Close
// was called, every request has its end, and the transport is closed.
func (s *Session) Done() <-chan struct{} { return s.over }

// Err returns why the session is over, nil while it is not.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// Close ends the session. Requests in flight end as Closed with reason, which
// may be nil, and the server is told of it with notifications/cancelled, for
// which Close waits 100 ms at most. Then the transport is closed. Closing again
// waits for the first Close and changes nothing.
//
// The reader may outlive Close, as a child may still be flushing; see Wait.
func (s *Session) Close(reason error) error {
	return s.end(cmp.Or(reason, ErrClosed), true)
}

// Wait returns when no goroutine of the session runs any more. For that the
// transport's source must have ended: call it after Close, and after the
// process is gone.
func (s *Session) Wait() {
	<-s.over
	s.reader.Wait()
	s.out.wait()
	s.guest.wait()
}

// read runs the transport until it ends.
func (s *Session) read() {
	err := s.t.Run(s.deliver)
	if err == nil {
		err = io.EOF
	}
	s.end(fmt.Errorf("the server ended the connection: %w", err), false)
}

// end makes the session be over, once.
func (s *Session) end(reason error, tell bool) error {
	s.mu.Lock()
	if s.reason != nil {
		s.mu.Unlock()
		<-s.over
		return nil
	}
	s.reason = reason
	left := s.pending
	s.pending = map[int64]*pending{}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()

	for _, p := range left {
		if tell {
			s.cancel(p, "the session closes")
		}
		p.finish(Closed, reason)
	}
	s.guest.close()
	if tell {
		s.out.flush(flushTime)
	}
	s.out.close()
	err := s.t.Close()
	close(s.over)
	return err
}

// deliver takes one message from the reader. It does not block.
func (s *Session) deliver(m *Message) {
	if m.Repaired > 0 {
		if s.count.repaired.Add(int64(m.Repaired)) == int64(m.Repaired) {
			s.log.Warn("bytes that are not UTF-8 became U+FFFD", "bytes", m.Repaired)
		}
	}
	if m.Err != nil {
		s.unusable(m)
		return
	}
	switch m.kind() {
	case response:
		s.answered(m)
	case request:
		s.asked(m)
	case notification:
		s.notified(m)
	}
}

// answered gives an answer to the request that waits for it.
func (s *Session) answered(m *Message) {
	id, p := s.match(m.ID)
	if p == nil {
		s.unmatched(id, m)
		return
	}
	switch {
	case m.Error != nil:
		p.finish("", parseRPCError(m.Error))
	case m.Result != nil:
		p.result = Result{Raw: bytes.Clone(m.Result), IsError: m.IsError}
		p.finish("", nil)
	default:
		p.finish(BadAnswer, errors.New("the answer has neither result nor error"))
	}
}

// match finds the request that an id belongs to.
func (s *Session) match(raw []byte) (int64, *pending) {
	id, exact, ok := integer(raw)
	if !ok {
		return 0, nil
	}
	if !exact && s.count.echoed.CompareAndSwap(false, true) {
		s.log.Warn("the server does not echo ids as they were sent; they are matched by their value",
			"sent", id, "echoed", string(raw))
	}
	return id, s.take(id)
}

// unmatched drops an answer that nobody waits for.
func (s *Session) unmatched(id int64, m *Message) {
	s.mu.Lock()
	known := 0 < id && id <= s.lastID
	s.mu.Unlock()
	switch {
	case known:
		s.count.late.Add(1)
		s.log.Debug("dropped an answer to a request that has ended", "id", id)
	case m.ID == nil && m.Error != nil:
		s.count.unknown.Add(1)
		e := parseRPCError(m.Error)
		s.log.Warn("the server sent an error without an id", "code", e.Code, "message", e.Message)
	default:
		s.count.unknown.Add(1)
		s.log.Debug("dropped an answer to no request of ours", "id", string(clip(m.ID, noiseShown)))
	}
}

// unusable ends the request of which only the id could be read.
func (s *Session) unusable(m *Message) {
	kind := BadAnswer
	var large *TooLargeError
	if errors.As(m.Err, &large) {
		kind = TooLarge
		s.count.tooLarge.Add(1)
	} else {
		s.count.broken.Add(1)
	}
	id, p := s.match(m.ID)
	s.log.Warn("a message could not be used", "id", id, "reason", m.Err)
	if p != nil {
		p.finish(kind, m.Err)
	}
}

// notified handles a notification.
func (s *Session) notified(m *Message) {
	s.count.notifications.Add(1)
	method := intern(m.Method)
	switch method {
	case methodProgress:
		s.progressed(m.Params)
		return
	case methodCancelled:
		s.guest.cancel(m.Params)
	}
	if s.o.OnNotification != nil && s.Err() == nil {
		s.o.OnNotification(method, m.Params)
	}
}

// The methods that the session itself knows.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodProgress    = "notifications/progress"
	methodCancelled   = "notifications/cancelled"
)

// intern returns method as a string, without a copy for the common ones.
func intern(method []byte) string {
	switch string(method) {
	case methodProgress:
		return methodProgress
	case methodCancelled:
		return methodCancelled
	case "notifications/message":
		return "notifications/message"
	case "notifications/resources/updated":
		return "notifications/resources/updated"
	case "aurora/event":
		return "aurora/event"
	}
	return string(method)
}
