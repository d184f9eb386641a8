package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

// The outcomes of a trace that are no endings of a turn.
const (
	open   = "open"
	noTurn = "no turn"
	given  = "dead"
)

// trace returns the way of units.
func (h home) trace(units []found) *Trace {
	first := units[0]
	t := &Trace{ID: first.TraceID, Session: first.Session, Source: first.Source.App, Sender: first.Sender}
	for _, u := range units {
		t.Outcome = h.walk(t, u)
	}
	return t
}

// alone returns the way of an event that has come no further than the inbox.
func (h home) alone(f file, e *amp.Envelope) *Trace {
	t := &Trace{ID: e.Header.MessageID, Session: e.Payload.SessionID, Source: e.Header.Source.App, Outcome: open}
	if a := e.Header.Aurora; a != nil {
		t.ID, t.Sender = cmp.Or(a.TraceID, t.ID), a.Sender
	}
	t.Steps = append(t.Steps, h.eventStep(e, f, true))
	switch {
	case dead(f):
		t.Outcome = given
	case !f.ended().IsZero():
		t.Outcome = noTurn
	}
	return t
}

func (h home) eventStep(e *amp.Envelope, f file, there bool) Step {
	s := Step{Kind: KindEvent, Node: "platform", At: e.Header.Timestamp, Name: e.Payload.Type, What: line(unit.Line(e, maxLine))}
	if e.Header.Aurora != nil && !e.Header.Aurora.ReceivedAt.IsZero() {
		s.At = e.Header.Aurora.ReceivedAt
	}
	if there {
		h.fill(&s, f)
	}
	return s
}

// fill says where the file of a step lies.
func (h home) fill(s *Step, f file) {
	s.File, s.State, s.Size = h.rel(f.path()), string(f.state), f.size
	if end := f.ended(); !end.IsZero() && !s.At.IsZero() {
		s.MS = max(0, end.Sub(s.At).Milliseconds())
	}
	if why := f.reason(); why != "" {
		s.What += " (" + line(why) + ")"
	}
}

// walk adds the steps of one unit and returns how it ended.
func (h home) walk(t *Trace, u found) string {
	outcome := open
	for _, e := range u.Events {
		f, there := h.inboxFile(e)
		s := h.eventStep(e, f, there)
		s.Unit = u.ID
		t.Steps = append(t.Steps, s)
	}
	s := Step{Kind: KindUnit, Node: "preprocessor", Unit: u.ID, At: u.Created, What: fmt.Sprintf("%s, wakes nobody", brain.Count(len(u.Events), "event"))}
	if u.Wake {
		s.What = fmt.Sprintf("%s, woken by %s", brain.Count(len(u.Events), "event"), u.WokenBy)
	} else if u.Note != "" {
		s.What += " (" + line(u.Note) + ")"
	}
	h.fill(&s, u.file)
	t.Steps = append(t.Steps, s)
	if dead(u.file) {
		outcome = given
	}
	if path, text, ok := h.passage(u.ID); ok {
		t.Steps = append(t.Steps, h.passageStep(u, path, text))
		if !u.Wake {
			outcome = noTurn
		}
	}
	if f, ok := h.marker(u.ID); ok {
		s := Step{Kind: KindMarker, Node: "internalizer", Unit: u.ID, What: "handed on to be answered"}
		if f.ended().IsZero() {
			s.At = f.mtime
		}
		h.fill(&s, f)
		t.Steps = append(t.Steps, s)
		if dead(f) {
			outcome = given
		}
	}
	if ending := h.turn(t, u.ID); ending != "" {
		outcome = ending
	}
	return outcome
}

func (h home) passageStep(u found, path, text string) Step {
	s := Step{Kind: KindStream, Node: "internalizer", Unit: u.ID, File: h.rel(path), Size: int64(len(text))}
	head, body, _ := strings.Cut(text, "\n")
	if at, err := time.ParseInLocation("## 2006-01-02 15:04:05", strings.TrimSpace(head), h.zone); err == nil {
		if s.At = at; at.Equal(u.Created.Truncate(time.Second)) {
			s.At = u.Created // a heading tells no parts of a second, and nothing goes back in time
		}
	} else {
		body = text
	}
	s.What = line(body)
	return s
}

// turn adds the steps of a turn and returns how it ended; "" when it has not.
func (h home) turn(t *Trace, id string) string {
	dir := h.kernel("turns")
	records, err := turn.Read(dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	file := h.rel(h.kernel("turns", turn.FileName(id)))
	if err != nil {
		t.Steps = append(t.Steps, Step{Kind: KindTurn, Node: "externalizer", Unit: id, File: file, What: line("cannot be read: " + err.Error())})
		return ""
	}
	w := way{unit: id, file: file}
	for i, r := range records {
		w.add(i+1, r)
	}
	inOrder(w.steps)
	t.Steps = append(t.Steps, w.steps...)
	return w.outcome
}

// inOrder brings calls that ran at the same time into the order of their numbers.
func inOrder(steps []Step) {
	for i := 0; i < len(steps); i++ {
		end := i
		for end < len(steps) && steps[end].Kind == KindCall {
			end++
		}
		slices.SortStableFunc(steps[i:end], func(a, b Step) int {
			return cmp.Or(cmp.Compare(len(a.Call), len(b.Call)), cmp.Compare(a.Call, b.Call))
		})
		i = max(i, end-1)
	}
}
