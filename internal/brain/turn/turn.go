package turn

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

// ErrStopped is the cause with which the ctx of a [Runner.Run] is cancelled when
// a person wants the turn to end. The turn ends then; with any other cause it is
// only interrupted.
var ErrStopped = errors.New("stopped by a person")

var errTime = errors.New("the time of the turn is over")

// ErrInterrupted says that a turn could not go on, because the house is being
// shut down, and will when Run is called again. It says nothing against the unit.
var ErrInterrupted = errors.New("the turn was interrupted and goes on later")

// over says why no more calls are begun; empty when they are. The error is
// ErrInterrupted.
func over(ctx context.Context) (string, error) {
	switch {
	case ctx.Err() == nil:
		return "", nil
	case errors.Is(context.Cause(ctx), ErrStopped):
		return "A person stopped the turn before the call began.", nil
	case errors.Is(context.Cause(ctx), errTime):
		return "The time of the turn was over before the call began.", nil
	}
	return "", ErrInterrupted
}

// A turn is one run of a unit's turn.
type turn struct {
	*Runner
	unit    *unit.Unit
	log     *slog.Logger
	journal *journal
	state   *state
	history *history
	began   time.Time
	stop    context.CancelCauseFunc // ends the turn early, with ErrStopped

	forced string // the bound that the last answer met
	text   string // what the session is told
}

func (t *turn) now() time.Time { return t.opt.Now() }

// record writes a record that need not be durable at once.
func (t *turn) record(r Record) error {
	r.At = t.now()
	return t.journal.add(r)
}

// commit writes a record and makes it durable.
func (t *turn) commit(r Record) error {
	r.At = t.now()
	return t.journal.commit(r)
}

// take takes the turn from where it stands to its end. ctx ends also when a
// person stops the turn, base only with that of Run.
func (t *turn) take(ctx, base context.Context, whole bool) error {
	if !whole {
		t.log.Error("the journal of a turn is damaged; nothing more is done in it", "file", t.journal.path)
		return t.end(Damaged, "the journal is damaged, so that what was done cannot be known")
	}
	if t.state.begun == nil {
		u := t.unit
		r := Record{Kind: KindBegin, Turn: u.ID, Trace: u.TraceID, Session: u.Session, Source: &u.Source, Sender: u.Sender, WokenBy: u.WokenBy, Text: u.Text}
		if err := t.record(r); err != nil {
			return err
		}
		t.state.begun = &r
	}
	if len(t.state.replies) > 0 {
		return t.reply(ctx, base, t.state.replies[0].intent.Text)
	}
	said, answers, err := t.builtins(ctx)
	if err != nil {
		return err
	}
	if len(said) > 0 || answers == nil || !strings.HasPrefix(t.unit.WokenBy, "message.") {
		text, err := t.think(ctx, said)
		if errors.Is(err, ErrStopped) {
			return t.stopped(ctx)
		}
		if err != nil {
			return err
		}
		answers = append(answers, text)
	}
	return t.reply(ctx, base, strings.TrimSpace(strings.Join(answers, "\n\n")))
}

// builtins answers the built-in commands of the unit, once, and returns what else
// people said.
func (t *turn) builtins(ctx context.Context) (said, answers []string, err error) {
	n := 0
	for _, m := range t.unit.Messages() {
		name, rest, ok := commands.Builtin(m.Text)
		if !ok {
			if strings.TrimSpace(m.Text) != "" {
				said = append(said, utf8Text(m.Text))
			}
			continue
		}
		if n < len(t.state.commands) {
			answers = append(answers, t.state.commands[n].Text)
			n++
			continue
		}
		n++
		if name == commands.New {
			if err := t.history.fresh(t.unit.ID, t.now()); err != nil {
				return nil, nil, err
			}
		}
		r := Record{Kind: KindCommand, Name: name, Text: t.opt.Commands.Answer(ctx, name, rest, t.scene())}
		if err := t.record(r); err != nil {
			return nil, nil, err
		}
		t.state.commands = append(t.state.commands, &r)
		answers = append(answers, r.Text)
	}
	return said, answers, nil
}

// stopped ends a turn that a person stopped. Its calls have their results: those
// that ran were cancelled, the others never began.
func (t *turn) stopped(ctx context.Context) error {
	if !t.state.stopped {
		// A house that closes at the same moment leaves calls without a result. None
		// of them is made here, for ctx says that the turn is stopped.
		if st := t.last(); st != nil && !st.complete() {
			if _, _, err := t.follow(ctx, st); err != nil {
				return err
			}
		}
		if err := t.record(Record{Kind: KindStop}); err != nil {
			return err
		}
		t.state.stopped = true
	}
	t.halt(t.unit.Lane())
	return t.end(Stopped, "")
}

// end remembers the turn and ends it.
func (t *turn) end(ending Ending, reason string) error {
	r := Record{Kind: KindEnd, Outcome: string(ending), Error: reason, Bound: t.forced, Tokens: t.state.tokens(), MS: t.now().Sub(t.began).Milliseconds()}
	if group := t.group(ending); group != nil {
		if err := t.history.add(t.unit.ID, t.now(), group); err != nil {
			return err
		}
	}
	if err := t.commit(r); err != nil {
		return err
	}
	t.state.end = &r
	t.ledger.ended(t.now(), ending)
	t.report(ending, reason)
	t.log.Debug("a turn ended", "ending", ending, "steps", len(t.state.steps), "tokens", r.Tokens, "ms", r.MS)
	return nil
}

// report tells the keeper of a reply that has not, or perhaps not, arrived: nobody
// else learns of it. What an app said of it may be private and stays in the journal.
func (t *turn) report(ending Ending, reason string) {
	const look = "`aurora trace` with the id of the turn shows its way"
	switch ending {
	case Undelivered, Refused:
		t.log.Warn("a reply was not delivered", "ending", ending, "session", t.unit.Session, "app", t.unit.Source.App, "hint", look)
	case Uncertain:
		t.log.Warn("a reply may or may not have been delivered, and is not sent again", "session", t.unit.Session, "app", t.unit.Source.App, "hint", look)
	case Mute:
		if t.text != "" && strings.HasPrefix(t.unit.WokenBy, "message.") {
			t.log.Warn("a message has an answer, and its app no way to take it", "session", t.unit.Session, "app", t.unit.Source.App, "reason", reason,
				"hint", "name the app's tool for replies as reply: in apps/config.yml")
		}
	}
}
