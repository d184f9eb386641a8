package trace

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/turn"
)

// A way makes steps of the records of a turn: what was begun and how it ended
// become one step.
type way struct {
	unit, file string
	steps      []Step
	open       map[string]int // index in steps of what has begun and not ended
	outcome    string
}

func (w *way) add(number int, r turn.Record) {
	s := Step{Node: "externalizer", Unit: w.unit, At: r.At, MS: r.MS, File: w.file, Line: number, Call: r.Call, Name: r.Name, Outcome: r.Outcome}
	switch r.Kind {
	case turn.KindBegin:
		s.Kind, s.What = KindTurn, "the turn begins: "+line(r.Text)
	case turn.KindCommand:
		s.Kind, s.What = KindCommand, "/"+r.Name+": "+line(r.Text)
	case turn.KindRequest:
		s.Kind, s.What = KindModel, fmt.Sprintf("%s, %s", brain.Count(r.Messages, "message"), brain.Count(r.Tools, "tool"))
		if r.Bound != "" {
			s.What += ", the last request (" + r.Bound + ")"
		}
		s.Outcome = "no answer"
		w.begin(fmt.Sprint("model ", r.Step), s)
		return
	case turn.KindAnswer:
		w.end(fmt.Sprint("model ", r.Step), r, answered(r), cmp.Or(r.Error, "ok"))
		return
	case turn.KindIntent:
		s.Kind, s.Node, s.What, s.Size = KindCall, "platform", line(string(r.Args)), int64(len(r.Args))
		s.Outcome = "no result"
		w.begin(r.Call, s)
		return
	case turn.KindResult:
		if _, known := w.open[r.Call]; !known { // nothing was called
			s.Kind, s.Size = KindCall, int64(len(r.Text))
			s.What = line(r.Text)
			break
		}
		w.end(r.Call, r, line(r.Text), r.Outcome)
		return
	case turn.KindPrompt:
		s.Kind, s.Node, s.What, s.Size = KindPrompt, "platform", line(string(r.Args)), int64(r.Size)
	case turn.KindStop:
		s.Kind, s.What = KindStop, "stopped by a person"
	case turn.KindReplyIntent:
		s.Kind, s.Node, s.What, s.Size = KindReply, "platform", line(r.Text), int64(len(r.Text))
		s.Outcome = "unknown"
		w.begin(r.Call, s)
		return
	case turn.KindReplyResult:
		w.end(r.Call, r, line(r.Error), r.Outcome)
		return
	case turn.KindEnd:
		s.Kind, s.What = KindEnd, ended(r)
		w.outcome = r.Outcome
	default:
		return
	}
	w.steps = append(w.steps, s)
}

// begin adds a step whose end comes later.
func (w *way) begin(key string, s Step) {
	if w.open == nil {
		w.open = map[string]int{}
	}
	w.open[key] = len(w.steps)
	w.steps = append(w.steps, s)
}

// end completes a step.
func (w *way) end(key string, r turn.Record, what, outcome string) {
	i, ok := w.open[key]
	if !ok {
		return
	}
	s := &w.steps[i]
	s.MS, s.Outcome = r.MS, outcome
	if r.Size > 0 {
		s.Size = int64(r.Size)
	} else if r.Text != "" {
		s.Size = int64(len(r.Text))
	}
	if what != "" {
		s.What += " → " + what
	}
	if r.Kept != "" {
		s.What += " (whole: " + r.Kept + ")"
	}
}

// answered says what a model answered.
func answered(r turn.Record) string {
	var parts []string
	if r.Text != "" {
		parts = append(parts, line(r.Text))
	}
	for _, c := range r.Calls {
		parts = append(parts, line(c.Name+c.Arguments))
	}
	for _, p := range r.Prompts {
		parts = append(parts, line(p.Name+string(p.Arguments)))
	}
	if r.Usage != nil {
		parts = append(parts, brain.Count(r.Usage.Total(), "token"))
	}
	return strings.Join(parts, "; ")
}

// ended says how a turn ended.
func ended(r turn.Record) string {
	what := map[turn.Ending]string{
		turn.Answered:    "answered",
		turn.Silent:      "nothing was to be said",
		turn.Mute:        "the source cannot be answered",
		turn.Undelivered: "the reply was not delivered",
		turn.Refused:     "the reply was refused",
		turn.Uncertain:   "the reply may or may not have been delivered; it is not sent again",
		turn.Stopped:     "stopped by a person",
		turn.Damaged:     "closed, for the journal is damaged",
	}[turn.Ending(r.Outcome)]
	what = cmp.Or(what, r.Outcome)
	if r.Bound != "" {
		what += ", at the bound of " + r.Bound
	}
	if r.Tokens > 0 {
		what += ", " + brain.Count(r.Tokens, "token")
	}
	if r.Error != "" {
		what += ": " + line(r.Error)
	}
	return what
}
