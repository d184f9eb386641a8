package bridge

import (
	"bytes"
	"context"
	"sync"

	"github.com/aurorabot/aurora/internal/platform/host"
)

// held is a signal that may be kept after Observe has returned.
type held struct {
	host.Signal
	// omitted is the size of a result too large for an event, which is not kept.
	omitted int
}

func hold(s host.Signal) held {
	h := held{Signal: s}
	h.Params = bytes.Clone(s.Params)
	if s.Result != nil && len(s.Result.Raw) > maxResult {
		short := *s.Result
		h.omitted, short.Raw = len(short.Raw), nil
		h.Result = &short
	}
	return h
}

// weight is about what a signal costs in memory.
func (h *held) weight() int {
	n := 512 + len(h.Params) + len(h.Reason)
	if h.Result != nil {
		n += len(h.Result.Raw)
	}
	return n
}

// batchSize bounds how many events share one sync of a folder.
const batchSize = 64

// A queue holds signals between the goroutines where they arise and the one that
// converts them. It is bounded by number and by bytes.
type queue struct {
	maxSignals, maxBytes int
	wake                 chan struct{} // cap 1: something waits

	mu      sync.Mutex // guards what follows; never held over I/O
	waiting []held
	bytes   int
	dropped int64 // since lost was last asked
}

func newQueue(signals, size int) *queue {
	return &queue{maxSignals: signals, maxBytes: size, wake: make(chan struct{}, 1)}
}

// push takes in a signal, or reports that there is no room.
func (q *queue) push(h held) bool {
	size := h.weight()
	q.mu.Lock()
	ok := len(q.waiting) < q.maxSignals && (len(q.waiting) == 0 || q.bytes+size <= q.maxBytes)
	if ok {
		q.waiting = append(q.waiting, h)
		q.bytes += size
	} else {
		q.dropped++
	}
	q.mu.Unlock()
	if ok {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return ok
}

// take waits for signals and returns a batch of them. Once ctx has ended and
// nothing is left, open is false.
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

func (q *queue) grab() []held {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(batchSize, len(q.waiting))
	batch := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	for i := range batch {
		q.bytes -= batch[i].weight()
	}
	return batch
}

// lost returns how many signals were dropped since it last said so, once the
// rush is over: one event stands for all of them.
func (q *queue) lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		return 0
	}
	n := q.dropped
	q.dropped = 0
	return n
}

// depth returns how many signals wait.
func (q *queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
