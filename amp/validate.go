package amp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of amp/1.0, in characters.
const (
	MaxType      = 200
	MaxMessageID = 512
)

// MaxData is how large the data of an event may be that an app sends to Aurora,
// in bytes.
const MaxData = 1 << 20

// MaxDepth is how deep an event may nest. Readers of JSON have limits of their own,
// and an event travels within other files.
const MaxDepth = 1000

// A Problem is one fault of an envelope.
type Problem struct {
	Path    string // the place, such as "header.timestamp"
	Message string // what is wrong and what would be right
}

// String returns the path and the message.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// An Invalid error lists everything that is wrong with an envelope.
type Invalid struct{ Problems []Problem }

// Error returns all problems in one line.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.String()
	}
	return "invalid event: " + strings.Join(parts, "; ")
}

// Validate reports everything that is wrong with the envelope as an [*Invalid],
// or nil.
func (e *Envelope) Validate() error {
	var c checker
	e.check(&c)
	return c.err()
}

// check adds what is wrong with the envelope, one problem a place.
func (e *Envelope) check(c *checker) {
	if !knownMethod(e.Header.Method) {
		c.addf("header.method", "%q is not a method of %s (%s)", e.Header.Method, Protocol, methodList())
	}
	c.messageID("header.message_id", e.Header.MessageID)
	if e.Header.Timestamp.IsZero() {
		c.addf("header.timestamp", "is missing")
	}
	if e.Header.Source.App == "" {
		c.addf("header.source.app", "is missing")
	}
	c.eventType("payload.type", e.Payload.Type)
	if len(e.Payload.Data) > 0 && !json.Valid(e.Payload.Data) {
		c.addf("payload.data", "is not valid JSON")
	}
}

// checker collects problems.
type checker struct{ problems []Problem }

// addf adds a problem unless its place has one already: the first says more.
func (c *checker) addf(path, format string, args ...any) {
	for _, p := range c.problems {
		if p.Path == path || strings.HasPrefix(path, p.Path+".") {
			return
		}
	}
	c.problems = append(c.problems, Problem{path, fmt.Sprintf(format, args...)})
}

func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return &Invalid{c.problems}
}

func (c *checker) messageID(path, id string) {
	switch n := utf8.RuneCountInString(id); {
	case n == 0:
		c.addf(path, "is missing")
	case n > MaxMessageID:
		c.addf(path, "has %d characters, at most %d are allowed", n, MaxMessageID)
	}
}

func (c *checker) eventType(path, typ string) {
	switch n := utf8.RuneCountInString(typ); {
	case n == 0:
		c.addf(path, "is missing")
	case n > MaxType:
		c.addf(path, "has %d characters, at most %d are allowed", n, MaxType)
	}
	if i := strings.IndexFunc(typ, isControl); i >= 0 {
		c.addf(path, "has a control character at byte %d", i)
	}
}

func isControl(r rune) bool { return r < 0x20 || (r >= 0x7f && r < 0xa0) }

func knownMethod(m Method) bool {
	for _, known := range Methods() {
		if m == known {
			return true
		}
	}
	return false
}

func methodList() string {
	var names []string
	for _, m := range Methods() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}
