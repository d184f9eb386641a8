package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/spool"
)

// codeOverdue is the code of the event that tells of a sweep.
const codeOverdue = "FILES_OVERDUE"

type deadLetterSettings struct {
	Interval time.Duration `yaml:"interval_seconds" min:"1s" max:"1d" doc:"The time between two sweeps."`
	MaxAge   time.Duration `yaml:"max_age" min:"1m" max:"36500d" doc:"The longest that a file may wait."`
}

func newDeadLetterSettings() *deadLetterSettings {
	return &deadLetterSettings{Interval: 10 * time.Minute, MaxAge: 7 * 24 * time.Hour}
}

// DeadLetters set aside files that have waited too long, and events that have
// expired, with the reason. Nothing is removed. Each sweep that found something
// makes one event that says how many; those events themselves are set aside and
// not told of.
type DeadLetters struct {
	bus  *bus.Bus
	from []bus.Target
	out  []*spool.Spool
	zh   bool
	deadLetterSettings

	untold int           // set aside, and in no report yet
	report *amp.Envelope // made, and not known to be durable
	number int           // of reports made
}

var _ circuit.Runner = (*DeadLetters)(nil)

func newDeadLetters(c *circuit.Config, o Options) (*DeadLetters, error) {
	out, err := c.Queues()
	if err != nil {
		return nil, err
	}
	return &DeadLetters{
		bus: c.Bus, from: c.Watch, out: out, zh: o.Language == "zh", deadLetterSettings: *c.Settings.(*deadLetterSettings),
	}, nil
}

// Handle does nothing: the router takes no files in their turn.
func (d *DeadLetters) Handle(context.Context, *circuit.Job) error { return nil }

// Run sweeps, an interval after its start and then once an interval, until ctx
// ends.
func (d *DeadLetters) Run(ctx context.Context) error {
	again := time.NewTicker(d.Interval)
	defer again.Stop()
	for {
		select {
		case now := <-again.C:
			if err := d.sweep(ctx, now); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// sweep sets aside what is overdue in all queues, and tells of it.
func (d *DeadLetters) sweep(ctx context.Context, now time.Time) error {
	queues := make(map[string]*spool.Spool)
	for _, t := range d.from {
		maps.Copy(queues, d.bus.Opened(t))
	}
	var failed []error
	for _, path := range slices.Sorted(maps.Keys(queues)) {
		if err := d.sweepQueue(ctx, path, queues[path], now); err != nil {
			failed = append(failed, fmt.Errorf("sweep %s: %w", path, err))
		}
	}
	return errors.Join(append(failed, d.tell(now))...)
}

func (d *DeadLetters) sweepQueue(ctx context.Context, path string, q *spool.Spool, now time.Time) error {
	entries, err := q.List(spool.Pending)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var event *amp.Envelope
		if path == bus.Inbox {
			if event, err = d.read(q, e.Name); err != nil {
				return err
			}
		}
		reason := d.overdue(e, event, now)
		if reason == "" {
			continue
		}
		c, err := q.Take(e.Name)
		if errors.Is(err, spool.ErrGone) {
			continue // somebody took it just now
		}
		if err != nil {
			return err
		}
		if err := c.Dead(reason); err != nil {
			return errors.Join(err, c.Return())
		}
		if event == nil || !isReport(event) {
			d.untold++
		}
	}
	return nil
}

// read returns an event that waits; nil if it is gone or none.
func (d *DeadLetters) read(q *spool.Spool, name string) (*amp.Envelope, error) {
	data, err := q.Read(spool.Pending, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := amp.Parse(data)
	if err != nil {
		return nil, nil // the queue itself sets broken files aside
	}
	return e, nil
}

// overdue says why a file waits no longer, or "".
func (d *DeadLetters) overdue(f spool.Entry, e *amp.Envelope, now time.Time) string {
	if e != nil && e.Expired(now) {
		return "expired at " + e.Payload.ExpireAt.Format(time.RFC3339)
	}
	if age := now.Sub(f.Time); age > d.MaxAge {
		return fmt.Sprintf("waited %s, longer than %s", days(age), days(d.MaxAge))
	}
	return ""
}

// days writes a length of time without parts that do not matter.
func days(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	text := d.Round(time.Minute).String()
	if head, ok := strings.CutSuffix(text, "m0s"); ok {
		return head + "m"
	}
	return text
}

// isReport tells the events that tell of a sweep.
func isReport(e *amp.Envelope) bool {
	var f amp.Fault
	return isOwn(e) && e.Payload.Type == amp.TypeError && json.Unmarshal(e.Payload.Data, &f) == nil && f.Code == codeOverdue
}

// tell makes the event that says how many files were set aside. One that the disk
// refuses is tried again as it is, for it may be there all the same.
func (d *DeadLetters) tell(now time.Time) error {
	if len(d.out) == 0 {
		return nil
	}
	for d.report != nil || d.untold > 0 {
		if d.report == nil {
			var err error
			if d.report, err = d.newReport(now); err != nil {
				return err
			}
			d.untold = 0
		}
		if err := emitEvent(d.out, d.report); err != nil {
			return err
		}
		d.report = nil
	}
	return nil
}

func (d *DeadLetters) newReport(now time.Time) (*amp.Envelope, error) {
	message := fmt.Sprintf("%d files waited too long and were set aside.", d.untold)
	switch {
	case d.zh:
		message = fmt.Sprintf("有 %d 个文件等得太久，已被搁置。", d.untold)
	case d.untold == 1:
		message = "1 file waited too long and was set aside."
	}
	d.number++
	key := fmt.Sprintf("overdue\x00%s\x00%d", now.UTC().Format(time.RFC3339Nano), d.number)
	return ownEvent(key, amp.MethodError, amp.TypeError, message,
		amp.Fault{Code: codeOverdue, Message: message, Count: int64(d.untold)}, now)
}
