package amp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Parse reads one envelope. Its error is an [*Invalid] that lists every fault
// with its place, or says that data is not JSON at all.
//
// message_id, timestamp, source.app and type must be there; the protocol must be
// amp/1.0; times must carry a zone (RFC 3339).
func Parse(data []byte) (*Envelope, error) {
	var c checker
	top := c.members("", data)
	if top == nil {
		return nil, c.err()
	}
	e := new(Envelope)
	if raw, ok := top["header"]; ok {
		c.header(&e.Header, raw)
	} else {
		c.addf("header", "is missing")
	}
	if raw, ok := top["payload"]; ok {
		c.payload(&e.Payload, "payload", raw)
	} else {
		c.addf("payload", "is missing")
	}
	e.check(&c)
	if err := c.err(); err != nil {
		return nil, err
	}
	return e, nil
}

// An Emission is an event as an app sends it: a whole envelope, or only what the
// app wants to say, for Aurora to complete.
type Emission struct {
	// MessageID is the app's own id; empty: Aurora gives one.
	MessageID string
	// Timestamp is when it happened; zero: when it arrives.
	Timestamp time.Time
	// Source is what the app claims. Aurora replaces App; Instance is kept.
	Source Source
	Payload
}

// ParseEmission reads what an app sent with aurora/event: a whole envelope, or
// the bare form {type, session_id, summary, data, expire_at, message_id}. Only
// the type must be there; what is there must be right.
func ParseEmission(data []byte) (*Emission, error) {
	var c checker
	top := c.members("", data)
	if top == nil {
		return nil, c.err()
	}
	em := new(Emission)
	if raw, whole := top["header"]; whole {
		header := c.members("header", raw)
		if v, ok := header["protocol"]; ok {
			c.protocol(v)
		}
		em.MessageID = c.text("header.message_id", header["message_id"])
		em.Timestamp = c.time("header.timestamp", header["timestamp"])
		if v, ok := header["source"]; ok {
			c.source(&em.Source, v)
		}
		if raw, ok := top["payload"]; ok {
			c.payload(&em.Payload, "payload", raw)
		} else {
			c.addf("payload", "is missing")
		}
	} else {
		em.MessageID = c.text("message_id", top["message_id"])
		em.Timestamp = c.time("timestamp", top["timestamp"])
		delete(top, "message_id")
		delete(top, "timestamp")
		c.payloadMembers(&em.Payload, "", top)
	}
	where := "type"
	if _, whole := top["header"]; whole {
		where = "payload.type"
	}
	c.eventType(where, em.Type)
	if em.MessageID != "" {
		c.messageID("message_id", em.MessageID)
	}
	return em, c.err()
}

func (c *checker) header(h *Header, raw json.RawMessage) {
	m := c.members("header", raw)
	if m == nil {
		return
	}
	c.protocol(m["protocol"])
	h.Method = Method(c.text("header.method", m["method"]))
	h.MessageID = c.text("header.message_id", m["message_id"])
	h.Timestamp = c.time("header.timestamp", m["timestamp"])
	if v, ok := m["source"]; ok {
		c.source(&h.Source, v)
	}
	if v, ok := m["aurora"]; ok && !isNull(v) {
		h.Aurora = new(Aurora)
		if err := json.Unmarshal(v, h.Aurora); err != nil {
			c.addf("header.aurora", "%v", err)
		}
	}
	h.Extra = rest(m, "protocol", "method", "message_id", "timestamp", "source", "aurora")
}

func (c *checker) protocol(raw json.RawMessage) {
	if got := c.text("header.protocol", raw); got != Protocol {
		c.addf("header.protocol", "is %q, this program reads %q", got, Protocol)
	}
}

func (c *checker) source(s *Source, raw json.RawMessage) {
	m := c.members("header.source", raw)
	s.App = c.text("header.source.app", m["app"])
	s.Instance = c.text("header.source.instance", m["instance"])
}

func (c *checker) payload(p *Payload, path string, raw json.RawMessage) {
	if m := c.members(path, raw); m != nil {
		c.payloadMembers(p, path+".", m)
	}
}

func (c *checker) payloadMembers(p *Payload, prefix string, m map[string]json.RawMessage) {
	p.Type = c.text(prefix+"type", m["type"])
	p.SessionID = c.text(prefix+"session_id", m["session_id"])
	p.Summary = c.text(prefix+"summary", m["summary"])
	p.ExpireAt = c.time(prefix+"expire_at", m["expire_at"])
	if v, ok := m["data"]; ok && !isNull(v) {
		p.Data = v
	}
	p.Extra = rest(m, "type", "session_id", "summary", "expire_at", "data")
}

// members decodes an object without touching its values. It returns nil when
// raw is none, having said so.
func (c *checker) members(path string, raw []byte) map[string]json.RawMessage {
	where := path
	if where == "" {
		where = "event"
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		c.addf(where, "must be a JSON object: %v", err)
		return nil
	}
	if m == nil {
		c.addf(where, "must be a JSON object, not null")
	}
	if path == "" && depth(raw) > MaxDepth {
		c.addf(where, "nests deeper than %d levels", MaxDepth)
		return nil
	}
	return m
}

// depth returns how deep valid JSON nests.
func depth(raw []byte) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}

// text decodes an optional string: absent and null are "".
func (c *checker) text(path string, raw json.RawMessage) string {
	if len(raw) == 0 || isNull(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		c.addf(path, "must be a string, not %s", excerpt(raw))
	}
	return s
}

// time decodes an optional time: absent and null are the zero time.
func (c *checker) time(path string, raw json.RawMessage) time.Time {
	if len(raw) == 0 || isNull(raw) {
		return time.Time{}
	}
	s := c.text(path, raw)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		c.addf(path, "must be RFC 3339 with a time zone, like 2026-06-17T14:30:00+08:00, not %s", excerpt(raw))
		return time.Time{}
	}
	if y := t.Year(); y < 1 || y > 9999 {
		c.addf(path, "has the year %d", y)
		return time.Time{}
	}
	// The parser takes zones such as +24:00 that it would not write again.
	if _, err := t.MarshalText(); err != nil {
		c.addf(path, "has a time zone that there is not: %s", excerpt(raw))
		return time.Time{}
	}
	return t
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

func excerpt(raw []byte) string {
	const most = 60
	if len(raw) > most {
		return fmt.Sprintf("%s…", bytes.ToValidUTF8(raw[:most], nil))
	}
	return string(raw)
}

// rest returns the members that are not known, or nil.
func rest(m map[string]json.RawMessage, known ...string) map[string]json.RawMessage {
	var extra map[string]json.RawMessage
	for name, v := range m {
		if slices.Contains(known, name) {
			continue
		}
		if extra == nil {
			extra = make(map[string]json.RawMessage)
		}
		extra[name] = v
	}
	return extra
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
