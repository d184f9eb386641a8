package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// A peer is the server at the other end of a stdio transport in memory. A test
// says what it does, line by line.
type peer struct {
	t    testing.TB
	in   net.Conn      // what the session writes
	out  net.Conn      // what the session reads
	got  chan message  // what arrived, in order
	deaf chan struct{} // closed when it reads no more
	opts StdioOptions

	mu    sync.Mutex
	noise []string // shown to OnNoise
}

// A message is one that the peer received.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	line   string
}

// newPeer returns a peer with its pipes; they close with the test.
func newPeer(t testing.TB) (*peer, Transport) {
	p, r, w := newPipes(t)
	if over := wireOf(t); over != wireStdio {
		return p, overHTTP(t, over, r, w)
	}
	return p, NewStdio(r, w, p.opts)
}

func newPipes(t testing.TB) (p *peer, r, w net.Conn) {
	t.Helper()
	in, w := net.Pipe()
	r, out := net.Pipe()
	p = &peer{t: t, in: in, out: out, got: make(chan message, 1<<17), deaf: make(chan struct{})}
	p.opts.OnNoise = func(line []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noise = append(p.noise, string(line))
	}
	go func() {
		defer close(p.deaf)
		defer close(p.got)
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			m := message{line: line}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Errorf("the session wrote a line that is not JSON: %q", line)
			}
			p.got <- m
		}
	}()
	t.Cleanup(func() {
		in.Close()
		out.Close()
		<-p.deaf
	})
	return p, r, w
}

// stopReading makes the peer deaf: from now on its pipe is full.
func (p *peer) stopReading() {
	p.in.SetReadDeadline(time.Unix(1, 0))
	<-p.deaf
}

// write sends raw bytes to the session.
func (p *peer) write(s string) {
	p.t.Helper()
	if _, err := p.out.Write([]byte(s)); err != nil {
		p.t.Errorf("peer: %v", err)
	}
}

// say sends one line.
func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	p.write(fmt.Sprintf(format, args...) + "\n")
}

// answer sends the result of a request.
func (p *peer) answer(m message, result string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// refuse sends a JSON-RPC error.
func (p *peer) refuse(m message, code int, text string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text)
}

// next returns the next message, which must have that method; "" is an answer.
func (p *peer) next(method string) message {
	p.t.Helper()
	m, ok := <-p.got
	if !ok || m.Method != method {
		p.t.Fatalf("the peer waits for %q and got %q", method, m.line)
	}
	return m
}

// nextCall returns the next tools/call, whatever cancellations came before it.
func (p *peer) nextCall() message {
	p.t.Helper()
	for {
		m, ok := <-p.got
		if !ok || m.Method != "notifications/cancelled" && m.Method != "tools/call" {
			p.t.Fatalf("the peer waits for a call and got %q", m.line)
		}
		if m.Method == "tools/call" {
			return m
		}
	}
}

// silent fails if anything has arrived.
func (p *peer) silent() {
	p.t.Helper()
	select {
	case m, ok := <-p.got:
		if ok {
			p.t.Errorf("the peer did not expect %q", m.line)
		}
	default:
	}
}

// everything is what most tests let the server declare.
const everything = `{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{}}`

// welcome performs the server's half of the handshake.
func (p *peer) welcome(capabilities string) {
	p.t.Helper()
	p.answer(p.next("initialize"), `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"peer","version":"1"}}`)
	p.next("notifications/initialized")
}

// connect returns a peer and a session that has shaken hands with it.
func connect(t testing.TB, o Options) (*peer, *Session) {
	t.Helper()
	p, tr := newPeer(t)
	return p, p.join(tr, o, func() { p.welcome(everything) })
}

// join connects a session while script plays the server. The session closes
// with the test.
func (p *peer) join(tr Transport, o Options, script func()) *Session {
	p.t.Helper()
	played := make(chan struct{})
	go func() {
		defer close(played)
		script()
	}()
	s, err := Connect(context.Background(), tr, o)
	<-played
	if err != nil {
		p.t.Fatalf("Connect: %v", err)
	}
	p.closing(s)
	return s
}

// closing closes the session at the end of the test and waits for it.
func (p *peer) closing(s *Session) {
	p.t.Cleanup(func() {
		s.Close(nil)
		p.out.Close()
		s.Wait()
	})
}

// A reply is the end of a call that runs beside the test.
type reply struct {
	Result
	err error
}

// callTool calls a tool beside the test.
func callTool(s *Session, ctx context.Context, name string, o *RequestOptions) <-chan reply {
	end := make(chan reply, 1)
	go func() {
		r, err := s.CallTool(ctx, name, nil, o)
		end <- reply{r, err}
	}()
	return end
}

// want fails unless the reply holds this result.
func (r reply) want(t testing.TB, result string) {
	t.Helper()
	if r.err != nil || string(r.Raw) != result {
		t.Errorf("got %s, error %v; want %s", r.Raw, r.err, result)
	}
}

// wantKind fails unless the reply is a CallError of that kind.
func (r reply) wantKind(t testing.TB, kind Kind, delivered bool) {
	t.Helper()
	wantKind(t, r.err, kind, delivered)
}

func wantKind(t testing.TB, err error, kind Kind, delivered bool) {
	t.Helper()
	e, ok := err.(*CallError)
	if !ok || e.Kind != kind || e.Delivered != delivered {
		t.Errorf("got error %#v (%v); want kind %s, delivered %v", err, err, kind, delivered)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func contains(t testing.TB, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q does not contain %q", text, part)
	}
}
