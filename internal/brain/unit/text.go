package unit

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/short"
)

// The bounds of a line, in characters: of what an event that is no message says
// beside its summary, and of a speaker's name.
const (
	maxDetail = 4000
	maxName   = 64
)

// A Message is one thing that somebody said.
type Message struct {
	amp.Message
	// Sender is the person, "package:user_id"; empty unless the app may speak
	// for people.
	Sender string
	// At is when it was said, by the source's clock.
	At time.Time
}

// Messages returns what people said, in order.
func (u *Unit) Messages() []Message {
	var all []Message
	for _, e := range u.Events {
		if m, ok := MessageOf(e); ok {
			all = append(all, m)
		}
	}
	return all
}

// MessageOf returns what an event says that somebody said; false for other
// events.
func MessageOf(e *amp.Envelope) (Message, bool) {
	m := Message{At: e.Header.Timestamp}
	if e.Payload.Type != amp.TypeMessageReceived || json.Unmarshal(e.Payload.Data, &m.Message) != nil {
		return Message{}, false
	}
	if a := e.Header.Aurora; a != nil {
		m.Sender = a.Sender
	}
	return m, true
}

// Private reports whether nothing in the unit was said in a group.
func (u *Unit) Private() bool {
	for _, m := range u.Messages() {
		if m.IsGroup {
			return false
		}
	}
	return true
}

// Speaker returns how to call the person who said m: "Name (id)", or what is
// known of that. People choose their names: one that could pass for somebody else's
// line, or for an event, stands in quotes.
func (m *Message) Speaker() string {
	name, id := inline(m.UserName, maxName), inline(m.UserID, maxName)
	if name != id && strings.ContainsAny(name, `:：()（）[]【】"`) {
		name = `"` + strings.ReplaceAll(name, `"`, "'") + `"`
	}
	switch {
	case name == "" && id == "":
		return "?"
	case name == "" || name == id:
		return id
	case id == "":
		return name
	}
	return name + " (" + id + ")"
}

// Text returns what happened, an event a line: what was said in private as it
// was said, in a group with the speaker before it, anything else as "[type] what".
// Further lines of a group message or an event are indented.
func Text(events []*amp.Envelope) string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = Line(e, maxDetail)
	}
	return strings.Join(lines, "\n")
}

// Line returns one event as [Text] does. detail bounds, in characters, what an
// event that is no message says beside its summary.
func Line(e *amp.Envelope, detail int) string {
	if m, ok := MessageOf(e); ok {
		if !m.IsGroup {
			return m.Text
		}
		return m.Speaker() + ": " + indent(m.Text)
	}
	parts := []string{"[" + inline(e.Payload.Type, amp.MaxType) + "]"}
	if s := strings.TrimSpace(e.Payload.Summary); s != "" {
		parts = append(parts, short.Runes(s, detail))
	}
	if d := details(e); d != "" {
		parts = append(parts, short.Runes(d, detail))
	}
	return indent(strings.Join(parts, " "))
}

// details returns what an event says beside its summary. Aurora's own summaries
// say all, but for the result of a tool.
func details(e *amp.Envelope) string {
	if end, ok := ToolEndOf(e); ok {
		return resultText(end.Result)
	}
	if len(e.Payload.Data) == 0 || e.Payload.Summary != "" && e.Header.Method != amp.MethodEvent {
		return ""
	}
	return compact(e.Payload.Data)
}

// ToolEndOf returns how the call ended whose end an event tells; false for other
// events.
func ToolEndOf(e *amp.Envelope) (amp.ToolEnd, bool) {
	var end amp.ToolEnd
	switch e.Payload.Type {
	case amp.TypeToolCompleted, amp.TypeToolFailed:
		return end, json.Unmarshal(e.Payload.Data, &end) == nil
	}
	return end, false
}

// resultText returns the text of a tool result, or else its JSON.
func resultText(result []byte) string {
	if len(result) == 0 {
		return ""
	}
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	var texts []string
	if json.Unmarshal(result, &r) == nil {
		for _, c := range r.Content {
			if c.Type == "text" && c.Text != "" {
				texts = append(texts, c.Text)
			}
		}
	}
	if len(texts) == 0 {
		return compact(result)
	}
	return strings.Join(texts, "\n")
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// indent moves all lines but the first away from the margin.
func indent(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\n", "\n  "))
}

// inline returns s as a part of one line: without characters that are none or
// begin a new line, at most n characters.
func inline(s string, n int) string {
	fields := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return short.Runes(strings.Join(fields, " "), n)
}
