package testkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// errStdinClosed ends a block that waited for a message that cannot come.
var errStdinClosed = errors.New("testkit: stdin was closed")

// A message is one JSON-RPC message from the client.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`

	name string // what `on METHOD NAME` compares
	nth  int    // of its method and name, counted from 1
	all  int    // of its method, counted from 1
	seen map[string]bool
}

// read reads one line each time it is asked, so that a server that is busy
// does not read either.
func (s *server) read(in io.Reader) {
	defer close(s.lines)
	r := bufio.NewReader(in)
	for {
		select {
		case <-s.wants:
		case <-s.ctx.Done():
			return
		}
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) == 0 && err != nil {
			return
		}
		select {
		case s.lines <- line:
		case <-s.ctx.Done():
			return
		}
	}
}

// next returns the next request or notification; nil at the end of stdin.
func (s *server) next() *message {
	for len(s.queue) == 0 {
		if !s.pump() {
			return nil
		}
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	return m
}

// pump reads one line and takes note of it. It says whether there may be more.
func (s *server) pump() bool {
	if s.atEOF || s.deaf.Load() {
		return false
	}
	select {
	case s.wants <- struct{}{}:
	case <-s.ctx.Done():
		return false
	}
	select {
	case line, ok := <-s.lines:
		if !ok {
			s.atEOF = true
			return false
		}
		s.arrive(line)
		return true
	case <-s.ctx.Done():
		return false
	}
}

// arrive takes note of one line: a message or a batch of 2025-03-26.
func (s *server) arrive(line []byte) {
	if len(line) == 0 {
		return
	}
	var batch []json.RawMessage
	if line[0] != '[' || json.Unmarshal(line, &batch) != nil {
		batch = []json.RawMessage{line}
	}
	for _, one := range batch {
		s.arriveOne(one)
	}
}

func (s *server) arriveOne(data []byte) {
	m := &message{}
	if err := json.Unmarshal(data, m); err != nil {
		s.ground.record(Event{Kind: "garbage", Text: clip(string(data))})
		return
	}
	s.ground.record(Event{Kind: "received", Message: brief(data, m)})

	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, data)
	defer func() { close(s.changed); s.changed = make(chan struct{}) }()
	if m.Method == "" {
		s.replied[string(m.ID)] = true
		return
	}
	m.name = nameOf(m)
	m.seen = map[string]bool{}
	for method := range s.counts {
		m.seen[method] = true
	}
	s.counts[m.Method]++
	s.counts[m.Method+"\x00"+m.name]++
	m.all, m.nth = s.counts[m.Method], s.counts[m.Method+"\x00"+m.name]
	if m.Method == "notifications/cancelled" {
		s.cancelled[string(dig(m.Params, "requestId"))] = true
	}
	s.queue = append(s.queue, m)
}

// nameOf returns what tells messages of one method apart.
func nameOf(m *message) string {
	path := "name"
	switch {
	case strings.HasPrefix(m.Method, "resources/") && !strings.HasSuffix(m.Method, "/list"):
		path = "uri"
	case strings.HasSuffix(m.Method, "/list"):
		path = "cursor"
	case m.Method == "notifications/cancelled":
		path = "requestId"
	case m.Method == "completion/complete":
		if name := dig(m.Params, "ref.name"); name != nil {
			return string(value{json: name}.asText())
		}
		path = "ref.uri"
	case m.Method == "logging/setLevel":
		path = "level"
	}
	return string(value{json: dig(m.Params, path)}.asText())
}

// wait waits until holds says yes; holds is called with mu held. On the main
// goroutine it goes on reading.
func (t *turn) wait(holds func() bool) error {
	s := t.server
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		switch {
		case ok:
			return nil
		case s.ctx.Err() != nil:
			return errEnded
		case t.main:
			if s.pump() {
				continue
			}
			if s.atEOF {
				return errStdinClosed
			}
			<-s.ctx.Done() // it is deaf, and what it waits for will never come
			return errEnded
		default:
			select {
			case <-changed:
			case <-s.ctx.Done():
				return errEnded
			}
		}
	}
}
