package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

// A Turner gives a unit its turn.
type Turner interface {
	// Run answers the unit. It returns nil when the turn's end is durable. It may
	// be called again for a unit whose turn was begun, and for one whose turn is
	// over. Turns of one session never run at once, those of several sessions do.
	Run(ctx context.Context, u *unit.Unit) error
}

// Turns know the journals of turns. A turn has the id of its unit. Both methods
// are asked often, from several goroutines.
type Turns interface {
	// Open reports whether the turn has begun and not ended.
	Open(turn string) bool
	// HasResult reports whether the journal holds the end of a call as the
	// platform told it. That a call waits for an approval is no end of it, nor is
	// what a turn put in its place that was interrupted or ended early.
	HasResult(call string) bool
}

// Options are what nodes need beside their config. Each length of time and the
// quiet hours are what a node gets whose config does not say otherwise.
type Options struct {
	// Turner gives units their turns; the externalizer needs it.
	Turner Turner
	// Turns know which results a turn had; nil: no end of a call of the brain's
	// own wakes.
	Turns Turns
	// Hear, if set, is told of each event when the preprocessor takes it in, before
	// anything waits. It must not block.
	Hear func(*amp.Envelope)
	// Model names the model that answers, for people.
	Model string
	// Zone is the user's time zone; nil: the system's.
	Zone *time.Location
	// Language is the user's, "zh" or "en"; empty: "en".
	Language string
	// Debounce is the quiet that ends a unit; 0: nothing waits.
	Debounce time.Duration
	// MaxWait is the longest an event waits for quiet; 0: nothing waits.
	MaxWait time.Duration
	// Heartbeat is the time between two beats; 0: there are none.
	Heartbeat time.Duration
	// QuietHours are the hours without turns for what the brain made itself, such
	// as "23:00-07:30" in Zone; empty: there are none.
	QuietHours string
}

// Registry returns the types of nodes there are.
func Registry(o Options) circuit.Registry {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Language == "" {
		o.Language = "en"
	}
	const inboxGlob, unitsGlob, markersGlob = "inbox/pending/event_*.json", "pipeline/message_queue/*.json", "pipeline/internalized/*.json"
	return circuit.Registry{
		"preprocessor": {
			Doc:     "Makes units of experience of events that belong together, and decides what wakes.",
			Aliases: []string{"message_preprocessor"},
			Watch:   []string{inboxGlob}, Emit: []string{unitsGlob},
			Takes: bus.Events, Gives: bus.Units, Single: true, Holds: maxHeld,
			Settings: func() any { return newPreprocessorSettings(o) },
			New:      func(c *circuit.Config) (circuit.Node, error) { return newPreprocessor(c, o) },
		},
		"internalizer": {
			Doc:   "Writes every unit into the stream of consciousness, in the first person.",
			Watch: []string{unitsGlob}, Emit: []string{markersGlob},
			Takes: bus.Units, Gives: bus.Units, Last: true,
			Settings: func() any { return newInternalizerSettings() },
			New:      func(c *circuit.Config) (circuit.Node, error) { return newInternalizer(c, o) },
		},
		"externalizer": {
			Doc:      "Gives what woke the brain a turn: the model, its tools, an answer.",
			Watch:    []string{markersGlob},
			Takes:    bus.Units,
			Settings: func() any { return newExternalizerSettings() },
			New:      func(*circuit.Config) (circuit.Node, error) { return newExternalizer(o) },
		},
		"heartbeat_generator": {
			Doc:    "Rewrites one small file at each beat.",
			Emit:   []string{"heartbeat/tick.json"},
			Source: true, State: true,
			Settings: func() any { return &heartbeatSettings{Interval: o.Heartbeat} },
			New:      func(c *circuit.Config) (circuit.Node, error) { return newHeartbeat(c, o), nil },
		},
		"timer_scheduler": {
			Doc:   "Makes an event at each time of its rules.",
			Watch: []string{"heartbeat/tick.json"}, Emit: []string{inboxGlob},
			Gives: bus.Events, Source: true, State: true,
			Settings: func() any { return new(timerSettings) },
			New:      func(c *circuit.Config) (circuit.Node, error) { return newTimers(c, o) },
		},
		"dead_letter_router": {
			Doc:   "Sets aside what has waited too long, with the reason.",
			Watch: []string{"inbox/pending/*.json", "pipeline/*/*.json"}, Emit: []string{inboxGlob},
			Gives: bus.Events, Looks: true, Source: true, Last: true,
			Settings: func() any { return newDeadLetterSettings() },
			New:      func(c *circuit.Config) (circuit.Node, error) { return newDeadLetters(c, o) },
		},
	}
}

// quietLog is who is told when nobody is.
func quietLog(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
