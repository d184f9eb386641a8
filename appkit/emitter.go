package appkit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// How many events may wait for their acknowledgement, and how large all of them
// may be, in bytes.
const (
	maxKept      = 1000
	maxKeptBytes = 16 << 20
)

// resendAfter is how long an acknowledgement may take before the event is sent
// again. Aurora knows an id it has seen, so one time too many does no harm.
const resendAfter = 30 * time.Second

// An Emitter tells Aurora what happened. An event it took is delivered exactly
// once: it lies in the app's data folder until Aurora has acknowledged that it
// is durable there, and goes out again after a restart of either side.
//
// A host that is not Aurora gets events as log messages (notifications/message
// with the logger "aurora/event"), once and without acknowledgement.
//
// All methods may be called from many goroutines. An Emitter belongs to one app
// and is served by one session at a time.
type Emitter struct {
	app    string
	native bool // the host is Aurora
	later  bool // and takes no events from this process
	box    outbox

	wake chan struct{} // cap 1: there is something to send

	order  sync.Mutex // held from the numbering of an event to its place in kept; guards what follows
	seq    uint64
	loaded bool // what an earlier run left is in kept

	mu    sync.Mutex // guards what follows; never held over I/O
	kept  []*pending // not acknowledged, in order
	bytes int
	ended chan struct{} // closed and replaced when a session ends
}

// pending is an event that waits for its acknowledgement.
type pending struct {
	keptEvent
	sent time.Time     // zero: not in this session
	done chan struct{} // closed by the acknowledgement
}

// NewEmitter makes the emitter of an app. It reads nothing yet. Put it into
// [App.Emitter].
func (p Process) NewEmitter(app string) *Emitter {
	env := p.Env()
	e := &Emitter{app: app, native: env.Package != "", later: env.EventsLater, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if env.DataDir != "" {
		e.box.dir = filepath.Join(env.DataDir, "outbox")
	}
	return e
}

// Post tells that something happened, and returns when it is durable in the
// app's data folder. Delivery goes on from there.
func (e *Emitter) Post(event Event) error {
	_, _, err := e.accept(&event)
	return err
}

// Emit tells that something happened, and returns when it is durable at Aurora.
// Events of one emitter are delivered in the order of the calls.
//
// When ctx or the session ends before that, or Aurora runs for one command only
// ([Env.EventsLater]), the error is [ErrKept]: the event goes out again later, and
// the caller has nothing more to do. A tool that need not know how it ends calls
// [Emitter.Post] instead, which never waits for Aurora. Any other error
// means that the event was not taken: it is not valid, too many wait
// ([ErrOutboxFull]), or it cannot be written to disk.
func (e *Emitter) Emit(ctx context.Context, event Event) error {
	p, ended, err := e.accept(&event)
	if err != nil || p == nil {
		return err
	}
	if e.later {
		return fmt.Errorf("event %s: %w", event.Type, ErrKept)
	}
	select {
	case <-p.done:
		return nil
	case <-ended:
	case <-ctx.Done():
	}
	select {
	case <-p.done: // both at once: the better news counts
		return nil
	default:
		return fmt.Errorf("event %s: %w", event.Type, ErrKept)
	}
}

// accept takes an event if it is one.
func (e *Emitter) accept(event *Event) (p *pending, ended <-chan struct{}, err error) {
	params, err := event.envelope(e.app)
	if err != nil {
		return nil, nil, err
	}
	return e.take(event.ID, params)
}

// take makes an event durable here and queues it. With a host that will not
// acknowledge there is nothing to wait for, and p is nil. Once ended is closed
// no acknowledgement can come for a while.
func (e *Emitter) take(id string, params []byte) (p *pending, ended <-chan struct{}, err error) {
	e.order.Lock()
	defer e.order.Unlock()
	if e.native {
		if err := e.load(slog.New(slog.DiscardHandler)); err != nil {
			return nil, nil, err
		}
	}
	if e.full(len(params)) {
		return nil, nil, ErrOutboxFull
	}
	if e.native {
		if err := e.box.put(e.seq+1, params); err != nil {
			return nil, nil, err
		}
	}
	e.seq++
	p = &pending{keptEvent: keptEvent{e.seq, id, params}, done: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = append(e.kept, p)
	e.bytes += len(params)
	e.stir()
	if !e.native {
		return nil, nil, nil
	}
	return p, e.ended, nil
}

// full reports whether size more bytes are too many. One event always has room.
func (e *Emitter) full(size int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.kept) >= maxKept || len(e.kept) > 0 && e.bytes+size > maxKeptBytes
}

// load takes in what an earlier run left, once. e.order is held.
func (e *Emitter) load(logger *slog.Logger) error {
	if e.loaded {
		return nil
	}
	left, err := e.box.load(logger)
	if err != nil {
		return err
	}
	e.loaded = true
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range left {
		e.kept = append(e.kept, &pending{keptEvent: k, done: make(chan struct{})})
		e.bytes += len(k.params)
		e.seq = max(e.seq, k.seq)
	}
	return nil
}

func (e *Emitter) stir() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// acknowledged takes the params of notifications/aurora/ack.
func (e *Emitter) acknowledged(params []byte, logger *slog.Logger) {
	var ack struct {
		MessageIDs []string `json:"message_ids"`
	}
	if err := json.Unmarshal(params, &ack); err != nil {
		logger.Warn("an acknowledgement cannot be read", "error", err)
		return
	}
	var durable []*pending
	e.mu.Lock()
	e.kept = slices.DeleteFunc(e.kept, func(p *pending) bool {
		if !slices.Contains(ack.MessageIDs, p.id) {
			return false
		}
		durable = append(durable, p)
		e.bytes -= len(p.params)
		close(p.done)
		return true
	})
	e.mu.Unlock()
	for _, p := range durable {
		if err := e.box.drop(p.seq); err != nil {
			// It will be sent once more after a restart, where its id is known.
			logger.Warn("an acknowledged event cannot be removed", "error", err)
		}
	}
}

// run sends events to a session whose handshake is done until ctx ends.
func (e *Emitter) run(ctx context.Context, write func(message []byte) error, logger *slog.Logger) {
	if e.native {
		e.order.Lock()
		if err := e.load(logger); err != nil {
			logger.Error("events of an earlier run cannot be read", "error", err)
		}
		e.order.Unlock()
	}
	e.mu.Lock()
	for _, p := range e.kept {
		p.sent = time.Time{}
	}
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		close(e.ended)
		e.ended = make(chan struct{})
	}()
	if e.later {
		<-ctx.Done()
		return
	}
	again := time.NewTicker(resendAfter / 3)
	defer again.Stop()
	for {
		if err := e.send(write); err != nil {
			logger.Warn("events cannot be sent", "error", err)
		}
		select {
		case <-e.wake:
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// send writes what is due, in order.
func (e *Emitter) send(write func([]byte) error) error {
	now := time.Now()
	e.mu.Lock()
	var due []*pending
	for _, p := range e.kept {
		if p.sent.IsZero() || now.Sub(p.sent) >= resendAfter {
			p.sent = now
			due = append(due, p)
		}
	}
	if !e.native { // nobody will acknowledge them
		e.kept, e.bytes = nil, 0
	}
	e.mu.Unlock()
	for _, p := range due {
		if err := write(e.message(p.params)); err != nil {
			return err
		}
	}
	return nil
}

// message dresses an event for the host.
func (e *Emitter) message(params []byte) []byte {
	head, tail := `{"jsonrpc":"2.0","method":"aurora/event","params":`, "}\n"
	if !e.native {
		head, tail = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"aurora/event","data":`, "}}\n"
	}
	return slices.Concat([]byte(head), params, []byte(tail))
}
