package mcp

import (
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
const flushTime = 500 * time.Millisecond

// A Session is one client session with one server. It is safe for concurrent
// use.
type Session struct {
	t      Transport
	leader leader    // t, if it is one
	web    exchanger // t, if it is one
	o      Options
	log    *slog.Logger
	info   Info // set before Connect returns
	start  time.Time
	pool   buffers
	free   sync.Pool // of *pending
	out    outbox

	handlers handlers

	mu sync.Mutex
	// mu guards the fields below.
	lastID  int64
	pending map[int64]*pending
	prompt  []byte        // what the server prints before an answer; nil: nothing
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
	s.web, _ = t.(exchanger)
	s.out.init(t, &s.count.unanswered)
	s.handlers.init(&s.out)
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
	s.handlers.wait()
	if t, ok := s.t.(interface{ Wait() }); ok {
		t.Wait()
	}
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
		if tell && p.sent.Load() { // what waits for its turn will not get it any more
			s.cancel(p, "the session closes")
		}
		p.finish(Closed, reason)
	}
	s.handlers.close()
	if tell {
		s.out.flush(flushTime)
	}
	s.out.close()
	err := s.t.Close()
	close(s.over)
	return err
}
