package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// A Content is what the files of a queue are.
type Content string

// The contents of queues.
const (
	Events Content = "events" // AMP envelopes
	Units  Content = "units"  // units of experience
)

// Options configure a [Bus].
type Options struct {
	// Dir is the folder data/kernel.
	Dir string
	// Inbox is the queue in which events arrive, if somebody else has opened it;
	// who did runs it too. nil: the bus opens it.
	Inbox *spool.Spool
	// KeepDone and KeepDead say what stays of files at their end.
	KeepDone, KeepDead spool.Retention
	// Files is the file system; nil: the real one.
	Files Files
	// Logger is told what a keeper should know; nil: nobody is.
	Logger *slog.Logger
}

// A Bus is all queues and state files of one brain.
type Bus struct {
	opt   Options
	files Files
	state states

	mu     sync.Mutex // guards what follows; held while a queue is opened
	queues map[string]*queue
	opened chan struct{} // closed and replaced when a queue is opened
}

// A queue is a spool and what lies in it.
type queue struct {
	*spool.Spool
	content Content // empty: whatever the giver put there
	own     bool    // the bus opened it
}

// New makes a bus. It does no I/O: a queue is opened when somebody asks for it.
func New(o Options) *Bus {
	if o.Files == nil {
		o.Files = disk{spool.Disk()}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bus{opt: o, files: o.Files, queues: make(map[string]*queue), opened: make(chan struct{})}
	b.state.init(b)
	if o.Inbox != nil {
		b.queues[Inbox] = &queue{Spool: o.Inbox, content: Events}
	}
	return b
}

// Queue returns the queue of a path, and opens it at the first time: what an
// earlier run left unfinished waits again. It is an error to ask for a queue
// with another content than before.
func (b *Bus) Queue(path string, content Content) (*spool.Spool, error) {
	t, err := ParseTarget(path)
	if err != nil || t.Queue != path || t.Many() {
		return nil, errors.Join(fmt.Errorf("%q is not the path of a queue", path), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[path]; q != nil {
		if q.content != content {
			return nil, fmt.Errorf("the queue %s holds %s, not %s", path, q.content, content)
		}
		return q.Spool, nil
	}
	o := spool.Options{
		KeepDone: b.opt.KeepDone, KeepDead: b.opt.KeepDead,
		Files: b.files, Logger: b.opt.Logger,
	}
	switch content {
	case Events:
		o.Inspect = unit.InspectEvent
	case Units:
		o.Inspect, o.Exclusive = unit.Inspect, true
	default:
		return nil, fmt.Errorf("a queue holds events or units, not %q", content)
	}
	s, err := spool.Open(filepath.Join(b.opt.Dir, filepath.FromSlash(path)), o)
	if err != nil {
		return nil, fmt.Errorf("open the queue %s: %w", path, err)
	}
	b.queues[path] = &queue{s, content, true}
	close(b.opened)
	b.opened = make(chan struct{})
	return s, nil
}

// Opened returns the queues that a target means and that are open, by path.
func (b *Bus) Opened(t Target) map[string]*spool.Spool {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := make(map[string]*spool.Spool)
	for path, q := range b.queues {
		if t.HoldsQueue(path) {
			found[path] = q.Spool
		}
	}
	return found
}

// PutOnce puts a file into a queue, unless there is one of its name already, in
// whatever state. When it returns nil the file is durable.
func PutOnce(q *spool.Spool, it spool.Item) error {
	there, err := q.Has(it.Name)
	if err != nil || there {
		return err
	}
	_, err = q.Put(it)
	return err
}

// Files returns the file system of the brain.
func (b *Bus) Files() Files { return b.files }

// File returns the full name of a path relative to data/kernel.
func (b *Bus) File(path string) string {
	return filepath.Join(b.opt.Dir, filepath.FromSlash(path))
}

// Run looks for files that other programs drop into the queues, and forgets old
// ones, until ctx ends.
func (b *Bus) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	running := make(map[string]bool)
	for {
		b.mu.Lock()
		opened := b.opened
		for path, q := range b.queues {
			if q.own && !running[path] {
				running[path] = true
				wg.Go(func() { q.Run(ctx) })
			}
		}
		b.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return
		}
	}
}
