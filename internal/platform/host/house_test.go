package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/testkit"
)

// A house is a host among scripted apps in memory, inside a synctest bubble.
type house struct {
	*Host
	t     *testing.T
	apps  []*config.App
	opt   Options
	peers *peers
	far   map[string]*testkit.HTTPServer // of remote apps, by key
	block func() error                   // if set, may refuse connections to them

	mu      sync.Mutex // guards what follows
	signals []Signal
	records []audit.Record
}

// inHouse runs a story in a bubble. The house is closed when the story ends.
func inHouse(t *testing.T, story func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, peers: &peers{t: t, scripts: map[string]func(run int) string{}, started: map[string][]*process{}, refuse: map[string]error{}}}
		defer func() {
			if h.Host != nil {
				if err := h.Close(context.Background()); err != nil {
					t.Errorf("closing: %v", err)
				}
			}
		}()
		story(t, h)
	})
}

// app adds a local app whose every process runs the same script.
func (h *house) app(key, script string) *config.App {
	return h.appRuns(key, func(int) string { return script })
}

// appRuns adds a local app whose nth process, from 1, runs the nth script.
func (h *house) appRuns(key string, script func(run int) string) *config.App {
	c := appConfig(key)
	h.apps = append(h.apps, c)
	h.peers.scripts[key] = script
	return c
}

func appConfig(key string) *config.App {
	c := &config.App{Key: key, Package: key, Enabled: true, Trust: config.TrustNormal}
	c.MCP.Transport = config.Stdio
	c.MCP.HealthTimeout = 10 * time.Second
	c.MCP.CallTimeout = 30 * time.Second
	c.MCP.CallMax = 600 * time.Second
	c.MCP.Restart = config.Restart{Enabled: true, MaxAttempts: 3, Backoff: 2 * time.Second}
	return c
}

// open starts the host and waits until nothing moves any more without time.
func (h *house) open() {
	h.t.Helper()
	h.opt.Apps = h.apps
	if h.opt.Dialer == nil {
		h.opt.Dialer = h.peers
	}
	h.opt.Audit = h
	h.opt.Observe = func(s Signal) {
		s.Params = slices.Clone(s.Params)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.signals = append(h.signals, s)
	}
	h.Host = New(h.opt)
	h.Start(h.t.Context())
	synctest.Wait()
}

// pass lets time pass.
func (h *house) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *house) Append(r audit.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
}

// state returns an app's state.
func (h *house) state(key string) State {
	s, _ := h.AppStatus(key)
	return s.State
}

func (h *house) wantState(key string, want State) Status {
	h.t.Helper()
	s, ok := h.AppStatus(key)
	if !ok {
		h.t.Fatalf("there is no app %q", key)
	}
	if s.State != want {
		h.t.Fatalf("app %s is %s (%s), want %s", key, s.State, s.Reason, want)
	}
	return s
}

// wantReason checks that an app's reason holds all of the texts.
func (h *house) wantReason(key string, texts ...string) {
	h.t.Helper()
	s, _ := h.AppStatus(key)
	for _, text := range texts {
		if !strings.Contains(s.Reason, text) {
			h.t.Errorf("the reason of %s is %q; %q is missing", key, s.Reason, text)
		}
	}
}

// tools returns the canonical names that are listed.
func (h *house) tools() []string {
	list := []string{}
	for _, t := range h.Catalog().Tools() {
		list = append(list, t.Name)
	}
	return list
}

func (h *house) wantTools(want ...string) {
	h.t.Helper()
	if got := h.tools(); !slices.Equal(got, want) {
		h.t.Errorf("the catalog has %q, want %q", got, want)
	}
}

var cli = call.Caller{Kind: call.CLI}

// call calls a tool from the command line.
func (h *house) call(name, args string) call.Result {
	return h.Call(h.t.Context(), call.Call{Caller: cli, Name: name, Args: json.RawMessage(args)})
}

// calling calls a tool in the background.
func (h *house) calling(name, args string) <-chan call.Result {
	return h.callingAs(h.t.Context(), call.Call{Caller: cli, Name: name, Args: json.RawMessage(args)})
}

func (h *house) callingAs(ctx context.Context, c call.Call) <-chan call.Result {
	done := make(chan call.Result, 1)
	go func() { done <- h.Call(ctx, c) }()
	return done
}

func wantOK(t *testing.T, r call.Result, result string) {
	t.Helper()
	if r.Outcome != call.OK || r.Err != nil {
		t.Fatalf("%s ended as %s (%v), want ok", r.Tool, r.Outcome, r.Err)
	}
	if !strings.Contains(string(r.Raw), result) {
		t.Errorf("%s answered %s, want %s in it", r.Tool, r.Raw, result)
	}
}

// wantEnd checks outcome, code and parts of the message.
func wantEnd(t *testing.T, r call.Result, o call.Outcome, code call.Code, texts ...string) {
	t.Helper()
	if r.Outcome != o || r.Err == nil || r.Err.Code != code {
		t.Fatalf("%s ended as %s (%v), want %s and %s", r.Tool, r.Outcome, r.Err, o, code)
	}
	for _, text := range texts {
		if !strings.Contains(r.Err.Message, text) {
			t.Errorf("the message is %q; %q is missing", r.Err.Message, text)
		}
	}
}

// ofKind returns the signals of a kind.
func (h *house) ofKind(k SignalKind) []Signal {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []Signal
	for _, s := range h.signals {
		if s.Kind == k {
			list = append(list, s)
		}
	}
	return list
}

// peers is a Dialer whose processes are scripted servers in memory.
type peers struct {
	t       *testing.T
	scripts map[string]func(run int) string

	mu      sync.Mutex // guards what follows
	started map[string][]*process
	refuse  map[string]error // answered instead of a link
	pid     int
}

func (p *peers) Dial(ctx context.Context, app *config.App) (*Link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refuse[app.Key]; err != nil {
		return nil, err
	}
	text := p.scripts[app.Key](len(p.started[app.Key]) + 1)
	script, err := testkit.Parse(app.Key, text)
	if err != nil {
		panic(err)
	}
	mortal := &mortal{TB: p.t}
	peer := testkit.StartPeer(mortal, script)
	p.t.Cleanup(mortal.kill)
	p.pid++
	child := &process{peer: peer, pid: 1000 + p.pid, kill: mortal.kill}
	p.started[app.Key] = append(p.started[app.Key], child)
	first := make(chan struct{})
	t := mcp.NewStdio(&firstByte{r: peer.Out, first: first}, peer.In, mcp.StdioOptions{})
	return &Link{Transport: t, Process: child, FirstByte: first}, nil
}

func (p *peers) refuseWith(key string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse[key] = err
}

// starts returns how many processes an app had.
func (h *house) starts(key string) int {
	h.peers.mu.Lock()
	defer h.peers.mu.Unlock()
	return len(h.peers.started[key])
}

// last returns an app's latest process.
func (h *house) last(key string) *process {
	h.peers.mu.Lock()
	defer h.peers.mu.Unlock()
	all := h.peers.started[key]
	return all[len(all)-1]
}

// all returns all processes of an app.
func (h *house) all(key string) []*process {
	h.peers.mu.Lock()
	defer h.peers.mu.Unlock()
	return slices.Clone(h.peers.started[key])
}

// A process is a scripted server that looks like a child process.
type process struct {
	peer *testkit.Peer
	pid  int
	stop sync.Once
	kill func()
}

// A mortal lets a scripted server be ended before its test ends, as by KILL.
type mortal struct {
	testing.TB
	mu   sync.Mutex // guards last
	last []func()
}

func (m *mortal) Cleanup(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = append(m.last, f)
}

func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.last {
		f()
	}
	m.last = nil
}

func (p *process) PID() int              { return p.pid }
func (p *process) Done() <-chan struct{} { return p.peer.Done() }

func (p *process) Exit() (proc.Exit, bool) {
	select {
	case <-p.peer.Done():
		return proc.Exit{Code: p.peer.ExitCode()}, true
	default:
		return proc.Exit{}, false
	}
}

func (p *process) StderrTail(n int) []string {
	text := strings.TrimSuffix(p.peer.Stderr(), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}

// Stop is the ladder of proc, with signals of the script.
func (p *process) Stop(ctx context.Context) proc.Exit {
	p.stop.Do(func() {
		p.peer.In.Close()
		select {
		case <-p.peer.Done():
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
			go p.peer.Signal("TERM")
		}
		select {
		case <-p.peer.Done():
		case <-ctx.Done():
		case <-time.After(3 * time.Second):
		}
		p.kill()
		p.peer.Out.Close()
	})
	<-p.peer.Done()
	e, _ := p.Exit()
	return e
}

// received counts what a process got of a method.
func (p *process) received(method string) int {
	n := 0
	for _, e := range p.peer.Events() {
		var m struct{ Method string }
		if e.Kind == "received" && json.Unmarshal(e.Message, &m) == nil && m.Method == method {
			n++
		}
	}
	return n
}

// params returns the params of the messages of a method that a process got.
func (p *process) params(method string) []string {
	var list []string
	for _, e := range p.peer.Events() {
		var m struct {
			Method string
			Params json.RawMessage
		}
		if e.Kind == "received" && json.Unmarshal(e.Message, &m) == nil && m.Method == method {
			list = append(list, string(m.Params))
		}
	}
	return list
}

// methods returns the methods of all messages that a process got, in order.
func (p *process) methods() []string {
	var list []string
	for _, e := range p.peer.Events() {
		var m struct{ Method string }
		if e.Kind == "received" && json.Unmarshal(e.Message, &m) == nil {
			list = append(list, m.Method)
		}
	}
	return list
}

func (p *process) running() bool {
	_, ended := p.Exit()
	return !ended
}

// firstByte tells of the first byte that is read.
type firstByte struct {
	r interface {
		Read([]byte) (int, error)
	}
	first chan struct{}
	once  sync.Once
}

func (f *firstByte) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if n > 0 {
		f.once.Do(func() { close(f.first) })
	}
	return n, err
}

var errTransient = errors.New("the network is down")
