package unit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/spool"
)

// A Unit is what the brain takes up at once.
type Unit struct {
	// ID names the unit, and the turn it may cause. It fits into a file name.
	ID string
	// TraceID is that of the first event.
	TraceID string
	// Session is the conversation, in the words of the source; empty outside one.
	Session string
	// Source is the app and instance that the session belongs to. An answer goes
	// there. It is the source of the events, but for the result of a call that
	// was made for another app's session: there it is that app.
	Source amp.Source
	// Sender is the person who speaks, "package:user_id". It is empty when
	// nobody is known, and when what wakes comes from several people.
	Sender string
	// Trust is that of the least trusted event.
	Trust amp.Trust
	// Wake says that the unit starts a turn.
	Wake bool
	// WokenBy is the type of the first event that wakes.
	WokenBy string
	// Note says why a unit that might have been expected to wake does not.
	Note string
	// Seq orders the units of a session; it is the first event's.
	Seq uint64
	// Events are the events themselves, at least one, in their order.
	Events []*amp.Envelope
	// Text is what happened, for people and models.
	Text string
	// Created is when the unit was made.
	Created time.Time
	// Narrative is what was written to the stream; empty before that.
	Narrative string
}

// ID returns the id of the unit whose first event this is. A keeper who puts an
// event back after its end wants another unit of it; requeued says when that
// was, and is zero otherwise.
func ID(first *amp.Envelope, requeued time.Time) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d\x00%s%s", len(first.Header.Source.App), first.Header.Source.App, first.Header.MessageID)
	if !requeued.IsZero() {
		_, _ = fmt.Fprintf(h, "\x00%d", requeued.UnixNano())
	}
	id := h.Sum(nil)[:16]
	id[6] = id[6]&0x0f | 0x80 // version 8: made by a rule of our own (RFC 9562, 5.8)
	id[8] = id[8]&0x3f | 0x80
	text := hex.EncodeToString(id)
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// FileName returns the name of the file of the unit with this id.
func FileName(id string) string { return "unit_" + id + ".json" }

// MarkerName returns the name of the file which says that the unit with this id
// was written to the stream.
func MarkerName(id string) string { return "int_" + id + ".json" }

// TurnOf returns the turn that a call was made in: the brain names its calls
// "<turn>/<step>/<number>", and a turn has the id of its unit.
func TurnOf(callID string) (turn string, ok bool) {
	turn, _, ok = strings.Cut(callID, "/")
	return turn, ok && plainID(turn)
}

// Lane names what keeps its order: the session, or else the unit alone.
func (u *Unit) Lane() string {
	if u.Session == "" {
		return u.ID
	}
	return lane(u.Source, u.Session)
}

func lane(source amp.Source, session string) string {
	return source.App + "\x00" + source.Instance + "\x00" + session
}

// Place returns where the unit stands in a queue.
func (u *Unit) Place() spool.Place { return spool.Place{Seq: u.Seq, Lane: u.Lane()} }

// Inspect returns the place of a unit file; it is what a queue of units is
// opened with.
func Inspect(data []byte) (spool.Place, error) {
	u, err := Parse(data)
	if err != nil {
		return spool.Place{}, err
	}
	return u.Place(), nil
}

// EventPlace returns the place of an event.
func EventPlace(e *amp.Envelope) spool.Place {
	p := spool.Place{Lane: lane(e.Header.Source, e.Payload.SessionID)}
	if e.Header.Aurora != nil {
		p.Seq = e.Header.Aurora.Seq
	}
	return p
}

// InspectEvent returns the place of an event file; it is what a queue of events
// is opened with.
func InspectEvent(data []byte) (spool.Place, error) {
	e, err := amp.Parse(data)
	if err != nil {
		return spool.Place{}, err
	}
	return EventPlace(e), nil
}

// wire is a unit as it stands in a file.
type wire struct {
	ID        string            `json:"id"`
	TraceID   string            `json:"trace_id"`
	Session   string            `json:"session,omitempty"`
	Source    amp.Source        `json:"source"`
	Sender    string            `json:"sender,omitempty"`
	Trust     amp.Trust         `json:"trust"`
	Wake      bool              `json:"wake"`
	WokenBy   string            `json:"woken_by,omitempty"`
	Note      string            `json:"note,omitempty"`
	Seq       uint64            `json:"seq"`
	Events    []json.RawMessage `json:"events"`
	Text      string            `json:"text"`
	Narrative string            `json:"narrative,omitempty"`
	Created   time.Time         `json:"created"`
}

// Encode returns the content of the unit's file: one JSON object and a newline.
func (u *Unit) Encode() ([]byte, error) {
	w := wire{
		ID: u.ID, TraceID: u.TraceID, Session: u.Session, Source: u.Source, Sender: u.Sender, Trust: u.Trust,
		Wake: u.Wake, WokenBy: u.WokenBy, Note: u.Note, Seq: u.Seq, Text: u.Text, Narrative: u.Narrative, Created: u.Created,
		Events: make([]json.RawMessage, len(u.Events)),
	}
	for i, e := range u.Events {
		data, err := e.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write unit: event %d: %w", i, err)
		}
		w.Events[i] = data
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, fmt.Errorf("write unit: %w", err)
	}
	return b.Bytes(), nil
}

// Parse reads the file of a unit.
func Parse(data []byte) (*Unit, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("read unit: %w", err)
	}
	switch {
	case !plainID(w.ID):
		return nil, errors.New("read unit: id is missing or not one")
	case w.Source.App == "":
		return nil, errors.New("read unit: source.app is missing")
	case len(w.Events) == 0:
		return nil, errors.New("read unit: it has no events")
	}
	u := &Unit{
		ID: w.ID, TraceID: w.TraceID, Session: w.Session, Source: w.Source, Sender: w.Sender, Trust: w.Trust,
		Wake: w.Wake, WokenBy: w.WokenBy, Note: w.Note, Seq: w.Seq, Text: w.Text, Narrative: w.Narrative, Created: w.Created,
		Events: make([]*amp.Envelope, len(w.Events)),
	}
	for i, raw := range w.Events {
		e, err := amp.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("read unit: event %d: %w", i, err)
		}
		u.Events[i] = e
	}
	return u, nil
}

// plainID tells ids that are safe in file names.
func plainID(id string) bool {
	for _, r := range id {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// Has reports whether the event is part of the unit.
func (u *Unit) Has(e *amp.Envelope) bool {
	for _, mine := range u.Events {
		if mine.Header.Source.App == e.Header.Source.App && mine.Header.MessageID == e.Header.MessageID {
			return true
		}
	}
	return false
}
