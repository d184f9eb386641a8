package bridge

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/redact"
)

// Options configure a [Bridge].
type Options struct {
	// Outlets are the consumers.
	Outlets []Outlet
	// SeenFile remembers the ids that apps gave their events, over restarts;
	// empty: only as long as the bridge lives.
	SeenFile string
	// Ack sends notifications/aurora/ack with params to the session of an app.
	// It may block until ctx ends. An [ErrNotWanted] is remembered for the
	// session. nil: nobody is told.
	Ack func(ctx context.Context, app *config.App, epoch uint64, params []byte) error
	// QueueSignals and QueueBytes bound what waits to be converted; 0: 8192
	// signals, 64 MiB.
	QueueSignals, QueueBytes int
	// Redact masks secrets in events; nil masks only what looks like one.
	Redact *redact.Redactor
	// Logger is told of refused events, once an app and kind, and of spools that
	// take nothing, once until they do again; nil: nobody is.
	Logger *slog.Logger
}

// A Bridge turns signals into events. Create it with [New] and run it with
// [Bridge.Run].
type Bridge struct {
	opt    Options
	log    *slog.Logger
	queue  *queue
	acks   *acks
	routes []*route
	seen   *seen  // only Run's goroutine uses it
	seq    uint64 // of the last event; only Run's goroutine uses it

	following atomic.Int32 // followers

	mu        sync.Mutex // guards what follows; never held over I/O
	counts    map[string]*Counts
	followers map[*Follower]struct{}
	ended     bool            // there will be no more events to follow
	warned    map[string]bool // app and kind of what has been warned of
}

// New makes a bridge. It reads what an earlier run delivered. A record of that
// which cannot be read or written stops nothing: the files in the spools are the
// second guard against doubles, and [Bridge.Status] says so.
func New(o Options) (*Bridge, error) {
	if o.QueueSignals == 0 {
		o.QueueSignals = 8192
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = 64 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bridge{
		opt: o, log: o.Logger,
		queue:     newQueue(o.QueueSignals, o.QueueBytes),
		acks:      newAcks(o.Ack, o.Logger),
		counts:    make(map[string]*Counts),
		followers: make(map[*Follower]struct{}),
		warned:    make(map[string]bool),
	}
	for _, out := range o.Outlets {
		r, err := newRoute(out, o.Logger)
		if err != nil {
			return nil, err
		}
		b.routes = append(b.routes, r)
		b.seq = max(b.seq, out.Spool.LastSeq())
	}
	b.seen = openSeen(o.SeenFile, o.Logger)
	b.seq = max(b.seq, b.seen.seq)
	return b, nil
}

// Observe takes in a signal. It never blocks.
func (b *Bridge) Observe(s host.Signal) {
	if !b.mayMatter(&s) {
		return
	}
	if !b.queue.push(s) {
		b.count(origin(s.App), func(c *Counts) { c.Dropped++ })
	}
}

// Run converts signals until ctx ends, then converts what is still queued,
// ends all followers, waits for acknowledgements in flight, and closes the files.
func (b *Bridge) Run(ctx context.Context) error {
	for {
		batch, open := b.queue.take(ctx)
		if !open {
			break
		}
		b.deliver(batch)
	}
	b.endFollowing()
	b.acks.wait()
	return b.seen.close()
}

// deliver converts a batch and puts it where it belongs.
func (b *Bridge) deliver(batch []held) {
	var events []*event
	for i := range batch {
		if e := b.convert(&batch[i]); e != nil {
			events = append(events, e)
		}
	}
	if lost := b.queue.lost(); lost != nil {
		if e := b.lossEvent(lost); e != nil {
			events = append(events, e)
		}
	}
	for _, r := range b.routes {
		r.put(events)
	}
	for _, e := range events {
		b.settle(e)
		b.tell(e)
	}
	b.seen.flush(b.seq)
}

// settle remembers and acknowledges an event that is where it belongs.
func (b *Bridge) settle(e *event) {
	if e.hidden {
		return
	}
	pkg, id := e.envelope.Header.Source.App, e.envelope.Header.MessageID
	if len(e.refusedBy) > 0 {
		b.count(pkg, func(c *Counts) { c.Dropped++ })
		if e.named {
			// The app sends it again, and then it must not be doubled where it
			// came through, or may have.
			b.seen.forget(pkg, id)
			for _, r := range b.routes {
				r.doubt(e)
			}
		}
		return
	}
	b.count(pkg, func(c *Counts) { c.Delivered++ })
	if e.named {
		b.seen.confirm(pkg, id)
		b.acks.add(e.app, e.epoch, id)
	}
}

// nextSeq numbers an event. It follows the clock, so that numbers rise over
// restarts even if the record of the last one is lost, and never goes back.
func (b *Bridge) nextSeq(now time.Time) uint64 {
	b.seq = max(b.seq+1, uint64(now.UnixMicro()))
	return b.seq
}

// origin names the app a signal belongs to in counts and sources.
func origin(app *config.App) string {
	if app == nil {
		return ownPackage
	}
	return app.Package
}

// ownPackage is the source of events that no app is the source of.
const ownPackage = "aurora"
