package turn

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/spool"
)

// Limits bound what one turn, and one day, may cost.
type Limits struct {
	// Steps is how many requests with tools a turn may make; 0: 8.
	Steps int
	// Time is the longest time of a turn, counted anew when it goes on after a
	// restart; 0: 300 s.
	Time time.Duration
	// Last is the time of the one request without tools that follows at a bound;
	// 0: 60 s.
	Last time.Duration
	// DayTokens is how many tokens a day may cost, in the user's zone; 0: no bound.
	DayTokens int
}

// Results bound what the model sees of what tools say, in bytes. A larger result
// is cut; all of it is kept in a file beside the journal.
type Results struct {
	One  int // of one result; 0: 16 KiB
	Turn int // of all results of a turn; 0: 128 KiB. 1 KiB of each is always seen
}

// Options are what a [Runner] needs. Dir, House and Model must be set.
type Options struct {
	// Dir is the folder of the journals, data/kernel/turns.
	Dir string
	// Sessions is the folder of what is remembered; empty: sessions beside Dir.
	Sessions string
	House    brain.House
	Model    llm.Model
	// ModelName names the model for people; empty: there is none but reflex.
	ModelName string
	// Commands answers the built-in commands; nil: one for House.
	Commands *commands.Set
	Limits   Limits
	History  History
	Results  Results
	// Parallel is how many calls of one answer run at the same time; 0: 4.
	Parallel int
	// Instructions returns the system message of a unit's turn; nil: a short one
	// that says where the bot is and that tool output is data.
	Instructions func(*unit.Unit) string
	// Language is the user's.
	Language brain.Language
	// Zone is the user's; nil: the system's.
	Zone *time.Location
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// OnDelta is told of each piece of an answer as it comes, for screens that can
	// show it growing. It is called on the goroutine of Run and must not block.
	OnDelta func(u *unit.Unit, text string)
	// OnRecord is told of each record as it is written. It is called by the
	// goroutines of Run and must not block.
	OnRecord func(u *unit.Unit, r Record)
	// Redact hides secrets in what models say went wrong; nil: hides what looks
	// like one.
	Redact *redact.Redactor
	// Files is the file system; nil: the real one.
	Files FileLayer
	// Logger is told what a keeper should know; nil: nobody is.
	Logger *slog.Logger
}

// New returns a runner. It makes the folders that are missing.
func New(o Options) (*Runner, error) {
	if o.Dir == "" || o.House == nil || o.Model == nil {
		return nil, errors.New("turns need a folder, a house and a model")
	}
	o.Sessions = cmp.Or(o.Sessions, filepath.Join(filepath.Dir(o.Dir), "sessions"))
	o.Limits.Steps = cmp.Or(o.Limits.Steps, 8)
	o.Limits.Time = cmp.Or(o.Limits.Time, 300*time.Second)
	o.Limits.Last = cmp.Or(o.Limits.Last, 60*time.Second)
	o.History.Turns = cmp.Or(o.History.Turns, 20)
	o.History.Messages = cmp.Or(o.History.Messages, 200)
	o.History.Bytes = cmp.Or(o.History.Bytes, 64<<10)
	o.Results.One = cmp.Or(o.Results.One, 16<<10)
	o.Results.Turn = cmp.Or(o.Results.Turn, 128<<10)
	o.Parallel = cmp.Or(o.Parallel, 4)
	o.Zone = cmp.Or(o.Zone, time.Local)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Commands == nil {
		o.Commands = &commands.Set{House: o.House, Language: o.Language, Zone: o.Zone}
	}
	if o.Instructions == nil {
		o.Instructions = instructions(o.Language, o.Zone, o.Now)
	}
	if o.Files == nil {
		o.Files = disk{spool.Disk()}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.Files.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("make the folder of turns: %w", err)
	}
	if err := o.Files.MkdirAll(o.Sessions); err != nil {
		return nil, fmt.Errorf("make the folder of sessions: %w", err)
	}
	return &Runner{
		opt: o, files: o.Files, log: o.Logger, ledger: ledger{zone: o.Zone},
		running: map[string]*turn{}, halted: map[string]bool{},
	}, nil
}
