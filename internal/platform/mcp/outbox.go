package mcp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	outboxLen   = 256
	outboxBytes = 1 << 20
)

// An outbox sends what nobody may wait for: answers to the server's requests,
// which the reader gives, and cancellations. A goroutine drains it, which runs
// only while there is something in it. A server that does not read fills it;
// then messages are dropped and counted.
type outbox struct {
	t       Transport
	dropped *atomic.Int64
	life    context.Context // ends with the session
	stop    context.CancelFunc
	drains  sync.WaitGroup

	mu sync.Mutex
	// mu guards the fields below.
	queue  [][]byte
	size   int           // bytes in queue
	idle   chan struct{} // closed when the drain ends; nil while there is none
	closed bool
}

func (o *outbox) init(t Transport, dropped *atomic.Int64) {
	o.t, o.dropped = t, dropped
	o.life, o.stop = context.WithCancel(context.Background())
}

// post hands msg over and returns at once.
func (o *outbox) post(msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return // nobody is there to miss it
	}
	if len(o.queue) == outboxLen || len(o.queue) > 0 && o.size+len(msg) > outboxBytes {
		o.dropped.Add(1)
		return
	}
	o.queue = append(o.queue, msg)
	o.size += len(msg)
	if o.idle == nil {
		o.idle = make(chan struct{})
		o.drains.Go(o.drain)
	}
}

// drain sends until nothing is left.
func (o *outbox) drain() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			close(o.idle)
			o.idle, o.queue = nil, nil
			o.mu.Unlock()
			return
		}
		msg := o.queue[0]
		o.queue = o.queue[1:]
		o.size -= len(msg)
		o.mu.Unlock()
		if o.t.Send(o.life, msg) != nil && o.life.Err() == nil {
			o.dropped.Add(1)
		}
	}
}

// flush waits until everything posted has been sent, for d at most. It waits in
// slices: a pause of the whole machine takes one of them, not all of the time.
func (o *outbox) flush(d time.Duration) {
	o.mu.Lock()
	idle := o.idle
	o.mu.Unlock()
	if idle == nil {
		return
	}
	const slices = 5
	slice := time.NewTicker(d / slices)
	defer slice.Stop()
	for range slices {
		select {
		case <-idle:
			return
		case <-slice.C:
		}
	}
}

// close drops what is left and interrupts the drain.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.queue, o.size = nil, 0
	o.mu.Unlock()
	o.stop()
}

func (o *outbox) wait() { o.drains.Wait() }
