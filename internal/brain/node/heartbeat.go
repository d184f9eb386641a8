package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
)

type heartbeatSettings struct {
	Interval time.Duration `yaml:"interval_seconds,interval_sec" max:"1d" doc:"The time between two beats. 0 means none."`
}

// Check makes sure that the pulse is not a flutter.
func (s *heartbeatSettings) Check(c *circuit.Config) {
	if s.Interval > 0 && s.Interval < time.Second {
		c.Problem("interval_seconds", "must be 0 or at least 1", "")
	}
}

// A Tick is one beat, as it stands in heartbeat/tick.json.
type Tick struct {
	TickID string `json:"tick_id"`
	// Number counts the beats of this home, over restarts.
	Number int64 `json:"number"`
	// Timestamp is when it was, in the user's time zone.
	Timestamp time.Time `json:"timestamp"`
	// Interval is the time to the next one, in seconds.
	Interval float64 `json:"interval"`
}

// A Heartbeat rewrites one file at each beat: the first when it begins to run,
// the others an interval apart. It asks no model and makes no event.
type Heartbeat struct {
	bus      *bus.Bus
	file     string
	interval time.Duration
	zone     *time.Location
	log      *slog.Logger
}

var _ circuit.Runner = (*Heartbeat)(nil)

func newHeartbeat(c *circuit.Config, o Options) *Heartbeat {
	return &Heartbeat{c.Bus, c.StateFile(), c.Settings.(*heartbeatSettings).Interval, o.Zone, quietLog(c.Logger)}
}

// Handle does nothing: a heartbeat watches nothing.
func (h *Heartbeat) Handle(context.Context, *circuit.Job) error { return nil }

// Run beats until ctx ends.
func (h *Heartbeat) Run(ctx context.Context) error {
	if h.interval <= 0 || h.file == "" {
		<-ctx.Done()
		return nil
	}
	number, err := h.lastNumber()
	if err != nil {
		return err
	}
	beat := time.NewTicker(h.interval)
	defer beat.Stop()
	for {
		number++
		data, err := json.Marshal(Tick{
			TickID: fmt.Sprintf("tick-%d", number), Number: number,
			Timestamp: time.Now().In(h.zone).Truncate(time.Millisecond), Interval: h.interval.Seconds(),
		})
		if err != nil {
			return fmt.Errorf("write a tick: %w", err)
		}
		if err := h.bus.WriteState(h.file, append(data, '\n')); err != nil {
			return err
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// lastNumber returns the number of the last beat there was.
func (h *Heartbeat) lastNumber() (int64, error) {
	data, err := h.bus.ReadState(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var last Tick
	if err := json.Unmarshal(data, &last); err != nil {
		h.log.Warn("the last tick cannot be read; counting begins anew", "file", h.file, "error", err)
		return 0, nil
	}
	return last.Number, nil
}
