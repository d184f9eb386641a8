package bridge

import (
	"bytes"
	"context"
	"sync"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// held is a signal that may be kept after Observe has returned.
type held struct {
	host.Signal
	// omitted is the size of a result, or of params, too large for an event,
	// which are not kept.
	omitted int
}

func hold(s host.Signal) held {
	h := held{Signal: s}
	if tooLarge(&s) {
		h.omitted, h.Params = len(s.Params), nil
	} else {
		h.Params = bytes.Clone(s.Params)
	}
	if s.Call != nil { // its arguments are not told
		h.Call = &call.Call{ID: s.Call.ID}
	}
	if r := s.Result; r != nil && (len(r.Raw) > maxResult || r.Err != nil && r.Err.Data != nil) {
		short := *r
		if len(r.Raw) > maxResult {
			h.omitted, short.Raw = len(r.Raw), nil
		}
		if r.Err != nil {
			said := *r.Err
			said.Data, short.Err = nil, &said
		}
		h.Result = &short
	}
	return h
}

// tooLarge tells params of which an event can only say how large they were. What
// an app means as an event of its own is kept, to be refused by its id.
func tooLarge(s *host.Signal) bool {
	return len(s.Params) > maxParams && !eventMethod(s.Method) && s.Method != methodMessage
}

// weight is about what a signal costs in memory while it waits.
func weight(s *host.Signal) int {
	n := 512 + len(s.Reason) + len(s.Server)
	if !tooLarge(s) {
		n += len(s.Params)
	}
	if s.Result != nil && len(s.Result.Raw) <= maxResult {
		n += len(s.Result.Raw)
	}
	if c := s.Change; c != nil {
		n += 64 * (len(c.Added) + len(c.Removed) + len(c.Changed))
	}
	return n
}

// How many events share one sync of a folder, and about how large they may be
// together, in bytes.
const (
	batchSize  = 64
	batchBytes = 4 << 20
)

// A queue holds signals between the goroutines where they arise and the one that
// converts them. It is bounded by number and by bytes. Apps take turns, and what
// an app sends by itself gets no more room than is left free: one that floods
// takes half of the queue, several share it, and others still find room.
type queue struct {
	maxSignals, maxBytes int
	wake                 chan struct{} // cap 1: something waits

	mu      sync.Mutex // guards what follows; never held over I/O
	lanes   map[string]*lane
	turns   []*lane          // lanes in which something waits, in turn
	total   int              // signals in all lanes
	bytes   int              // of all of them
	dropped map[string]int64 // since lost was last asked, by package
}

// A lane holds the signals of one app, in order.
type lane struct {
	pkg     string
	waiting []held
	room    int  // signals admitted that have not left, those being copied too
	bytes   int  // of them
	queued  bool // it stands in turns
}

func newQueue(signals, size int) *queue {
	return &queue{
		maxSignals: signals, maxBytes: size, wake: make(chan struct{}, 1),
		lanes: make(map[string]*lane), dropped: make(map[string]int64),
	}
}

// push takes in a signal, or reports that there is no room.
func (q *queue) push(s host.Signal) bool {
	size := weight(&s)
	l := q.admit(&s, size)
	if l == nil {
		return false
	}
	h := hold(s) // copied only once there is room, and outside the lock
	q.mu.Lock()
	l.waiting = append(l.waiting, h)
	if !l.queued {
		l.queued = true
		q.turns = append(q.turns, l)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// admit reserves room for a signal, or counts it as dropped.
func (q *queue) admit(s *host.Signal, size int) *lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	pkg := origin(s.App)
	l := q.lanes[pkg]
	if l == nil {
		l = &lane{pkg: pkg}
	}
	signals, bytes := q.total, q.bytes
	if s.Kind == host.SignalNotified {
		signals, bytes = signals+l.room, bytes+l.bytes
	}
	if signals >= q.maxSignals || q.bytes > 0 && bytes+size > q.maxBytes {
		q.dropped[pkg]++
		return nil
	}
	q.lanes[pkg] = l
	l.room++
	l.bytes += size
	q.total++
	q.bytes += size
	return l
}

// take waits for signals and returns a batch of them, which is the caller's. Once
// ctx has ended and nothing is left, open is false.
func (q *queue) take(ctx context.Context) (batch []held, open bool) {
	for {
		if batch = q.grab(); len(batch) > 0 {
			return batch, true
		}
		if ctx.Err() != nil {
			return nil, false
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

// grab takes signals from the lanes in turn.
func (q *queue) grab() []held {
	q.mu.Lock()
	defer q.mu.Unlock()
	var batch []held
	size := 0
	for len(q.turns) > 0 && len(batch) < batchSize && size < batchBytes {
		l := q.turns[0]
		q.turns = q.turns[1:]
		h := l.waiting[0]
		l.waiting[0] = held{} // what is gone is not kept for its neighbours' sake
		if l.waiting = l.waiting[1:]; len(l.waiting) > 0 {
			q.turns = append(q.turns, l)
		} else {
			l.queued, l.waiting = false, nil
		}
		w := weight(&h.Signal) // the same as when it came
		l.room--
		l.bytes -= w
		q.total--
		q.bytes -= w
		if l.room == 0 {
			delete(q.lanes, l.pkg)
		}
		batch, size = append(batch, h), size+w
	}
	return batch
}

// lost returns how many signals of whom were dropped since it last said so, once
// the rush is over: one event stands for all of them. nil: none.
func (q *queue) lost() map[string]int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turns) > 0 || len(q.dropped) == 0 {
		return nil
	}
	lost := q.dropped
	q.dropped = make(map[string]int64)
	return lost
}

// depth returns how many signals wait.
func (q *queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total
}
