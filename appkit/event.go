package appkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/aurorabot/aurora/amp"
)

// An Event is something that happened and that an app tells by itself. Aurora
// takes it only if the app's configuration or manifest names its type under
// events.
type Event struct {
	// Type is the dotted type, such as weather.reported. It must be there.
	Type string
	// SessionID is the conversation the event belongs to; empty outside one.
	SessionID string
	// Summary is one line for people.
	Summary string
	// Data is encoded as JSON; nil: none.
	Data any
	// Time is when it happened; zero: when it is emitted.
	Time time.Time
	// ExpireAt is when it stops being worth delivering; zero: never.
	ExpireAt time.Time
	// ID names the event. Aurora delivers an id once, so whoever may emit the
	// same event twice gives it the same id. Empty: a new UUIDv7.
	ID string
	// Instance tells several accounts of one app apart; empty: there is one.
	Instance string
}

// ErrKept says that an event is not known to be durable yet. It is kept and sent
// again, after a restart too, with the same id: the caller need not do it again.
var ErrKept = errors.New("the event is kept and will be sent again")

// ErrOutboxFull says that an event was not taken because too many wait.
var ErrOutboxFull = errors.New("too many events wait to be acknowledged")

// envelope writes the event as the params of aurora/event.
func (e *Event) envelope(app string) ([]byte, error) {
	if e.ID == "" {
		e.ID = uuid.Must(uuid.NewV7()).String()
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	out := amp.Envelope{
		Header: amp.Header{
			Method: amp.MethodEvent, MessageID: e.ID, Timestamp: e.Time,
			Source: amp.Source{App: app, Instance: e.Instance},
		},
		Payload: amp.Payload{Type: e.Type, SessionID: e.SessionID, Summary: e.Summary, ExpireAt: e.ExpireAt},
	}
	if e.Data != nil {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return nil, fmt.Errorf("event %s: data: %w", e.Type, err)
		}
		if len(data) > amp.MaxData {
			return nil, fmt.Errorf("event %s: data has %d bytes, at most %d are allowed", e.Type, len(data), amp.MaxData)
		}
		out.Payload.Data = data
	}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Type, err)
	}
	return out.MarshalJSON()
}
