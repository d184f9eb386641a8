package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// An HTTPServer puts scripted servers behind HTTP, one for each session, whose
// number is what a script calls its run. It is an [http.Handler]; [StartHTTP]
// and [ListenHTTP] serve it. Its methods are safe for concurrent use.
type HTTPServer struct {
	// URL is where it is served.
	URL string

	t       testing.TB
	connect Connector
	how     *HTTP
	net     network

	mu       sync.Mutex // guards the following
	sessions map[string]*httpSession
	latest   *httpSession
	opened   int
	requests []HTTPRequest
	counts   map[string]int // requests by what a rule may call them
}

// An HTTPRequest is one request as the server got it.
type HTTPRequest struct {
	Verb, Path string
	Header     http.Header
	// Method is that of the JSON-RPC message; empty for an answer, and without
	// a body.
	Method string
	Body   string
}

// A Connector opens what answers the nth session, from 1, by lines: its stdout
// and its stdin.
type Connector func(n int) (out io.Reader, in io.WriteCloser)

// Each is a Connector that runs the script anew for every session. The scripts
// are stopped when the test ends.
func Each(t testing.TB, script *Script) Connector {
	return func(n int) (io.Reader, io.WriteCloser) {
		p := startPeer(t, script, n)
		return p.Out, p.In
	}
}

// NewHTTP returns a server that is not served yet.
func NewHTTP(t testing.TB, connect Connector, how *HTTP) *HTTPServer {
	return &HTTPServer{
		t: t, connect: connect, how: how,
		sessions: map[string]*httpSession{}, counts: map[string]int{},
	}
}

// Requests returns what the server got so far.
func (s *HTTPServer) Requests() []HTTPRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns how many requests were of a kind: GET, POST, DELETE, answer, or
// the method of a message.
func (s *HTTPServer) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Sessions returns how many sessions have begun.
func (s *HTTPServer) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Forget makes the server forget all sessions, as by a restart. Their streams
// break off.
func (s *HTTPServer) Forget() {
	s.mu.Lock()
	old := s.sessions
	s.sessions = map[string]*httpSession{}
	s.mu.Unlock()
	for _, one := range old {
		one.end()
	}
}

// ServeHTTP answers one request.
func (s *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var m rpc
	_ = json.Unmarshal(body, &m) // a body that is no message has no method
	x := &httpTurn{server: s, w: w, r: r, m: m, body: body, limit: -1, over: make(chan struct{})}
	kinds := []string{r.Method}
	switch {
	case m.Method != "":
		kinds = append(kinds, m.Method)
	case r.Method == http.MethodPost:
		kinds = append(kinds, "answer")
	}
	s.mu.Lock()
	s.requests = append(s.requests, HTTPRequest{r.Method, r.URL.Path, r.Header.Clone(), m.Method, string(body)})
	var rule *httpRule
	for _, kind := range kinds {
		s.counts[kind]++
	}
	for _, one := range s.how.rules {
		if slices.Contains(kinds, one.what) && one.nth.holds(s.counts[one.what]) {
			rule = one
			break
		}
	}
	s.mu.Unlock()
	if rule != nil {
		for _, step := range rule.steps {
			if step(x) {
				return
			}
		}
	}
	x.answer()
}

// An rpc is what the server looks at in a message.
type rpc struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		ProgressToken   json.RawMessage
	}
}

// An httpTurn is one request and its answer.
type httpTurn struct {
	server *HTTPServer
	w      http.ResponseWriter
	r      *http.Request
	m      rpc
	body   []byte

	limit int           // events that are sent; -1: all
	cut   bool          // then the connection breaks, else the stream ends
	over  chan struct{} // closed when the stream breaks off
}

// fail answers with a status and a JSON-RPC error.
func (x *httpTurn) fail(status int, text string) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	fmt.Fprintf(x.w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":%q}}`, text)
}

// answer does what is right, but for what the server does wrong on purpose.
func (x *httpTurn) answer() {
	how := x.server.how
	if how.strict {
		if fault := x.fault(); fault != "" {
			x.fail(http.StatusBadRequest, fault)
			return
		}
	}
	switch {
	case how.style == "legacy":
		x.legacy()
	case x.r.Method == http.MethodPost && (x.m.Method == "initialize" || x.m.Method == "server/discover"):
		x.post(x.server.open())
	default:
		session := x.server.session(x.r.Header.Get("Mcp-Session-Id"))
		switch {
		case session == nil:
			how.forgotten(x)
		case x.r.Method == http.MethodPost:
			x.post(session)
		case x.r.Method == http.MethodGet && how.noStream:
			x.w.WriteHeader(http.StatusMethodNotAllowed)
		case x.r.Method == http.MethodGet:
			x.listen(session)
		case x.r.Method == http.MethodDelete:
			x.server.drop(session)
			x.w.WriteHeader(http.StatusNoContent)
		default:
			x.w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
}

// open begins a session, or goes on with one whose handshake has not come to its
// end yet.
func (s *HTTPServer) open() *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.latest; last != nil && s.sessions[last.id] == last && s.how.style != "legacy" && (s.how.stateless || last.greeting()) {
		return last
	}
	s.opened++
	id := ""
	if !s.how.stateless {
		id = fmt.Sprintf("session-%d", s.opened)
	}
	one := &httpSession{id: id, how: s.how, posts: map[string]*eventLog{}, logs: map[string]*eventLog{}, gone: make(chan struct{})}
	one.out, one.in = s.connect(s.opened)
	one.stream = one.newLog("s")
	s.sessions[id], s.latest = one, one
	go func() {
		one.read()
		s.drop(one) // a server whose script has ended has forgotten it
	}()
	return one
}

func (s *HTTPServer) session(id string) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// drop ends a session as its client wants it.
func (s *HTTPServer) drop(one *httpSession) {
	s.mu.Lock()
	if s.sessions[one.id] == one {
		delete(s.sessions, one.id)
	}
	s.mu.Unlock()
	one.end()
}

// fault says what is wrong with the headers of a request (MCP 2025-11-25,
// basic/transports); "" if they are right.
func (x *httpTurn) fault() string {
	count := func(name string) int { return len(x.r.Header.Values(name)) }
	discover := x.m.Method == "server/discover"
	hello := x.m.Method == "initialize" || discover
	session := x.server.session(x.r.Header.Get("Mcp-Session-Id"))
	want := 1
	if x.m.Method == "initialize" || x.server.how.style == "legacy" && (x.r.Method == http.MethodGet || x.m.Method == "notifications/initialized") {
		want = 0
	}
	if n := count("Mcp-Protocol-Version"); n != want && x.server.how.style != "legacy" {
		return fmt.Sprintf("%d headers Mcp-Protocol-Version, want %d", n, want)
	}
	if v := x.r.Header.Get("Mcp-Protocol-Version"); session != nil && !hello && v != session.spoken() {
		return fmt.Sprintf("Mcp-Protocol-Version is %q, want %q", v, session.version)
	}
	want = 1
	if hello || x.server.how.stateless || x.server.how.style == "legacy" {
		want = 0
	}
	if n := count("Mcp-Session-Id"); n != want {
		return fmt.Sprintf("%d headers Mcp-Session-Id, want %d", n, want)
	}
	accept := x.r.Header.Get("Accept")
	if count("Accept") > 1 || x.r.Method != http.MethodDelete && !strings.Contains(accept, "text/event-stream") ||
		x.r.Method == http.MethodPost && !strings.Contains(accept, "application/json") {
		return "Accept is " + accept
	}
	if x.r.Method == http.MethodPost && (count("Content-Type") != 1 || x.r.Header.Get("Content-Type") != "application/json") {
		return fmt.Sprintf("Content-Type is %q", x.r.Header.Values("Content-Type"))
	}
	return ""
}

// post gives a message to the script and sends back what it says to it.
func (x *httpTurn) post(session *httpSession) {
	request := x.m.Method != "" && x.m.ID != nil
	var log *eventLog
	if request {
		log = session.expect(string(x.m.ID), x.m.Method == "initialize")
	}
	if _, err := session.in.Write(x.line()); err != nil {
		x.server.how.forgotten(x) // its script has just ended
		return
	}
	if !request {
		x.w.WriteHeader(x.server.how.notified)
		return
	}
	if x.m.Method == "initialize" && session.id != "" {
		x.w.Header().Set("Mcp-Session-Id", session.id)
	}
	switch {
	case x.server.how.style == "sse":
		x.events(session, log, 0)
		return
	case x.server.how.style == "elsewhere" && x.m.Method != "initialize":
		x.server.how.taken(x)
		return
	}
	if text := log.answer(x.r.Context().Done(), session.gone); text != nil {
		x.w.Header().Set("Content-Type", x.server.how.content)
		_, _ = x.w.Write(text) // a client that is gone does not mind
		return
	}
	panic(http.ErrAbortHandler)
}

// listen serves the stream of GET, or resumes another.
func (x *httpTurn) listen(session *httpSession) {
	log, from := session.resume(x.r.Header.Get("Last-Event-Id"))
	if log == nil {
		x.fail(http.StatusNotFound, "Unknown event")
		return
	}
	if d := x.server.how.streamTime; d > 0 && log == session.stream {
		timer := time.AfterFunc(d, func() { close(x.over) })
		defer timer.Stop()
	}
	x.events(session, log, from)
}

// line is the message of the request as a line.
func (x *httpTurn) line() []byte {
	return append(bytes.ReplaceAll(bytes.TrimSpace(x.body), []byte("\n"), []byte(" ")), '\n')
}

// legacy is a server of HTTP+SSE.
func (x *httpTurn) legacy() {
	if x.r.Method == http.MethodGet {
		session := x.server.open()
		defer x.server.drop(session)
		session.stream.add("endpoint", []byte(x.server.how.endpoint+"?session="+session.id))
		x.events(session, session.stream, 0)
		return
	}
	session := x.server.session(x.r.URL.Query().Get("session"))
	if session == nil {
		x.server.how.forgotten(x)
		return
	}
	if _, err := session.in.Write(x.line()); err != nil {
		x.server.how.forgotten(x) // its script has just ended
		return
	}
	x.w.WriteHeader(x.server.how.notified)
}
