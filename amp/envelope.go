package amp

import (
	"bytes"
	"encoding/json"
	"time"
)

// Protocol is the value of header.protocol, and the only version there is.
const Protocol = "amp/1.0"

// An Envelope is one event.
type Envelope struct {
	Header  Header
	Payload Payload
}

// A Header says what an event is and where it comes from.
type Header struct {
	// Method is the kind of signal the event was made from.
	Method Method
	// MessageID names the event. It is unique within its source app, has 1 to
	// 512 characters, and is what consumers deduplicate by.
	MessageID string
	// Timestamp is when it happened, by the source's clock, with its zone.
	Timestamp time.Time
	Source    Source
	// Aurora is what Aurora itself adds; nil in an envelope an app sends.
	Aurora *Aurora
	// Extra holds header fields this version does not know.
	Extra map[string]json.RawMessage
}

// A Source names the app an event comes from.
type Source struct {
	// App is the package of the connection the event came over. An app cannot
	// choose it.
	App string `json:"app"`
	// Instance tells several instances of one app apart: Aurora's key of the
	// app, or the app's own value (an account, say).
	Instance string `json:"instance,omitempty"`
}

// Trust says how far an app's words are believed.
type Trust string

// The levels of trust.
const (
	TrustLow    Trust = "low"
	TrustNormal Trust = "normal"
	TrustHigh   Trust = "high"
)

// Aurora is the header's extension: what Aurora knows of an event beyond what
// its source said.
type Aurora struct {
	// Seq orders events of one home: a later event has a higher number. File
	// names do not order.
	Seq uint64 `json:"seq"`
	// ReceivedAt is when Aurora got the event, by Aurora's clock.
	ReceivedAt time.Time `json:"received_at"`
	// TraceID follows an event through everything it causes.
	TraceID string `json:"trace_id,omitempty"`
	// Sender is the person behind the event, "package:user_id". It is set only
	// for apps that may speak for people.
	Sender string `json:"sender,omitempty"`
	// Trust is that of the source app.
	Trust Trust `json:"trust,omitempty"`
}

// A Payload is what an event says.
type Payload struct {
	// Type is the dotted type of the event, 1 to 200 characters.
	Type string
	// SessionID is the conversation it belongs to; empty outside one.
	SessionID string
	// Summary is one line for people.
	Summary string
	// Data is the event's own JSON value; nil when there is none.
	Data json.RawMessage
	// ExpireAt is when the event stops being worth delivering; zero: never.
	ExpireAt time.Time
	// Extra holds payload fields this version does not know.
	Extra map[string]json.RawMessage
}

// Expired reports whether the event was no longer worth delivering at now.
func (e *Envelope) Expired(now time.Time) bool {
	return !e.Payload.ExpireAt.IsZero() && !now.Before(e.Payload.ExpireAt)
}

// MarshalJSON writes the envelope as one JSON object. Optional fields without a
// value are left out, but for expire_at, which is null then.
func (e Envelope) MarshalJSON() ([]byte, error) {
	header, err := object(e.Header.Extra,
		field{"protocol", Protocol},
		field{"method", e.Header.Method},
		field{"message_id", e.Header.MessageID},
		field{"timestamp", e.Header.Timestamp},
		field{"source", e.Header.Source},
		optional("aurora", e.Header.Aurora, e.Header.Aurora != nil),
	)
	if err != nil {
		return nil, err
	}
	var expire any
	if !e.Payload.ExpireAt.IsZero() {
		expire = e.Payload.ExpireAt
	}
	payload, err := object(e.Payload.Extra,
		field{"type", e.Payload.Type},
		optional("session_id", e.Payload.SessionID, e.Payload.SessionID != ""),
		optional("summary", e.Payload.Summary, e.Payload.Summary != ""),
		optional("data", e.Payload.Data, len(e.Payload.Data) > 0),
		field{"expire_at", expire},
	)
	if err != nil {
		return nil, err
	}
	return object(nil, field{"header", json.RawMessage(header)}, field{"payload", json.RawMessage(payload)})
}

// A field is one member of a JSON object; one without a name is left out.
type field struct {
	name  string
	value any
}

func optional(name string, value any, present bool) field {
	if !present {
		return field{}
	}
	return field{name, value}
}

// object writes fields in the order given, then extra in the order of its keys.
func object(extra map[string]json.RawMessage, fields ...field) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	add := func(name string, value any) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := enc.Encode(name); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode ends with a newline
		b.WriteByte(':')
		if err := enc.Encode(value); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1)
		return nil
	}
	for _, f := range fields {
		if f.name == "" {
			continue
		}
		if err := add(f.name, f.value); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(extra) {
		if err := add(name, extra[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
