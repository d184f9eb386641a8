package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/unit"
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
	// Files is the file system; nil: the real one.
	Files FileLayer
	// Logger is told what a keeper should know; nil: nobody is.
	Logger *slog.Logger
}

// A Runner gives units their turns. Create it with [New]. Its methods may be
// called from any number of goroutines.
type Runner struct {
	opt    Options
	files  FileLayer
	log    *slog.Logger
	ledger ledger

	mu      sync.Mutex       // guards what follows
	running map[string]*turn // by lane
	halted  map[string]bool  // lanes whose last turn was stopped
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

// Run gives a unit its turn. It returns nil when the end is durable: the session
// was answered, or it is written down why not. Called again for a unit whose turn
// was begun, it goes on; for one whose turn is over, it returns nil at once.
//
// When ctx ends with the cause [ErrStopped] the turn is ended, with a result for
// every call and without a reply. When ctx ends otherwise, or the house is being
// shut down, calls are cancelled and the error says that the turn goes on when
// Run is called again. Other errors are those of the file system.
//
// Turns of one session must not run at once; a second one is refused.
func (r *Runner) Run(ctx context.Context, u *unit.Unit) error {
	if err := r.ledger.open(r.files, r.opt.Dir, r.opt.Now()); err != nil {
		r.log.Warn("not all tokens of today are counted", "error", err)
	}
	stoppable, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &turn{
		Runner: r, unit: u, stop: stop, began: r.opt.Now(),
		log: r.log.With("turn", u.ID, "trace", u.TraceID),
	}
	if err := r.enter(t); err != nil {
		return err
	}
	defer r.leave(t)
	var tell func(Record)
	if r.opt.OnRecord != nil {
		tell = func(rec Record) { r.opt.OnRecord(u, rec) }
	}
	j, records, whole, err := openJournal(r.files, r.opt.Dir, u.ID, tell)
	if err != nil {
		return err
	}
	t.journal, t.state = j, load(records)
	err = t.run(stoppable, ctx, whole && t.state.sound(u.ID))
	return errors.Join(err, j.close())
}

// run is what Run does once the journal is open.
func (t *turn) run(ctx, base context.Context, whole bool) (err error) {
	if t.state.end != nil {
		return t.journal.sync() // whoever wrote the end may not have come to this
	}
	if t.history, err = openHistory(t.files, t.opt.Sessions, t.unit.Lane()); err != nil {
		return err
	}
	// A turn that is remembered already is not reminded of itself.
	t.history.leaveOut(t.unit.ID)
	if t.state.begun != nil {
		t.log.Info("a turn goes on where it was cut short", "steps", len(t.state.steps))
	}
	return t.take(ctx, base, whole)
}

func (r *Runner) enter(t *turn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	lane := t.unit.Lane()
	if other := r.running[lane]; other != nil {
		return fmt.Errorf("turn %s: turn %s of the same session is under way", t.unit.ID, other.unit.ID)
	}
	r.running[lane] = t
	return nil
}

func (r *Runner) leave(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, t.unit.Lane())
	if t.state != nil && t.state.end != nil && Ending(t.state.end.Outcome) != Stopped {
		delete(r.halted, t.unit.Lane())
	}
}

func (r *Runner) halt(lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halted[lane] = true
}

// Stop ends the turn of a session that is under way, and reports whether there
// was one. It does not wait for the end.
func (r *Runner) Stop(source amp.Source, session string) bool {
	lane := (&unit.Unit{Source: source, Session: session}).Lane()
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.running[lane]
	if t == nil || session == "" {
		return false
	}
	t.stop(ErrStopped)
	return true
}

// scene is what a built-in command is answered in.
func (t *turn) scene() commands.Scene {
	s := commands.Scene{
		Session: t.unit.Session, App: t.unit.Source.App, Instance: t.unit.Source.Instance, Sender: t.unit.Sender,
		Model: t.opt.ModelName, Limit: t.opt.Limits.DayTokens, Turns: t.history.turns(),
	}
	s.Tokens, s.Uncertain = t.ledger.figures(t.now())
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Running, s.Stopped = len(t.running)-1, t.halted[t.unit.Lane()]
	return s
}

// A Status is what a runner is doing.
type Status struct {
	// Turns are the ids of the turns under way.
	Turns []string `json:"turns"`
	// Tokens are those of today; Limit is how many there may be, 0: any number.
	Tokens int `json:"tokens"`
	Limit  int `json:"limit"`
	// Uncertain is how many replies of today may or may not have arrived.
	Uncertain int `json:"uncertain"`
}

// Status returns what the runner is doing.
func (r *Runner) Status() Status {
	if err := r.ledger.open(r.files, r.opt.Dir, r.opt.Now()); err != nil {
		r.log.Warn("not all tokens of today are counted", "error", err)
	}
	s := Status{Turns: []string{}, Limit: r.opt.Limits.DayTokens}
	s.Tokens, s.Uncertain = r.ledger.figures(r.opt.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.running {
		s.Turns = append(s.Turns, t.unit.ID)
	}
	return s
}

// Open reports whether a turn has begun and not ended.
func (r *Runner) Open(id string) bool {
	s := r.look(id)
	return s != nil && s.end == nil
}

// HasResult reports whether the platform gave a result for a call that a turn
// made: its end tells the brain nothing new. An approval that is waited for is no
// result, and neither is what stands in the place of one that was lost. Replies
// always count as known: the bot is not told what it said.
func (r *Runner) HasResult(id string) bool {
	turn, rest, ok := strings.Cut(id, "/")
	if !ok {
		return false
	}
	if strings.HasPrefix(rest, replyPart+"/") {
		return true
	}
	s := r.look(turn)
	if s == nil {
		return false
	}
	c := s.call(id)
	return c != nil && c.given()
}

// look reads the journal of a turn; nil when there is none.
func (r *Runner) look(id string) *state {
	if id == "" || strings.ContainsAny(id, `/\.`) {
		return nil
	}
	data, err := r.files.ReadFile(filepath.Join(r.opt.Dir, FileName(id)))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn("a journal cannot be read", "turn", id, "error", err)
		}
		return nil
	}
	records, _, _ := parse(data)
	return load(records)
}
