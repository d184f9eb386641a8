package mcp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// One timer serves all requests of a session. It is armed for a deadline and
// left alone when that request ends or makes progress: when it fires it looks
// who is due, and is armed again for the next. So a call costs no timer, and a
// flood of progress costs a comparison each.

// alarm arms the timer if due comes before what it is armed for. The caller
// holds mu.
func (s *Session) alarm(due, now time.Duration) {
	if s.alarmAt != 0 && s.alarmAt <= due {
		return
	}
	s.alarmAt = due
	if s.timer == nil {
		s.timer = time.AfterFunc(due-now, s.expire)
		return
	}
	s.timer.Reset(due - now)
}

// expire ends the requests that are due and arms the timer for the rest.
func (s *Session) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return
	}
	now := time.Since(s.start)
	next := time.Duration(0)
	for id, p := range s.pending {
		switch {
		case p.due <= now && p.due == p.hard:
			delete(s.pending, id)
			p.finish(Timeout, noAnswerWithin(now-p.began))
		case p.due <= now:
			delete(s.pending, id)
			p.finish(Timeout, noAnswerWithin(p.soft))
		case next == 0 || p.due < next:
			next = p.due
		}
	}
	s.alarmAt = 0
	if next != 0 {
		s.alarm(next, now)
	}
}

// A bounded context is a context with a deadline that costs nothing until
// somebody waits for it. It is used for one Send.
type bounded struct {
	context.Context
	due   time.Time
	begun *atomic.Bool // set when the turn has come; nil: nobody asks

	mu sync.Mutex
	// mu guards the fields below.
	real context.Context // made by the first Done
	stop context.CancelFunc
}

// began notes that a Send with this context has got its turn, so that the peer
// may have the message soon, even before Send returns.
func began(ctx context.Context) {
	if c, ok := ctx.(*bounded); ok && c.begun != nil {
		c.begun.Store(true)
	}
}

// Deadline returns the earlier of its own and its parent's.
func (c *bounded) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.due) {
		return d, true
	}
	return c.due, true
}

// Done returns a channel that closes at the deadline or with the parent.
func (c *bounded) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		c.real, c.stop = context.WithDeadline(c.Context, c.due)
	}
	return c.real.Done()
}

// Err returns why Done is closed, if it is, or would be.
func (c *bounded) Err() error {
	c.mu.Lock()
	real := c.real
	c.mu.Unlock()
	if real != nil {
		return real.Err()
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(c.due) {
		return context.DeadlineExceeded
	}
	return nil
}

// end releases what Done made.
func (c *bounded) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}
