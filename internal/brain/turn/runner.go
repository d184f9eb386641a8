package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

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
	t.history = &history{}
	if t.unit.Session != "" {
		if t.history, err = openHistory(t.files, t.opt.Sessions, t.unit.Lane()); err != nil {
			return err
		}
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
