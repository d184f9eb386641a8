package testkit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An httpSession is one session: a script and its streams.
type httpSession struct {
	id     string
	out    io.Reader      // what it says, in lines
	in     io.WriteCloser // what it hears, in lines
	how    *HTTP
	stream *eventLog // of GET
	once   sync.Once
	gone   chan struct{} // closed when the session has ended

	mu      sync.Mutex           // guards the following
	version string               // of the protocol; empty before the answer to initialize
	posts   map[string]*eventLog // streams of requests without an answer, by id
	order   []string             // their ids, the newest last
	hello   string               // id of the initialize request
	logs    map[string]*eventLog // all streams, by name
}

// spoken returns the version of the protocol.
func (s *httpSession) spoken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// greeting tells whether the handshake has not come to its end yet.
func (s *httpSession) greeting() bool { return s.spoken() == "" }

func (s *httpSession) newLog(name string) *eventLog {
	log := &eventLog{name: name, changed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[name] = log
	return log
}

// expect makes the stream of a request.
func (s *httpSession) expect(id string, hello bool) *eventLog {
	log := s.newLog("r" + id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[id] = log
	s.order = append(s.order, id)
	if hello {
		s.hello = id
	}
	return log
}

// end ends the session and its streams.
func (s *httpSession) end() {
	s.once.Do(func() {
		close(s.gone)
		_ = s.in.Close() // it is over in any case
	})
}

// read takes what the script says to where it belongs.
func (s *httpSession) read() {
	lines := bufio.NewReaderSize(s.out, 64<<10)
	for {
		text, err := lines.ReadBytes('\n')
		text = bytes.TrimRight(text, "\r\n")
		var batch []json.RawMessage
		switch {
		case len(text) == 0:
		case text[0] == '[' && s.how.style == "sse" && json.Unmarshal(text, &batch) == nil:
			for _, one := range batch {
				s.route(one)
			}
		default:
			s.route(text)
		}
		if err != nil {
			s.end() // the script has ended
			return
		}
	}
}

// route takes an answer to its request, progress to the request it is about,
// and all else to the newest request or to the stream of GET.
func (s *httpSession) route(text []byte) {
	var m rpc
	if json.Unmarshal(text, &m) != nil { // an answer that is broken on purpose, or noise
		_, rest, _ := bytes.Cut(text, []byte(`"id":`))
		m.ID, _, _ = bytes.Cut(rest, []byte(","))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strings.TrimSuffix(strings.Trim(string(m.ID), `"`), ".0") // servers give ids back in many forms
	if log := s.posts[id]; m.Method == "" && log != nil {
		if id == s.hello {
			var answer struct {
				Result struct{ ProtocolVersion string }
			}
			_ = json.Unmarshal(text, &answer) // else it has no version
			s.version = answer.Result.ProtocolVersion
		}
		delete(s.posts, id)
		s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == id })
		if s.how.style == "elsewhere" && id != s.hello {
			s.stream.add("", text)
			return
		}
		log.add("", text)
		log.close()
		return
	}
	if s.how.style == "sse" {
		if log := s.posts[string(m.Params.ProgressToken)]; log != nil {
			log.add("", text)
			return
		}
		if n := len(s.order); n > 0 && m.Params.ProgressToken == nil && m.ID == nil {
			s.posts[s.order[n-1]].add("", text)
			return
		}
	}
	s.stream.add("", text)
}

// resume finds the stream that goes on after an event, and where.
func (s *httpSession) resume(last string) (*eventLog, int) {
	if last == "" {
		return s.stream, s.stream.sent()
	}
	name, number, _ := strings.Cut(last, "-")
	n, err := strconv.Atoi(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, 0
	}
	return s.logs[name], n
}

// An eventLog is what is said on one stream.
type eventLog struct {
	name string

	mu      sync.Mutex // guards the following
	events  []logEvent
	done    bool // nothing follows
	pos     int  // how many were sent, without resuming
	changed chan struct{}
}

type logEvent struct {
	name string
	text []byte
}

func (l *eventLog) add(name string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, logEvent{name, text})
	l.wake()
}

func (l *eventLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	l.wake()
}

// wake is called with mu held.
func (l *eventLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pos
}

// at returns event i; ok is false if there is none yet, over if there will be none.
func (l *eventLog) at(i int) (ev logEvent, ok, over bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < len(l.events) {
		l.pos = max(l.pos, i+1)
		return l.events[i], true, false, nil
	}
	return logEvent{}, false, l.done, l.changed
}

// answer waits for the only event; nil: the client or the session is gone.
func (l *eventLog) answer(client, session <-chan struct{}) []byte {
	for {
		ev, ok, _, changed := l.at(0)
		if ok {
			return ev.text
		}
		select {
		case <-changed:
		case <-client:
			return nil
		case <-session:
			return nil
		}
	}
}

// events sends the events of a log from one on.
func (x *httpTurn) events(session *httpSession, log *eventLog, from int) {
	how := x.server.how
	x.w.Header().Set("Content-Type", how.streams)
	flush := http.NewResponseController(x.w)
	send := func(lines ...string) bool {
		text := []byte(strings.Join(append(lines, "", ""), how.lineEnd))
		piece := how.pieces
		if piece == 0 {
			piece = len(text)
		}
		for len(text) > 0 {
			n := min(piece, len(text))
			if _, err := x.w.Write(text[:n]); err != nil || flush.Flush() != nil {
				return false
			}
			text = text[n:]
		}
		return true
	}
	stop := func() bool {
		if x.limit == 0 && x.cut {
			panic(http.ErrAbortHandler)
		}
		return x.limit == 0
	}
	if flush.Flush() != nil {
		return
	}
	if how.numbered {
		lines := []string{fmt.Sprintf("id: %s-%d", log.name, from)}
		if how.retry >= 0 {
			lines = append(lines, fmt.Sprintf("retry: %d", how.retry.Milliseconds()))
		}
		if !send(append(lines, "data: ")...) {
			return
		}
	}
	for i := from; !stop(); {
		ev, ok, over, changed := log.at(i)
		if over {
			return
		}
		if ok {
			i++
			if !send(x.lines(log, ev, i)...) {
				return
			}
			x.limit--
			continue
		}
		select {
		case <-changed:
		case <-x.over:
			panic(http.ErrAbortHandler)
		case <-x.r.Context().Done():
			return
		case <-session.gone:
			if log == session.stream {
				return
			}
			panic(http.ErrAbortHandler) // an answer is missing
		}
	}
}

// lines frames one event.
func (x *httpTurn) lines(log *eventLog, ev logEvent, number int) []string {
	how := x.server.how
	var lines []string
	if how.comments {
		lines = append(lines, ": event", "")
	}
	if name := cmp.Or(ev.name, how.named); name != "" {
		lines = append(lines, "event: "+name)
	}
	if how.numbered {
		lines = append(lines, fmt.Sprintf("id: %s-%d", log.name, number))
	}
	if !how.split || ev.name != "" {
		return append(lines, "data: "+string(ev.text))
	}
	// After the first comma between two members a line may end.
	head, tail, _ := strings.Cut(string(ev.text), ",")
	return append(lines, "data:"+head+",", "data: "+tail)
}
