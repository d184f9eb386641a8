package daemon

import (
	"context"
	"slices"
	"sync"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/apps/console"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// The news that may wait for a viewer. Beyond it, pieces of answers and calls are
// left out, and texts are not taken.
const (
	maxNews      = 2000
	maxNewsBytes = 4 << 20
)

// viewers are those who look at sessions of the console.
type viewers struct {
	mu     sync.Mutex // guards what follows
	all    map[string][]*viewer
	closed bool
}

// A viewer looks at one session.
type viewer struct {
	// question is the id of a message: only the turn that answers it counts.
	// Empty: everything does.
	question string

	wake chan struct{} // cap 1: there is news, or the end

	mu    sync.Mutex // guards what follows
	queue []control.ChatNews
	bytes int
	over  bool
	// What follows is for a question.
	turn, trace string
	reply       string // what the turn says; valid if answered
	answered    bool
	calls       []control.ToolCall
}

// enter adds a viewer of a session.
func (vs *viewers) enter(session, question string) *viewer {
	v := &viewer{question: question, wake: make(chan struct{}, 1), calls: []control.ToolCall{}}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.closed {
		v.over = true
		v.wake <- struct{}{}
		return v
	}
	if vs.all == nil {
		vs.all = make(map[string][]*viewer)
	}
	vs.all[session] = append(vs.all[session], v)
	return v
}

func (vs *viewers) leave(session string, v *viewer) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(vs.all[session]), func(other *viewer) bool { return other == v })
	if len(left) == 0 {
		delete(vs.all, session)
		return
	}
	vs.all[session] = left
}

// close ends all looking.
func (vs *viewers) close() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.closed = true
	for _, some := range vs.all {
		for _, v := range some {
			v.mu.Lock()
			v.over = true
			v.stir()
			v.mu.Unlock()
		}
	}
}

// of returns those who look at the session of a unit.
func (vs *viewers) of(u *unit.Unit) []*viewer {
	if u.Source.App != console.Package {
		return nil
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.all[u.Session]
}

// delta tells of a piece of an answer. It never blocks.
func (vs *viewers) delta(u *unit.Unit, text string) {
	for _, v := range vs.of(u) {
		v.push(control.ChatNews{Kind: control.ChatDelta, Turn: u.ID, Text: text})
	}
}

// record tells of a step of a turn. It never blocks.
func (vs *viewers) record(u *unit.Unit, r turn.Record) {
	some := vs.of(u)
	if len(some) == 0 {
		return
	}
	n := control.ChatNews{Turn: u.ID}
	switch r.Kind {
	case turn.KindBegin:
		n.Kind, n.Messages = control.ChatBegin, messages(u.Events)
	case turn.KindIntent:
		n.Kind, n.Call = control.ChatCall, &control.ToolCall{Call: r.Call, Tool: r.Name, App: r.App}
	case turn.KindResult:
		n.Kind, n.Call = control.ChatResult, &control.ToolCall{Call: r.Call, Tool: r.Name, App: r.App, Outcome: r.Outcome, DurationMS: r.MS}
	case turn.KindReplyIntent:
		for _, v := range some {
			v.answers(u.ID, r.Text)
		}
		return
	case turn.KindEnd:
		n.Kind, n.Ending, n.Error = control.ChatEnd, r.Outcome, r.Error
	default:
		return
	}
	for _, v := range some {
		v.follow(u, n)
	}
}

func messages(events []*amp.Envelope) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.Header.MessageID
	}
	return ids
}

// follow passes a step on, and notes what a question wants to know of its turn.
func (v *viewer) follow(u *unit.Unit, n control.ChatNews) {
	if v.question != "" {
		v.mu.Lock()
		switch {
		case n.Kind == control.ChatBegin && slices.Contains(n.Messages, v.question):
			v.turn, v.trace = u.ID, u.TraceID
		case n.Kind == control.ChatResult && n.Turn == v.turn:
			v.calls = append(v.calls, *n.Call)
		}
		v.mu.Unlock()
	}
	v.push(n)
}

// answers notes what the turn of a question is about to say.
func (v *viewer) answers(turn, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.question != "" && turn == v.turn {
		v.reply, v.answered = text, true
	}
}

// show is the viewer as a screen of the console. A question takes only its answer.
func (v *viewer) show(t console.Text) bool {
	if v.question != "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.answered && !v.over && t.Text == v.reply
	}
	return v.push(control.ChatNews{Kind: control.ChatText, Text: t.Text, At: t.At, Kept: t.Kept})
}

// push adds news and reports whether it was taken.
func (v *viewer) push(n control.ChatNews) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over || v.question != "" && n.Turn != v.turn {
		return false
	}
	room := len(v.queue) < maxNews && v.bytes+len(n.Text) <= maxNewsBytes
	switch n.Kind {
	case control.ChatBegin, control.ChatEnd: // without these a viewer would wait for ever
	case control.ChatDelta:
		if last := len(v.queue) - 1; room && last >= 0 && v.queue[last].Kind == control.ChatDelta && v.queue[last].Turn == n.Turn {
			v.queue[last].Text += n.Text
			v.bytes += len(n.Text)
			v.stir()
			return true
		}
		fallthrough
	default:
		if !room && !n.Kept {
			return false
		}
	}
	v.queue = append(v.queue, n)
	v.bytes += len(n.Text)
	v.stir()
	return true
}

// stir wakes the viewer; v.mu is held, or nobody else knows v yet.
func (v *viewer) stir() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// next returns the next news, and waits for it.
func (v *viewer) next(ctx context.Context) (control.ChatNews, error) {
	for {
		v.mu.Lock()
		if len(v.queue) > 0 {
			n := v.queue[0]
			v.queue = v.queue[1:]
			v.bytes -= len(n.Text)
			v.mu.Unlock()
			return n, nil
		}
		over := v.over
		v.mu.Unlock()
		if over {
			return control.ChatNews{}, control.Errorf(call.ShuttingDown, "Aurora is stopping; what is said already is answered after the next start")
		}
		select {
		case <-v.wake:
		case <-ctx.Done():
			return control.ChatNews{}, ctx.Err()
		}
	}
}

// kept returns the next news if it is a text that waited for a screen.
func (v *viewer) kept() (control.ChatNews, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 || !v.queue[0].Kept {
		return control.ChatNews{}, false
	}
	n := v.queue[0]
	v.queue = v.queue[1:]
	v.bytes -= len(n.Text)
	return n, true
}

// rest takes what was not told. The viewer takes nothing more.
func (v *viewer) rest() []control.ChatNews {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	left := v.queue
	v.queue = nil
	return left
}
