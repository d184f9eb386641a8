package mcp

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// Waking a goroutine costs more than anything else in a small call: with a
// reader that wakes the caller, a call over a pipe takes nearly twice as long
// as the same exchange on one goroutine. So while calls follow each other
// closely, the reader lends the right to read to the caller, who is about to
// wait anyway and finds its own answer. A call by itself, calls at the same
// time and everything that is not a plain answer stay with the reader.

const (
	// lendTime is how close calls must follow each other, and how long nobody
	// may read before the reader takes over again.
	lendTime = time.Millisecond
	// leadTime is how long a caller reads before it leaves that to the reader
	// and waits like any other; so a cancelled context is noticed that late.
	leadTime = 5 * time.Millisecond
)

// Who holds the baton.
const (
	withReader int32 = iota
	lent             // nobody reads; the next caller may take it
	withCaller
)

// A baton is the right to read: to use the lines and the splitter of a stdio
// transport. It begins with the reader.
type baton struct {
	limit    func(time.Time) error // SetReadDeadline; nil: never lent
	inflight func() int            // requests that wait for an answer

	holder atomic.Int32
	taken  atomic.Int64  // how often a caller took it
	wanted chan struct{} // capacity 1; tells the reader to take it back

	// The reader owns the fields below.
	patience *time.Timer
	answered time.Time // when the last answer was delivered

	// The holder owns the field below.
	armed time.Time // read deadline, zero for none
}

func (b *baton) init(r io.Reader) {
	b.wanted = make(chan struct{}, 1)
	if d, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Time{}) == nil {
		b.limit = d.SetReadDeadline
	}
}

// pair tells the transport how many requests wait, before Run.
func (t *stdio) pair(inflight func() int) { t.baton.inflight = inflight }

// offer lends the baton if that may pay, and returns when the reader has it
// again. The reader calls it after an answer, when it has nothing left to read.
func (b *baton) offer() {
	if b.limit == nil || b.inflight == nil || b.inflight() > 0 {
		return
	}
	now := time.Now()
	soon := now.Sub(b.answered) < lendTime
	b.answered = now
	if !soon {
		return
	}
	if b.patience == nil {
		b.patience = time.NewTimer(lendTime)
	}
	seen := b.taken.Load()
	b.holder.Store(lent)
	// From here on a new request takes the baton. One that came in between has
	// looked for it in vain and waits for the reader.
	for back := b.inflight() > 0; !back || !b.holder.CompareAndSwap(lent, withReader); {
		b.patience.Reset(lendTime)
		select {
		case <-b.wanted:
			back = true
		case <-b.patience.C:
			n := b.taken.Load()
			back, seen = n == seen, n
		}
	}
	b.patience.Stop()
	select {
	case <-b.wanted: // it has it
	default:
	}
	if !b.armed.IsZero() {
		b.arm(time.Time{})
	}
}

// lead lets a caller read until done holds its token, if the baton is free. It
// gives up, and leaves the rest to the reader, after leadTime or at due, and at
// the first line that is not an answer.
func (t *stdio) lead(done <-chan struct{}, due time.Time) {
	b := &t.baton
	if !b.holder.CompareAndSwap(lent, withCaller) {
		return
	}
	b.taken.Add(1)
	now := time.Now()
	stop := now.Add(leadTime)
	if due.Before(stop) {
		stop = due
	}
	if !b.armed.After(now) || b.armed.After(stop) {
		b.arm(stop)
	}
	for len(done) == 0 && t.readAnswer(stop) {
	}
	more := len(done) == 0 || t.lines.start < t.lines.end
	b.holder.Store(lent)
	if more || b.inflight() > 0 {
		b.recall()
	}
}

// recall makes the reader take the baton back as soon as it can.
func (b *baton) recall() {
	select {
	case b.wanted <- struct{}{}:
	default: // it has been told
	}
}

// readAnswer reads until the line it has is whole, and delivers it if it is an
// answer and nothing else. Otherwise it leaves the line where it is.
func (t *stdio) readAnswer(stop time.Time) bool {
	l, b := &t.lines, &t.baton
	for {
		if line, ok := l.find(); ok {
			if len(line) > l.max || !t.split.answer(line, t.deliver) {
				return false
			}
			l.drop(line)
			l.useless = 0
			return true
		}
		if l.end-l.start > l.max || l.err != nil {
			return false
		}
		l.fill()
		if errors.Is(l.err, os.ErrDeadlineExceeded) {
			l.err = nil
			if !time.Now().Before(stop) {
				return false
			}
			b.arm(stop) // it was the deadline of an earlier call
		}
	}
}

func (b *baton) arm(deadline time.Time) {
	b.armed = deadline
	b.limit(deadline)
}
