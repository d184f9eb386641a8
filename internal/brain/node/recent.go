package node

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// recentUnits is how many units are remembered.
const recentUnits = 1000

// recent remembers which events the last units hold.
type recent struct {
	queue *spool.Spool
	log   *slog.Logger

	mu     sync.Mutex // guards what follows; held while units of an earlier run are read
	of     map[eventKey]string
	order  []recentUnit // oldest first
	loaded bool
}

// An eventKey stands for source app and message id.
type eventKey [16]byte

func keyOf(e *amp.Envelope) eventKey {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s%s", len(e.Header.Source.App), e.Header.Source.App, e.Header.MessageID))
	return eventKey(sum[:16])
}

type recentUnit struct {
	id   string
	keys []eventKey
}

func newRecent(queue *spool.Spool, log *slog.Logger) *recent {
	return &recent{queue: queue, log: log, of: make(map[eventKey]string)}
}

// add remembers a unit.
func (r *recent) add(u *unit.Unit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(u)
	for len(r.order) > recentUnits {
		r.forgetFirst()
	}
}

func (r *recent) learn(u *unit.Unit) {
	known := recentUnit{id: u.ID}
	for _, e := range u.Events {
		k := keyOf(e)
		r.of[k] = u.ID
		known.keys = append(known.keys, k)
	}
	r.order = append(r.order, known)
}

func (r *recent) forgetFirst() {
	for _, k := range r.order[0].keys {
		if r.of[k] == r.order[0].id {
			delete(r.of, k)
		}
	}
	r.order = r.order[1:]
}

// unitOf returns the id of a unit of this run that holds the event, or "".
func (r *recent) unitOf(e *amp.Envelope) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[keyOf(e)]
}

// unitEver is unitOf, but knows the last units of earlier runs too.
func (r *recent) unitEver(e *amp.Envelope) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.loaded {
		if err := r.load(); err != nil {
			return "", err
		}
		r.loaded = true
	}
	return r.of[keyOf(e)], nil
}

// load reads the last units there are. r.mu is held.
func (r *recent) load() error {
	entries, err := r.queue.Newest(recentUnits)
	if err != nil {
		return fmt.Errorf("look for recent units: %w", err)
	}
	mine := r.order
	r.order = nil
	for _, e := range slices.Backward(entries) {
		data, _, err := r.queue.Find(e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // forgotten meanwhile
		}
		if err != nil {
			r.order = mine
			return fmt.Errorf("look for recent units: %w", err)
		}
		u, err := unit.Parse(data)
		if err != nil {
			r.log.Warn("a unit cannot be read", "file", e.Name, "error", err)
			continue
		}
		if !slices.ContainsFunc(mine, func(m recentUnit) bool { return m.id == u.ID }) {
			r.learn(u)
		}
	}
	r.order = append(r.order, mine...)
	return nil
}
