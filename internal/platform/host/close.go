package host

import (
	"context"
	"time"
)

// Close ends everything in this order: new requests are refused with
// SHUTTING_DOWN; those in flight may go on for the drain time; the rest is
// cancelled upstream; sessions are closed and processes stopped, all apps at
// once; the health file is written as clean. It returns when nothing is left.
//
// When ctx ends, what is left is done in a hurry: calls are cut off and
// processes killed. Close then returns the cause of ctx. Later calls wait for
// the first one and return its error.
func (h *Host) Close(ctx context.Context) error {
	h.closeOnce.Do(func() { h.closeErr = h.close(ctx) })
	return h.closeErr
}

func (h *Host) close(ctx context.Context) error {
	h.startOnce.Do(func() {}) // a host that was never started never starts
	h.closing.Store(true)
	close(h.refusing)
	stopHurry := context.AfterFunc(ctx, h.rush)
	defer stopHurry()
	defer h.rush()
	if h.opt.DrainTime > 0 {
		t := time.NewTimer(h.opt.DrainTime)
		h.awaitDrained(ctx, t.C)
		t.Stop()
	}
	h.reload.Lock()
	h.ended = true
	close(h.quit)
	h.reload.Unlock()
	h.supervisors.Wait()
	// Sessions are gone, so calls are about to return.
	t := time.NewTimer(time.Second)
	defer t.Stop()
	h.awaitDrained(ctx, t.C)
	if h.health != nil && h.started.Load() {
		h.health.close()
	}
	return context.Cause(ctx)
}

// awaitDrained waits until no request is inside the host.
func (h *Host) awaitDrained(ctx context.Context, limit <-chan time.Time) {
	for h.inflight.Load() > 0 {
		select {
		case <-h.drained:
		case <-limit:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Closing reports whether Close was called.
func (h *Host) Closing() bool { return h.closing.Load() }
