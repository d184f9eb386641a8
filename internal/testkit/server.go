package testkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// errEnded ends a block because the server has ended.
var errEnded = errors.New("testkit: the server has ended")

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

func (s *server) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}
