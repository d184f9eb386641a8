package appkit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sync"
	"testing"

	"github.com/aurorabot/aurora/appkit"
)

// A peer talks to a served app in raw JSON lines, as a host would.
type peer struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	done   chan error
	stderr *lockedBuffer
	nextID int
}

// serve serves an app in this process and returns its peer. The app is stopped
// by the end of the test at the latest.
func serve(t *testing.T, app *appkit.App) *peer {
	t.Helper()
	return serveIn(t, app, []string{})
}

// serveIn is serve in an environment.
func serveIn(t *testing.T, app *appkit.App, environ []string) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: newScanner(outR), done: make(chan error, 1), stderr: new(lockedBuffer)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.done <- appkit.Process{Stdin: inR, Stdout: outW, Stderr: p.stderr, Environ: environ}.Serve(ctx, app)
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		io.Copy(io.Discard, outR)
	})
	return p
}

// newScanner returns a scanner of long lines.
func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 20<<20)
	return s
}

// handshake opens the session in one of the four handshake versions.
func (p *peer) handshake(version string) json.RawMessage {
	p.t.Helper()
	a := p.request("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"peer","version":"1"}}`, version))
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a.Result
}

// An answer is one response line.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// request sends a request and reads lines until its answer comes.
func (p *peer) request(method, params string) answer {
	p.t.Helper()
	p.nextID++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.nextID, method, params))
	for {
		if a := p.read(); string(a.ID) == fmt.Sprint(p.nextID) {
			return a
		}
	}
}

// call calls a tool.
func (p *peer) call(name, arguments string) answer {
	p.t.Helper()
	return p.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("sending %s: %v", line, err)
	}
}

// read reads one line, which must be one JSON-RPC message.
func (p *peer) read() answer {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the app said nothing more: %v; stderr:\n%s", p.out.Err(), p.stderr)
	}
	var a answer
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		p.t.Fatalf("stdout holds a line that is no message: %q", p.out.Text())
	}
	return a
}

// A result is what a tool call gave back.
type result struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

// resultOf decodes the result of a call that was answered with one.
func (p *peer) resultOf(a answer) result {
	p.t.Helper()
	if a.Error != nil {
		p.t.Fatalf("got the JSON-RPC error %d %s, want a result", a.Error.Code, a.Error.Message)
	}
	var r result
	if err := json.Unmarshal(a.Result, &r); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// A lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// wantJSON compares two JSON texts by what they mean.
func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got %s, want %s", got, want)
	}
}
