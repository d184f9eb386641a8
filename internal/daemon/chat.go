package daemon

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/console"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// answerGrace is what a question waits beyond the longest time of a turn, if it
// names no time of its own: for what goes before its own turn.
const answerGrace = 2 * time.Minute

// startPatience is how long a question waits for a brain that is about to start:
// the door is open before it is.
const startPatience = 5 * time.Second

// thinking returns the brain, if it thinks.
func (d *Daemon) thinking(ctx context.Context) (*mind, error) {
	if d.mind == nil {
		return nil, control.Errorf(call.BrainUnavailable, "the brain is switched off (brain.enabled: false in aurora.yml)")
	}
	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case <-d.mind.begun:
	case <-patience.C:
	case <-ctx.Done():
		return nil, control.AsError(ctx.Err())
	}
	if why := d.mind.fault(); why != "" {
		return nil, control.Errorf(call.BrainUnavailable, "the brain does not run: %s", why)
	}
	return d.mind, nil
}

// consoleSource is the source of what is said at the console.
var consoleSource = amp.Source{App: console.Package, Instance: console.Key}

func checkWords(session, text string) *call.Error {
	switch {
	case session == "" || len(session) > control.MaxSession || strings.ContainsFunc(session, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return control.Errorf(call.UsageInvalid, "a session is named by 1 to %d bytes without control characters", control.MaxSession)
	case strings.TrimSpace(text) == "":
		return control.Errorf(call.UsageInvalid, "there is nothing to say")
	}
	return nil
}

// Say implements [control.House].
func (d *Daemon) Say(ctx context.Context, r control.SayRequest) (control.Said, error) {
	m, err := d.thinking(ctx)
	if err != nil {
		return control.Said{}, err
	}
	if e := checkWords(r.Session, r.Text); e != nil {
		return control.Said{}, e
	}
	id := uuid.Must(uuid.NewV7()).String()
	if err := m.say(ctx, id, r.Session, r.Text); err != nil {
		return control.Said{}, err
	}
	return control.Said{MessageID: id}, nil
}

// sayPatience is how long somebody who says something waits until every spool has
// it. One that is full, somebody else's perhaps, never does, and the brain may have
// answered by then.
const sayPatience = time.Second

// say says something. What the console keeps and delivers later counts as said.
func (m *mind) say(ctx context.Context, id, session, text string) error {
	switch s, ok := m.host.AppStatus(console.Key); {
	case !ok:
		return control.Errorf(call.AppUnavailable, "the console (%s) has left with the last reload", console.Key)
	case s.State == host.Disabled || s.State == host.Stopped:
		return control.Errorf(call.AppUnavailable, "the console (%s) is %s; `aurora apps` says more", console.Key, s.State)
	}
	waiting, cancel := context.WithTimeout(ctx, sayPatience)
	defer cancel()
	err := m.console.Say(waiting, id, session, text)
	if errors.Is(err, appkit.ErrKept) && ctx.Err() == nil {
		return nil
	}
	if err != nil && ctx.Err() != nil {
		return control.AsError(ctx.Err())
	}
	return notTaken(err)
}

// notTaken says why the console takes no more of what is said.
func notTaken(err error) error {
	if errors.Is(err, appkit.ErrOutboxFull) {
		return &call.Error{
			Code:      call.AppBusy,
			Message:   "so much of what was said waits for a spool that is full or fails that no more is taken; `aurora events status` says which",
			Retryable: true,
		}
	}
	return err
}

// Listen implements [control.House].
func (d *Daemon) Listen(ctx context.Context, r control.ListenRequest, tell func(control.ChatNews) error) error {
	m, err := d.thinking(ctx)
	if err != nil {
		return err
	}
	if e := checkWords(r.Session, "x"); e != nil {
		return e
	}
	v := m.viewers.enter(r.Session, "")
	defer m.viewers.leave(r.Session, v)
	screen, lost, err := m.console.Attach(r.Session, v.show, true)
	if err != nil {
		return err
	}
	var failed *control.ChatNews // what could not be told
	defer func() {
		screen.Close()
		left := v.rest()
		if failed != nil {
			left = append([]control.ChatNews{*failed}, left...)
		}
		m.giveBack(r.Session, left)
	}()
	pass := func(n control.ChatNews) error {
		err := tell(n)
		if err != nil {
			failed = &n
		}
		return err
	}
	for n, ok := v.kept(); ok; n, ok = v.kept() {
		n.Lost, lost = lost, 0
		if err := pass(n); err != nil {
			return err
		}
	}
	if err := tell(control.ChatNews{Kind: control.ChatAttached}); err != nil {
		return err
	}
	for {
		n, err := v.next(ctx)
		if err != nil {
			return control.AsError(err)
		}
		if err := pass(n); err != nil {
			return err
		}
	}
}

// giveBack keeps the texts that a screen could not show.
func (m *mind) giveBack(session string, news []control.ChatNews) {
	for _, n := range news {
		if n.Kind != control.ChatText {
			continue
		}
		if err := m.console.Keep(session, console.Text{Text: n.Text, At: n.At}); err != nil {
			m.log.Error("A text that a screen could not show cannot be kept; it is in the journal of its turn.", "session", session, "err", err)
		}
	}
}

// StopTurn implements [control.House].
func (d *Daemon) StopTurn(ctx context.Context, session string) (control.Stopped, error) {
	m, err := d.thinking(ctx)
	if err != nil {
		return control.Stopped{}, err
	}
	return control.Stopped{Stopped: m.runner.Stop(consoleSource, session)}, nil
}

// Suggest implements [control.House].
func (d *Daemon) Suggest(ctx context.Context, r control.SuggestRequest) ([]control.Suggestion, error) {
	m, err := d.thinking(ctx)
	if err != nil {
		return nil, err
	}
	all := []control.Suggestion{}
	for _, c := range m.commands.Complete(ctx, r.Line, r.Cursor) {
		all = append(all, control.Suggestion{Text: c.Text, From: c.From, To: c.To, Help: c.Help})
	}
	return all, nil
}

// Ask implements [control.House].
func (d *Daemon) Ask(ctx context.Context, r control.AskRequest, tell func(control.ChatNews)) control.Answer {
	began := time.Now()
	a := control.Answer{Session: r.Session, ToolCalls: []control.ToolCall{}}
	err := d.ask(ctx, r, tell, &a)
	a.DurationMS = time.Since(began).Milliseconds()
	a.Error = control.AsError(err)
	a.OK = err == nil
	return a
}

// ask lets a question in, and asks it.
func (d *Daemon) ask(ctx context.Context, r control.AskRequest, tell func(control.ChatNews), a *control.Answer) error {
	if err := d.guests.enter(); err != nil {
		return err
	}
	defer d.guests.leave()
	m, err := d.thinking(ctx)
	if err != nil {
		return err
	}
	if e := checkWords(r.Session, r.Text); e != nil {
		return e
	}
	return m.ask(ctx, r, tell, a)
}

// ask says something and fills in how it was answered.
func (m *mind) ask(ctx context.Context, r control.AskRequest, tell func(control.ChatNews), a *control.Answer) error {
	most := cmp.Or(milliseconds(r.TimeoutMS), m.config().Settings.LLM.Limits.Turn+answerGrace)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	id := uuid.Must(uuid.NewV7()).String()
	v := m.viewers.enter(r.Session, id)
	defer m.viewers.leave(r.Session, v)
	screen, _, err := m.console.Attach(r.Session, v.show, false)
	if err != nil {
		return err
	}
	defer screen.Close()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.over = true
		a.Turn, a.TraceID, a.ToolCalls = v.turn, v.trace, v.calls
	}()
	if err := m.say(ctx, id, r.Session, r.Text); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			m.withdrawn.add(id) // it may be on its way all the same
		}
		return err
	}
	for {
		n, err := v.next(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return &call.Error{Code: call.CallTimeout, Message: "there was no answer in " + most.String() + "; it goes on, and the answer waits for whoever opens the session " + r.Session}
		case errors.Is(err, context.Canceled):
			m.giveUp(r.Session, id, v)
			return control.AsError(err)
		case err != nil:
			return err
		}
		if tell != nil {
			tell(n)
		}
		if n.Kind == control.ChatEnd {
			a.Ending = n.Ending
			return finish(n, v, a)
		}
	}
}

// giveUp stops the turn of a question that nobody waits for any more, or has it
// stopped when it begins.
func (m *mind) giveUp(session, id string, v *viewer) {
	m.withdrawn.add(id) // before the look at the turn: a turn looks the other way round
	v.mu.Lock()
	begun := v.turn != ""
	v.mu.Unlock()
	if begun {
		m.runner.Stop(consoleSource, session)
	}
}

// finish fills in the answer of a turn that has ended.
func finish(n control.ChatNews, v *viewer, a *control.Answer) error {
	switch turn.Ending(n.Ending) {
	case turn.Stopped:
		return control.Errorf(call.CallCancelled, "the turn was stopped")
	case turn.Damaged:
		return control.Errorf(call.Internal, "%s", n.Error)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// However its delivery went: here it is.
	a.Text = v.reply
	return nil
}
