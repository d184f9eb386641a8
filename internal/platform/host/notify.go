package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// ErrSessionGone says that the session somebody asked for is over, or never
// came to be.
var ErrSessionGone = errors.New("the session is over")

// Notify sends a notification to the session of an app that has this epoch, and
// to no other: who answers a [Signal] wants to reach who sent it. params is any
// JSON, or empty for none.
//
// A notification that arrived before its session was ready may be answered at
// once: Notify waits for the end of the handshake. It runs on the caller's
// goroutine, holds no lock while it writes, and ends with ctx, so that an app
// which reads nothing holds up nobody but the caller. The error is
// [ErrSessionGone], APP_UNKNOWN, or that of the write.
func (h *Host) Notify(ctx context.Context, key string, epoch uint64, method string, params []byte) error {
	s, err := h.session(ctx, key, epoch)
	if err != nil {
		return err
	}
	return s.Notify(ctx, method, params)
}

// Experimental returns what the server of one session declared under this name
// in capabilities.experimental, token for token; nil if it declared nothing. It
// waits and fails as Notify does.
func (h *Host) Experimental(ctx context.Context, key string, epoch uint64, name string) (json.RawMessage, error) {
	s, err := h.session(ctx, key, epoch)
	if err != nil {
		return nil, err
	}
	return s.Info().Capabilities.Experimental[name], nil
}

// session returns the session of an app with this epoch.
func (h *Host) session(ctx context.Context, key string, epoch uint64) (*mcp.Session, error) {
	a := h.app(key)
	if a == nil {
		return nil, h.appUnknown(key)
	}
	s, err := a.wire.get(ctx, epoch)
	if err != nil {
		return nil, fmt.Errorf("app %q, session %d: %w", key, epoch, err)
	}
	return s, nil
}

// A wire leads to the session of an app, from the end of its handshake on, which
// is before it takes calls.
type wire struct {
	mu      sync.Mutex // guards what follows; never held during I/O
	epoch   uint64
	session *mcp.Session  // nil: not there yet, or not any more
	decided chan struct{} // closed when session is there, or never will be
}

// begin says that the session of an epoch is about to come.
func (w *wire) begin(epoch uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop()
	w.epoch, w.decided = epoch, make(chan struct{})
}

// connect brings the session of an epoch.
func (w *wire) connect(epoch uint64, s *mcp.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch == epoch && w.decided != nil {
		w.session = s
		close(w.decided)
		w.decided = nil
	}
}

// end says that the session of an epoch is over, or will not come.
func (w *wire) end(epoch uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch == epoch {
		w.drop()
	}
}

// drop lets go of the session. w.mu is held.
func (w *wire) drop() {
	w.session = nil
	if w.decided != nil {
		close(w.decided)
		w.decided = nil
	}
}

// get returns the session of an epoch and waits while it is on its way.
func (w *wire) get(ctx context.Context, epoch uint64) (*mcp.Session, error) {
	for {
		w.mu.Lock()
		current, s, decided := w.epoch, w.session, w.decided
		w.mu.Unlock()
		switch {
		case current != epoch:
			return nil, ErrSessionGone
		case s != nil:
			return s, nil
		case decided == nil:
			return nil, ErrSessionGone
		}
		select {
		case <-decided:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
