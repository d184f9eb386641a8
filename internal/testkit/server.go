package testkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// errEnded ends a block because the server has ended.
var errEnded = errors.New("testkit: the server has ended")

// errStdinClosed ends a block that waited for a message that cannot come.
var errStdinClosed = errors.New("testkit: stdin was closed")

// A ground is what a server stands on: a process or the memory of a test.
type ground interface {
	run() int
	pid() int
	argv() []string
	cwd() string
	environ() map[string]string
	record(Event)
	// released waits until the test opens the gate.
	released(ctx context.Context, gate string) error
	fork(forkOptions) error
	close(stream string) error
	signals(names []string) <-chan string
	// exit and kill end the server. In a process they do not return.
	exit(code int)
	kill(signal string) error
}

// A server interprets one script.
type server struct {
	script *Script
	ground ground
	ctx    context.Context
	wg     sync.WaitGroup // background blocks, the reader, signal handlers

	wants chan struct{} // asks the reader for one more message
	lines chan []byte   // what it read; closed at the end of stdin
	queue []*message    // read ahead by an await; main goroutine only
	atEOF bool          // main goroutine only
	deaf  atomic.Bool   // stop reading was done

	outMu  sync.Mutex // guards out, so that frames stay whole
	out    io.Writer
	errOut io.Writer

	mu        sync.Mutex // guards the following
	items     map[itemKind][]item
	framing   framing
	ids       idStyle
	counts    map[string]int  // messages by method, and by method and name
	cancelled map[string]bool // by request id
	replied   map[string]bool // our requests that were answered, by id
	received  [][]byte
	changed   chan struct{} // closed and replaced when one of the above grows
}

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

// A turn is one run of one block.
type turn struct {
	server *server
	msg    *message // nil in start, eof and signal blocks
	i      int      // loop counter
	main   bool     // runs on the goroutine that reads, so that an await must read on
}

func newServer(ctx context.Context, script *Script, g ground, in io.Reader, out, errOut io.Writer) *server {
	s := &server{
		script: script, ground: g, ctx: ctx, out: out, errOut: errOut,
		wants: make(chan struct{}), lines: make(chan []byte),
		items: map[itemKind][]item{}, framing: script.framing, ids: script.ids,
		counts: map[string]int{}, cancelled: map[string]bool{}, replied: map[string]bool{},
		changed: make(chan struct{}),
	}
	for kind, list := range script.items {
		s.items[kind] = append([]item(nil), list...)
	}
	s.wg.Go(func() { s.read(in) })
	return s
}

// serve runs the script to its end. It returns when the server has ended.
func (s *server) serve() {
	s.watchSignals()
	t := &turn{server: s, main: true}
	for _, h := range s.script.handlers {
		if h.on == onStart && s.holds(h.when, nil) && !s.do(t, h.steps) {
			return
		}
	}
	for {
		m := s.next()
		if m == nil {
			break
		}
		if !s.handle(m) {
			return
		}
	}
	if s.ctx.Err() != nil {
		return
	}
	if s.deaf.Load() {
		<-s.ctx.Done()
		return
	}
	s.ground.record(Event{Kind: "eof"})
	for _, h := range s.script.handlers {
		if h.on == onEOF && s.holds(h.when, nil) {
			if s.do(t, h.steps) {
				<-s.ctx.Done() // it was ignored
			}
			return
		}
	}
	s.ground.exit(0)
}

// do runs a block and says whether the server goes on.
func (s *server) do(t *turn, steps []step) bool {
	for _, one := range steps {
		if s.ctx.Err() != nil {
			return false
		}
		switch err := one.do(t); {
		case err == nil:
		case errors.Is(err, errStdinClosed):
			return true
		case errors.Is(err, errEnded):
			return false
		default:
			if s.ctx.Err() == nil {
				s.fail(one.at.place(err))
			}
			return false
		}
	}
	return s.ctx.Err() == nil
}

// fail ends the server because the script is wrong.
func (s *server) fail(err error) {
	fmt.Fprintf(s.errOut, "testkit: %v\n", err)
	s.ground.record(Event{Kind: "error", Text: err.Error()})
	s.ground.exit(99)
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

// handle answers one request or notification and says whether the server goes on.
func (s *server) handle(m *message) bool {
	t := &turn{server: s, msg: m, main: true}
	for _, h := range s.script.handlers {
		if h.on == onMessage && h.matches(m) && s.holds(h.when, m) {
			return s.do(t, h.steps)
		}
	}
	if m.ID == nil {
		return true
	}
	result, err := s.answer(m, false)
	if err != nil {
		return s.do(t, []step{{do: func(t *turn) error { return t.refuse(err) }}})
	}
	return s.do(t, []step{{do: func(t *turn) error { return t.reply("result", result) }}})
}

func (h *handler) matches(m *message) bool {
	return (h.method == "*" || h.method == m.Method) && (!h.hasName || h.name == m.name)
}

// holds says whether the conditions hold for a message, or outside one.
func (s *server) holds(c conditions, m *message) bool {
	if !c.run.holds(s.ground.run()) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m != nil {
		n := m.all
		if c.named {
			n = m.nth
		}
		if !c.nth.holds(n) {
			return false
		}
	}
	came := func(method string) bool {
		if m != nil {
			return m.seen[method]
		}
		return s.counts[method] > 0
	}
	for _, method := range c.seen {
		if !came(method) {
			return false
		}
	}
	for _, method := range c.unseen {
		if came(method) {
			return false
		}
	}
	return true
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

// watchSignals runs the signal blocks.
func (s *server) watchSignals() {
	var names []string
	for _, h := range s.script.handlers {
		if h.on == onSignal {
			names = append(names, h.method)
		}
	}
	if len(names) == 0 {
		return
	}
	came := s.ground.signals(names)
	s.wg.Go(func() {
		for {
			select {
			case name := <-came:
				s.ground.record(Event{Kind: "signal", Text: name})
				for _, h := range s.script.handlers {
					if h.on == onSignal && h.method == name && s.holds(h.when, nil) {
						s.do(&turn{server: s}, h.steps)
						break
					}
				}
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// write writes bytes to stdout as they are, in the pieces the framing asks for.
// Errors are no concern of a server: its client is gone.
func (s *server) write(data []byte, f framing) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if f.piece <= 0 {
		_, _ = s.out.Write(data)
		return
	}
	for len(data) > 0 && s.ctx.Err() == nil {
		n := min(f.piece, len(data))
		if _, err := s.out.Write(data[:n]); err != nil {
			return
		}
		data = data[n:]
		if f.pause > 0 {
			s.sleep(f.pause)
		}
	}
}

// send writes one frame.
func (s *server) send(frame []byte) {
	s.mu.Lock()
	f := s.framing
	s.mu.Unlock()
	data := make([]byte, 0, len(f.begin)+len(frame)+len(f.end))
	data = append(append(append(data, f.begin...), frame...), f.end...)
	s.write(data, f)
}

func (s *server) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// reply answers the message at hand; key is "result" or "error".
func (t *turn) reply(key string, body []byte) error {
	if t.msg == nil || t.msg.ID == nil {
		return errors.New("there is no request to answer here")
	}
	for _, one := range t.server.script.before {
		if err := one.do(t); err != nil {
			return one.at.place(err)
		}
	}
	t.server.mu.Lock()
	style := t.server.ids
	t.server.mu.Unlock()
	id := string(t.msg.ID)
	switch {
	case style == idsQuoted && id[0] != '"':
		id = `"` + id + `"`
	case style == idsFloat && id[0] != '"':
		id += ".0"
	}
	frame := make([]byte, 0, len(body)+len(id)+40)
	frame = append(frame, `{"jsonrpc":"2.0","id":`...)
	frame = append(frame, id...)
	frame = append(frame, `,"`...)
	frame = append(frame, key...)
	frame = append(frame, `":`...)
	frame = append(frame, body...)
	frame = append(frame, '}')
	t.server.send(frame)
	return nil
}

func (t *turn) refuse(err error) error {
	code, data := int64(-32603), json.RawMessage(nil)
	var rpc *rpcError
	if errors.As(err, &rpc) {
		code, data = rpc.code, rpc.data
	}
	body, encErr := encode(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{code, err.Error(), data})
	if encErr != nil {
		return encErr
	}
	return t.reply("error", body)
}
