package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/spool"
)

// lookAgain is the longest that nobody looks at the clock: while a machine
// sleeps, no timer of ours goes on, but the clock on the wall does.
const lookAgain = 30 * time.Second

// Timers make an event at each time of their rules. They look at the clock by
// themselves, and when a state file that they watch changes.
type Timers struct {
	bus   *bus.Bus
	file  string
	out   []*spool.Spool
	rules []rule
	zone  *time.Location
	zh    bool
	log   *slog.Logger

	mu    sync.Mutex // guards what follows; held over a look at the clock
	fired map[string]time.Time
	known bool // fired was read
	dirty bool // fired is not written
}

var _ circuit.Runner = (*Timers)(nil)

// timerState is the file that remembers what has fired.
type timerState struct {
	// Last is the last time of each rule that has had its event, or, for a rule
	// that never had one, the time from which on it counts.
	Last map[string]time.Time `json:"last"`
}

// timerData is the data of an event.
type timerData struct {
	Rule string    `json:"rule"`
	Due  time.Time `json:"due"`
	// Late is how many seconds after its time the event was made.
	Late int64 `json:"late_seconds,omitempty"`
	// Missed is how many earlier times of the rule had no event of their own,
	// because nobody was there.
	Missed int64 `json:"missed,omitempty"`
}

func newTimers(c *circuit.Config, o Options) (*Timers, error) {
	out, err := c.Queues()
	if err != nil {
		return nil, err
	}
	return &Timers{
		bus: c.Bus, file: "heartbeat/timers_" + c.ID + ".json", out: out,
		rules: c.Settings.(*timerSettings).Rules, zone: o.Zone, zh: o.Language == "zh", log: quietLog(c.Logger),
	}, nil
}

// Handle looks at the clock.
func (t *Timers) Handle(context.Context, *circuit.Job) error {
	_, err := t.look(time.Now())
	return err
}

// Run looks at the clock at each time of a rule, until ctx ends.
func (t *Timers) Run(ctx context.Context) error {
	for {
		now := time.Now()
		next, err := t.look(now)
		if err != nil {
			return err
		}
		wait := time.NewTimer(min(max(next.Sub(now), 0), lookAgain))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil
		}
	}
}

// look makes the events that are due, and returns when the next one is.
func (t *Timers) look(now time.Time) (next time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now = now.In(t.zone).Round(0) // the clock on the wall, not our own
	if err := t.remember(); err != nil {
		return now, err
	}
	next = now.Add(lookAgain)
	for _, r := range t.rules {
		last, known := t.fired[r.Name]
		due := r.last(now, last)
		switch {
		case !known || r.unbelievable(now, last):
			// A new rule has no past. Nor has one whose last time is so far ahead
			// that a clock must have been wrong.
			if due.IsZero() {
				due = now
			}
			t.fired[r.Name], t.dirty = due, true
		case due.After(last):
			if err := t.fire(r, due, last, now); err != nil {
				return now, err
			}
			t.fired[r.Name], t.dirty = due, true
		}
		if at := r.next(now, t.fired[r.Name]); at.Before(next) {
			next = at
		}
	}
	if !t.dirty {
		return next, nil
	}
	data, err := json.MarshalIndent(timerState{t.fired}, "", "  ")
	if err != nil {
		return now, fmt.Errorf("remember timers: %w", err)
	}
	if err := t.bus.WriteState(t.file, append(data, '\n')); err != nil {
		return now, err
	}
	t.dirty = false
	return next, nil
}

// fire makes the event of one time of a rule. A crash between the event and the
// note of it makes the same event again, which the queue has already.
func (t *Timers) fire(r rule, due, last, now time.Time) error {
	data := timerData{Rule: r.Name, Due: due, Late: int64(now.Sub(due) / time.Second), Missed: r.missed(last, due)}
	e, err := ownEvent("timer\x00"+r.Name+"\x00"+due.UTC().Format(time.RFC3339Nano), amp.MethodEvent, r.eventType(), r.summary(due, t.zh), data, due)
	if err != nil {
		return err
	}
	return emitEvent(t.out, e)
}

// remember reads what has fired, once.
func (t *Timers) remember() error {
	if t.known {
		return nil
	}
	var s timerState
	data, err := t.bus.ReadState(t.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &s); err != nil {
			t.log.Warn("what the timers did last cannot be read; they begin anew", "file", t.file, "error", err)
		}
	}
	t.fired, t.known = s.Last, true
	if t.fired == nil {
		t.fired = make(map[string]time.Time)
	}
	return nil
}
