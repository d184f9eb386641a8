package bus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/aurorabot/aurora/internal/spool"
)

// An Event is what a [Watch] tells of: a file in a queue, claimed for its
// receiver, or a state file and its content.
type Event struct {
	// Path is that of the queue or of the state file.
	Path string
	// Claim is the file of a queue; nil for a state file.
	Claim *spool.Claim
	// Data is the content.
	Data []byte
}

// A Watch waits for one queue, or for state files. One goroutine at a time uses
// it.
type Watch struct {
	bus    *Bus
	target Target
	queue  *spool.Spool // nil for state files

	mu      sync.Mutex // guards changed
	changed []string   // state files to tell of, without repeats
	wake    chan struct{}
}

// Watch begins to watch what a glob means. content is what a queue holds; it does
// not matter for state files. Who watches state files calls [Watch.Close] at the
// end.
func (b *Bus) Watch(glob string, content Content) (*Watch, error) {
	t, err := ParseTarget(glob)
	if err != nil {
		return nil, fmt.Errorf("watch %q: %w", glob, err)
	}
	w := &Watch{bus: b, target: t, wake: make(chan struct{}, 1)}
	if t.Queue != "" {
		if t.Many() {
			return nil, fmt.Errorf("watch %q: a file has one taker; name one queue", glob)
		}
		w.queue, err = b.Queue(t.Queue, content)
		return w, err
	}
	// First the watch, then the look: what is written in between is told of.
	b.state.mu.Lock()
	b.state.watchers[w] = struct{}{}
	b.state.mu.Unlock()
	files, err := b.present(t)
	if err != nil {
		w.Close()
		return nil, err
	}
	for _, file := range files {
		w.add(file)
	}
	return w, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	w.bus.state.mu.Lock()
	defer w.bus.state.mu.Unlock()
	delete(w.bus.state.watchers, w)
}

// add notes that a state file changed.
func (w *Watch) add(file string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.changed, file) {
		w.changed = append(w.changed, file)
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Next returns the next event, and waits for one until ctx ends.
func (w *Watch) Next(ctx context.Context) (Event, error) {
	if w.queue != nil {
		c, err := w.queue.Next(ctx)
		if err != nil {
			return Event{}, err
		}
		return Event{Path: w.target.Queue, Claim: c, Data: c.Data}, nil
	}
	for {
		file, ok := w.take()
		if !ok {
			select {
			case <-w.wake:
				continue
			case <-ctx.Done():
				return Event{}, ctx.Err()
			}
		}
		data, err := w.bus.ReadState(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			w.add(file)
			return Event{}, err
		}
		return Event{Path: file, Data: data}, nil
	}
}

// take returns the state file that has waited longest.
func (w *Watch) take() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changed) == 0 {
		return "", false
	}
	file := w.changed[0]
	w.changed = w.changed[1:]
	return file, true
}
