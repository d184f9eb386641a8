package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Message is one JSON-RPC 2.0 message, split into spans of the frame it came
// in. Every span is well-formed JSON in valid UTF-8. The bytes belong to the
// transport and are valid only while deliver runs.
type Message struct {
	ID     json.RawMessage // a number or a string as it was sent; nil when absent or null
	Method []byte          // decoded; nil when absent
	Params json.RawMessage // any JSON; nil when absent or null
	Result json.RawMessage // any JSON, null too; nil when absent
	Error  json.RawMessage // any JSON; nil when absent or null
	// IsError is the member of that name of Result.
	IsError bool
	// Repaired counts bytes that were not UTF-8 and are U+FFFD now.
	Repaired int
	// Err is set when no more than the ID of a message could be saved: a
	// *TooLargeError, or a *SyntaxError for an answer that breaks off.
	Err error

	behind    []byte // the noise before it on its line, until somebody takes it for an answer all the same
	versioned bool   // it says "jsonrpc": "2.0"
	foreign   bool   // it says "jsonrpc" and something else
	oddID     bool   // its id is neither number, string nor null
	answers   bool   // it has a member result or error, perhaps a broken one
}

// A TooLargeError says that a message was longer than the transport's limit.
type TooLargeError struct {
	Size, Max int64 // bytes
}

// Error returns the size and the limit.
func (e *TooLargeError) Error() string {
	limit := fmt.Sprintf("%d bytes", e.Max)
	if mib := e.Max >> 20; mib<<20 == e.Max {
		limit = fmt.Sprintf("%d MiB", mib)
	}
	return fmt.Sprintf("a message of %d bytes is longer than the limit of %s", e.Size, limit)
}

type kind int

const (
	nothing kind = iota
	response
	request
	notification
)

// kind sorts the message. Answers are told by their id, so that a missing
// version is borne; whatever else has none is most likely a log line in JSON.
// What names another version was not meant for us: a child of the server that
// speaks JSON-RPC 1.0 with somebody else has ids too.
func (m *Message) kind() kind {
	switch {
	case m.oddID, m.foreign:
		return nothing
	case m.Method != nil && !m.versioned:
		return nothing
	case m.Method != nil && m.ID != nil:
		return request
	case m.Method != nil:
		return notification
	case m.Result != nil || m.Error != nil || m.versioned && m.ID != nil:
		return response
	}
	return nothing
}

// A splitter cuts frames into messages. It keeps its message and scanner so
// that splitting allocates nothing.
type splitter struct {
	scanner
	m    Message
	from int  // where the message being read begins
	last kind // of the message delivered last
}

// split delivers the messages of one frame: an object, several in a row, or
// arrays of them (the batches of 2025-03-26). It reads the frame once, and once
// more if bytes had to be repaired. A member that occurs twice counts where it
// occurs last, as in the JSON readers of JavaScript, Python and Go.
//
// At the first fault it stops and returns a *SyntaxError; messages before the
// fault were delivered. If the fault is inside an answer whose id was read, a
// message with that ID and Err is delivered too, so that nobody waits in vain.
func (s *splitter) split(frame []byte, deliver func(*Message)) error {
	s.scanner, s.from = scanner{b: frame}, 0
	for s.peek() != 0 || s.i < len(frame) {
		var ok bool
		s.from = s.i
		if s.b[s.i] == '[' {
			ok = s.batch(deliver)
		} else {
			ok = s.one(deliver)
		}
		if !ok {
			err := s.err()
			if s.m.ID != nil && s.m.answers && s.m.Method == nil && !s.m.foreign {
				s.m = Message{ID: s.m.ID, Err: err}
				deliver(&s.m)
			}
			s.m = Message{}
			return err
		}
	}
	return nil
}

// batch reads an array of messages.
func (s *splitter) batch(deliver func(*Message)) bool {
	s.m = Message{}
	s.i++
	for first := true; ; first = false {
		more, ok := s.element(first)
		if !ok {
			return false
		}
		if !more {
			if first {
				return s.fail("empty batch")
			}
			return true
		}
		if !s.one(deliver) {
			return false
		}
	}
}

// one reads one message and delivers it.
func (s *splitter) one(deliver func(*Message)) bool {
	s.bad = 0
	s.peek()
	s.from = s.i
	if !s.message() {
		return false
	}
	if s.m.kind() == nothing {
		s.m = Message{}
		s.i = s.from
		return s.fail("JSON, but neither request, notification nor answer")
	}
	s.last = s.m.kind()
	if s.bad > 0 {
		s.deliverRepaired(deliver)
		return true
	}
	deliver(&s.m)
	s.m = Message{}
	return true
}

// answer delivers the frame if it is one answer that needs no repair.
func (s *splitter) answer(frame []byte, deliver func(*Message)) bool {
	s.scanner = scanner{b: frame}
	if !s.message() || s.peek() != 0 || s.i < len(frame) || s.bad > 0 || s.m.kind() != response {
		s.m = Message{}
		return false
	}
	deliver(&s.m)
	s.m = Message{}
	return true
}

func (s *splitter) deliverRepaired(deliver func(*Message)) {
	again := splitter{scanner: scanner{b: repair(s.b[s.from:s.i])}}
	again.message() // the same grammar, so it cannot fail
	again.m.Repaired = s.bad
	deliver(&again.m)
	s.m, s.bad = Message{}, 0
}

// message reads one object into m. On a fault m holds what was read before it.
func (s *splitter) message() bool {
	m := &s.m
	*m = Message{}
	if !s.enter('{') {
		return false
	}
	for first := true; ; first = false {
		name, more, ok := s.member(first)
		if !ok || !more {
			return ok
		}
		from := s.i
		switch string(name) {
		case "result":
			m.answers, m.IsError = true, false
			if !s.result() {
				return false
			}
			m.Result = s.b[from:s.i]
			continue
		case "error":
			m.answers = true
		case "id", "method", "params", "jsonrpc":
		default:
			if !s.value() {
				return false
			}
			continue
		}
		if !s.value() {
			return false
		}
		value := s.b[from:s.i]
		null := value[0] == 'n'
		switch string(name) {
		case "id":
			number := value[0] == '-' || '0' <= value[0] && value[0] <= '9'
			m.oddID = !number && value[0] != '"' && !null
			m.ID = nil
			if !null && !m.oddID {
				m.ID = value
			}
		case "method":
			m.Method = nil
			if value[0] == '"' && s.escaped {
				m.Method = []byte(unquote(value))
			} else if value[0] == '"' {
				m.Method = value[1 : len(value)-1]
			}
		case "params":
			m.Params = orNil(value, null)
		case "error":
			m.Error = orNil(value, null)
		case "jsonrpc":
			m.versioned = string(value) == `"2.0"` || s.escaped && value[0] == '"' && unquote(value) == "2.0"
			m.foreign = !m.versioned && !null && string(value) != "2.0" // a number is sloppy, not another version
		}
	}
}

func orNil(value []byte, null bool) []byte {
	if null {
		return nil
	}
	return value
}

// result reads the value of a result and looks for isError on its top level.
func (s *splitter) result() bool {
	if s.peek() != '{' {
		return s.value()
	}
	s.i++
	for first := true; ; first = false {
		name, more, ok := s.member(first)
		if !ok || !more {
			return ok
		}
		from := s.i
		if !s.value() {
			return false
		}
		if string(name) == "isError" {
			s.m.IsError = s.b[from] == 't'
		}
	}
}

// idOf finds the id of an answer of which only the first and the last bytes
// are known: near the front where most servers write it, or at the very end
// where the TypeScript SDK does.
func idOf(head, tail []byte) json.RawMessage {
	s := splitter{scanner: scanner{b: head[:len(head):len(head)]}}
	s.message()
	if s.m.Method != nil || !s.m.answers || s.m.foreign {
		return nil
	}
	if id := s.m.ID; len(id) < cap(id) { // else the cut may have gone through it
		return id
	}
	// In JSON a quote inside a string is escaped, so this text is a member's
	// name; and as the line ends with it, one of the outermost object.
	at := bytes.LastIndex(tail, []byte(`"id"`))
	if at < 0 {
		return nil
	}
	s = splitter{scanner: scanner{b: append([]byte{'{'}, tail[at:]...)}}
	if !s.message() || s.peek() != 0 || s.i < len(s.b) {
		return nil
	}
	return s.m.ID
}
