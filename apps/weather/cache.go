package weather

import (
	"context"
	"sync"
	"time"
)

// cacheSize bounds a cache, in entries.
const cacheSize = 256

// A cache keeps answers until they expire and lets only one caller at a time
// fetch the same one. The fetching is done on that caller's own goroutine;
// should it be cancelled, another waiting caller takes over. Failures are
// shared with who waits for them and then forgotten.
type cache[V any] struct {
	now func() time.Time

	mu      sync.Mutex // guards the maps
	entries map[string]cacheEntry[V]
	flights map[string]*flight[V]
}

type cacheEntry[V any] struct {
	value   V
	expires time.Time
}

// A flight is one fetch under way. Its result may be read after done is closed.
type flight[V any] struct {
	done      chan struct{}
	value     V
	err       error
	abandoned bool // ended because its caller gave up
}

func newCache[V any](now func() time.Time) *cache[V] {
	return &cache[V]{now: now, entries: make(map[string]cacheEntry[V]), flights: make(map[string]*flight[V])}
}

// get returns the kept value of key, or the one that fetch returns together
// with the time until which it may be kept. Values are shared: nobody may
// change them.
func (c *cache[V]) get(ctx context.Context, key string, fetch func() (V, time.Time, error)) (V, error) {
	for {
		c.mu.Lock()
		if e, ok := c.entries[key]; ok && c.now().Before(e.expires) {
			c.mu.Unlock()
			return e.value, nil
		}
		under := c.flights[key]
		if under == nil {
			f := &flight[V]{done: make(chan struct{}), abandoned: true}
			c.flights[key] = f
			c.mu.Unlock()
			return c.lead(ctx, key, f, fetch)
		}
		c.mu.Unlock()
		select {
		case <-under.done:
			if !under.abandoned {
				return under.value, under.err
			}
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

// lead fetches on behalf of all who wait for the flight.
func (c *cache[V]) lead(ctx context.Context, key string, f *flight[V], fetch func() (V, time.Time, error)) (V, error) {
	var expires time.Time
	defer func() { // also when fetch panics: nobody may wait for ever
		c.mu.Lock()
		delete(c.flights, key)
		if !f.abandoned && f.err == nil {
			c.keep(key, cacheEntry[V]{f.value, expires})
		}
		c.mu.Unlock()
		close(f.done)
	}()
	f.value, expires, f.err = fetch()
	f.abandoned = f.err != nil && ctx.Err() != nil
	return f.value, f.err
}

// keep stores an entry and makes room if there is none. c.mu is held.
func (c *cache[V]) keep(key string, entry cacheEntry[V]) {
	if len(c.entries) >= cacheSize {
		now, oldest := c.now(), ""
		for k, e := range c.entries {
			if !now.Before(e.expires) {
				delete(c.entries, k)
			} else if oldest == "" || e.expires.Before(c.entries[oldest].expires) {
				oldest = k
			}
		}
		if len(c.entries) >= cacheSize {
			delete(c.entries, oldest)
		}
	}
	c.entries[key] = entry
}
