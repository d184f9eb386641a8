package trace

import (
	"strings"
	"time"
	"unicode"
)

// A Kind says what a step is.
type Kind string

// The kinds of steps, in the order of the way.
const (
	KindEvent   Kind = "event"   // a file in the inbox
	KindUnit    Kind = "unit"    // what events became together
	KindStream  Kind = "stream"  // the passage in the stream of consciousness
	KindMarker  Kind = "marker"  // the unit, handed on to be answered
	KindTurn    Kind = "turn"    // the journal begins
	KindCommand Kind = "command" // a built-in command
	KindModel   Kind = "model"   // a request to the model and its answer
	KindCall    Kind = "call"    // a call of a tool
	KindPrompt  Kind = "prompt"  // a prompt
	KindStop    Kind = "stop"    // a person stopped the turn
	KindReply   Kind = "reply"   // the reply
	KindEnd     Kind = "end"     // the turn ended
)

// A Step is one thing that happened, and the file that it left.
type Step struct {
	Kind Kind `json:"kind"`
	// Node is what made it: platform, or the type of a node.
	Node string `json:"node"`
	// Unit is the unit it belongs to; empty before there is one.
	Unit string `json:"unit,omitempty"`
	// At is when it happened; zero when no file says so.
	At time.Time `json:"at,omitzero"`
	// MS is how long it took, or until its file was done with, in milliseconds.
	MS int64 `json:"ms"`
	// File is relative to the folder of data; Line counts in a journal, from 1.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// State is that of a file in a queue: pending, processing, done or dead.
	State string `json:"state,omitempty"`
	// Size is that of the file, the passage or the result, in bytes.
	Size int64 `json:"size"`
	// Call names a call or a reply: "<turn>/<step>/<number>".
	Call string `json:"call,omitempty"`
	// Name is the type of an event, or what was called.
	Name string `json:"name,omitempty"`
	// What says it in one line.
	What string `json:"what"`
	// Outcome is how it ended: of a call, a reply or a turn.
	Outcome string `json:"outcome,omitempty"`
}

// A Trace is the way of one event and of what it caused.
type Trace struct {
	// ID is the trace id.
	ID      string `json:"trace_id"`
	Session string `json:"session"`
	Source  string `json:"source"` // the package
	Sender  string `json:"sender"`
	// Outcome is how it ended: that of the turn; "open" while there is none; "no
	// turn" when nothing woke; "dead" when a file was given up.
	Outcome string `json:"outcome"`
	Steps   []Step `json:"steps"`
}

// maxLine is how much of a text a step shows, in characters.
const maxLine = 100

// line returns a text as one short line.
func line(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	n := maxLine
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
