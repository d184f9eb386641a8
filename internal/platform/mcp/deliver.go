package mcp

import (
	"bytes"
	"errors"
	"fmt"
)

// deliver takes one message from the reader. It does not block.
func (s *Session) deliver(m *Message) {
	if m.Repaired > 0 {
		if s.count.repaired.Add(int64(m.Repaired)) == int64(m.Repaired) {
			s.log.Warn("bytes that are not UTF-8 became U+FFFD", "bytes", m.Repaired)
		}
	}
	if m.Err != nil {
		s.unusable(m)
		return
	}
	switch m.kind() {
	case response:
		if m.behind == nil || s.prompted(m) {
			s.answered(m)
		}
	case request:
		s.asked(m)
	case notification:
		s.notified(m)
	}
}

// maxPrompt is the longest banner or prompt that may stand before an answer, in
// bytes: it is kept.
const maxPrompt = 4 << 10

// prompted reports whether an answer that stands behind noise on its line is
// one, and is not quoted there: whoever can make a server log something could
// forge answers otherwise. Noise in front of the answer to initialize is a
// banner without a line end, or the prompt of a shell; the same noise in front
// of a later answer is the prompt again.
func (s *Session) prompted(m *Message) bool {
	id, _, ok := integer(m.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[id]
	if !ok || p == nil {
		return false
	}
	if p.method == methodInitialize && len(m.behind) <= maxPrompt {
		s.prompt = bytes.Clone(m.behind)
	}
	if s.prompt == nil || !bytes.Equal(m.behind, s.prompt) {
		return false
	}
	m.behind = nil
	return true
}

// answered gives an answer to the request that waits for it.
func (s *Session) answered(m *Message) {
	id, p := s.match(m.ID)
	if p == nil {
		s.unmatched(id, m)
		return
	}
	switch {
	case m.Error != nil:
		p.finish("", parseRPCError(m.Error))
	case m.Result != nil && m.Result[0] != '{' && wantsObject(p.method):
		p.finish(BadAnswer, fmt.Errorf("the result is %s, not an object", typeOf(m.Result)))
	case m.Result != nil:
		p.result = Result{Raw: bytes.Clone(m.Result), IsError: m.IsError}
		p.finish("", nil)
	default:
		p.finish(BadAnswer, errors.New("the answer has neither result nor error"))
	}
}

// wantsObject reports whether whoever asked for this takes the result apart.
// All results are objects (MCP 2025-11-25, schema, Result), but of those that
// say nothing, such as that of ping, any will do; lists look for themselves.
func wantsObject(method string) bool {
	switch method {
	case "tools/call", "resources/read", "prompts/get", "completion/complete":
		return true
	}
	return false
}

// typeOf names the type of well-formed JSON.
func typeOf(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}

// match finds the request that an id belongs to.
func (s *Session) match(raw []byte) (int64, *pending) {
	id, exact, ok := integer(raw)
	if !ok {
		return 0, nil
	}
	if !exact && s.count.echoed.CompareAndSwap(false, true) {
		s.log.Warn("the server does not echo ids as they were sent; they are matched by their value",
			"sent", id, "echoed", string(raw))
	}
	return id, s.take(id)
}

// unmatched drops an answer that nobody waits for.
func (s *Session) unmatched(id int64, m *Message) {
	s.mu.Lock()
	known := 0 < id && id <= s.lastID
	s.mu.Unlock()
	switch {
	case known:
		s.count.late.Add(1)
		s.log.Debug("dropped an answer to a request that has ended", "id", id)
	case m.ID == nil && m.Error != nil:
		s.count.unknown.Add(1)
		e := parseRPCError(m.Error)
		s.log.Warn("the server sent an error without an id", "code", e.Code, "message", e.Message)
	default:
		s.count.unknown.Add(1)
		s.log.Debug("dropped an answer to no request of ours", "id", string(clip(m.ID, noiseShown)))
	}
}

// unusable ends the request of which only the id could be read.
func (s *Session) unusable(m *Message) {
	kind := BadAnswer
	var large *TooLargeError
	if errors.As(m.Err, &large) {
		kind = TooLarge
		s.count.tooLarge.Add(1)
	} else {
		s.count.broken.Add(1)
	}
	id, p := s.match(m.ID)
	if m.ID == nil {
		s.log.Warn("a message could not be used", "reason", m.Err)
	} else {
		s.log.Warn("a message could not be used", "id", id, "reason", m.Err)
	}
	if p != nil {
		p.finish(kind, m.Err)
	}
}

// notified handles a notification.
func (s *Session) notified(m *Message) {
	s.count.notifications.Add(1)
	method := intern(m.Method)
	switch method {
	case methodProgress:
		s.progressed(m.Params)
		return
	case methodCancelled:
		s.handlers.cancel(m.Params)
	}
	if s.o.OnNotification != nil && s.Err() == nil {
		s.o.OnNotification(method, m.Params)
	}
}

// The methods that the session itself knows.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodProgress    = "notifications/progress"
	methodCancelled   = "notifications/cancelled"
)

// intern returns method as a string, without a copy for the common ones.
func intern(method []byte) string {
	switch string(method) {
	case methodProgress:
		return methodProgress
	case methodCancelled:
		return methodCancelled
	case "notifications/message":
		return "notifications/message"
	case "notifications/resources/updated":
		return "notifications/resources/updated"
	case "aurora/event":
		return "aurora/event"
	}
	return string(method)
}
