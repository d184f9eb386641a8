package appkit

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
)

// A tap looks at the notifications on stdin that an emitter lives by: the end of
// the handshake, before which nothing may be sent, and acknowledgements, which
// the SDK does not know.
type tap struct {
	initialized  chan struct{}
	once         sync.Once
	acknowledged func(params []byte)
}

// take reports whether a notification is none of the SDK's business.
func (t *tap) take(method json.RawMessage, line []byte) bool {
	switch string(method) {
	case `"notifications/initialized"`:
		t.once.Do(func() { close(t.initialized) })
	case `"notifications/aurora/ack"`:
		var m struct{ Params json.RawMessage }
		_ = json.Unmarshal(line, &m) // it was parsed before
		t.acknowledged(m.Params)
		return true
	}
	return false
}

// follow serves an emitter on this session. The returned function ends that and
// waits for it.
func (t *tap) follow(ctx context.Context, e *Emitter, inputEnded <-chan struct{}, write func([]byte) error, logger *slog.Logger) (stop func()) {
	t.initialized = make(chan struct{})
	t.acknowledged = func(params []byte) { e.acknowledged(params, logger) }
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-t.initialized:
		case <-inputEnded:
			return
		case <-ctx.Done():
			return
		}
		// After the end of input no acknowledgement can come.
		wg.Go(func() {
			select {
			case <-inputEnded:
				cancel()
			case <-ctx.Done():
			}
		})
		e.run(ctx, write, logger)
	})
	return func() {
		cancel()
		wg.Wait()
	}
}
