package turn

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/aurorabot/aurora/internal/brain/commands"
)

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
