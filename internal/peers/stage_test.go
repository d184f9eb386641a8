package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/proc"
)

// patience is how long anything may take before it counts as hanging: Node and
// Python need seconds to start on a busy machine.
const patience = 3 * time.Minute

var caller = call.Caller{Kind: call.CLI}

// A stage is one home with one server in it, and a host that runs it.
type stage struct {
	*testing.T
	key   string
	home  string
	host  *host.Host
	facts *facts
	far   *farServer // nil: the host runs the server

	mu      sync.Mutex    // guards seen
	seen    []signal      // in the order they came
	changed chan struct{} // closed and replaced with each signal
}

// A signal is what a test remembers of a host.Signal.
type signal struct {
	kind   host.SignalKind
	method string
	params string
}

// up starts a server as aurora up does and waits until it is ready. The words
// of the command may hold HOME for the folder that the server may use.
func up(t *testing.T, f *facts, command ...string) *stage {
	t.Helper()
	s := &stage{T: t, key: f.Key, facts: f, changed: make(chan struct{})}
	// A path that many a server has stumbled over.
	s.home = filepath.Join(t.TempDir(), "我的 home")
	s.must(os.MkdirAll(filepath.Join(s.home, "apps"), 0o700))
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "HOME", s.home)
	}
	words, err := json.Marshal(command)
	s.must(err)
	way := fmt.Sprintf("command: %s, cwd: .", words)
	if f.remote != nil {
		way = s.serve(command)
	}
	yaml := fmt.Sprintf("apps:\n  %s:\n    mcp: {%s, health_timeout_seconds: 170}\n", s.key, way)
	s.must(os.WriteFile(filepath.Join(s.home, "apps", "config.yml"), []byte(yaml), 0o600))

	conf, err := config.Load(config.Options{
		Home:     s.home,
		Env:      append(os.Environ(), "TOP_SECRET=not for servers"),
		LookPath: proc.LookPath,
	})
	s.must(err)
	if problems := conf.Errors(); len(problems) > 0 {
		s.Fatal(problems)
	}
	s.host = host.New(host.Options{
		Apps: conf.Apps,
		Dialer: host.Dialers{
			Local:  &host.StdioDialer{Launcher: launcher, Logger: slog.New(slog.DiscardHandler)},
			Remote: &host.RemoteDialer{},
		},
		Redact:    conf.Redact,
		Observe:   s.observe,
		DrainTime: -1,
	})
	s.host.Start(t.Context())
	t.Cleanup(s.down)
	ctx, cancel := s.limit()
	defer cancel()
	s.must(s.host.Settled(ctx))
	if status := s.status(); status.State != host.Ready {
		s.Fatalf("%s is %s: %s\n%s", s.key, status.State, status.Reason, strings.Join(status.LastStderr, "\n"))
	}
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// limit returns a context that ends when a step hangs.
func (s *stage) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func (s *stage) file(name string) string { return filepath.Join(s.home, name) }

func (s *stage) status() host.Status {
	status, _ := s.host.AppStatus(s.key)
	return status
}

// down stops everything, and fails when something of it is left.
func (s *stage) down() {
	if s.host == nil {
		return
	}
	if s.Failed() {
		status := s.status()
		s.Logf("%s: %s; exit %+v; stderr:\n%s", status.State, status.Reason, status.Exit, strings.Join(status.LastStderr, "\n"))
	}
	ctx, cancel := s.limit()
	defer cancel()
	if err := s.host.Close(ctx); err != nil {
		s.Errorf("closing: %v", err)
	}
	s.host = nil
	s.far.end()
	left, known := processesOf(s.home)
	if len(left) > 0 {
		s.Errorf("left running: %v", left)
	} else if known && s.facts.remote == nil {
		s.facts.saw("stop", "yes")
	}
}

func (s *stage) observe(sig host.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, signal{sig.Kind, sig.Method, string(sig.Params)})
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits for a signal of that kind whose method and params hold the given
// texts, and returns it. Signals before the first since are not looked at.
func (s *stage) await(since int, kind host.SignalKind, method, params string) signal {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	for {
		s.mu.Lock()
		seen, changed := s.seen, s.changed
		s.mu.Unlock()
		for _, sig := range seen[min(since, len(seen)):] {
			if sig.kind == kind && strings.Contains(sig.method, method) && strings.Contains(sig.params, params) {
				return sig
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.Fatalf("no signal %s %s %s; there were %v", kind, method, params, seen)
		}
	}
}

// now returns how many signals there were so far, for await.
func (s *stage) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// call calls a tool by its upstream name.
func (s *stage) call(name, args string) call.Result {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	return s.host.Call(ctx, call.Call{Caller: caller, Name: s.key + "." + name, Args: json.RawMessage(args)})
}

// ok calls a tool that must succeed with a result that holds want.
func (s *stage) ok(name, args, want string) call.Result {
	s.Helper()
	return s.expect(s.call(name, args), call.OK, want)
}

// expect fails unless a result has the outcome and holds want.
func (s *stage) expect(r call.Result, outcome call.Outcome, want string) call.Result {
	s.Helper()
	text := string(r.Raw)
	if r.Err != nil {
		text += " " + r.Err.Error()
	}
	if r.Outcome != outcome || !strings.Contains(text, want) {
		s.Fatalf("%s: %s, want %s with %q: %s", r.Tool, r.Outcome, outcome, want, text)
	}
	return r
}

// read reads a resource that must hold want.
func (s *stage) read(uri, want string) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	s.expect(s.host.Read(ctx, caller, uri, ""), call.OK, want)
}

// complete asks for completions, which must be exactly want.
func (s *stage) complete(c host.Completion, want ...string) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	r := s.expect(s.host.Complete(ctx, caller, c), call.OK, "")
	var got struct {
		Completion struct{ Values []string } `json:"completion"`
	}
	s.must(json.Unmarshal(r.Raw, &got))
	if !slices.Equal(got.Completion.Values, want) {
		s.Fatalf("%+v: %q, want %q", c, got.Completion.Values, want)
	}
	s.facts.saw("completion", "yes")
}

// lists checks that all lists are there, by their lengths, and notes what the
// server said of itself.
func (s *stage) lists(tools, resources, templates, prompts int) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	s.host.Fresh(ctx)
	c := s.host.Catalog()
	got := [4]int{len(c.Tools()), len(c.Resources()), len(c.Templates()), len(c.Prompts())}
	if want := [4]int{tools, resources, templates, prompts}; got != want {
		s.Fatalf("tools, resources, templates, prompts: %v, want %v", got, want)
	}
	status := s.status()
	if len(status.Warnings) > 0 {
		s.facts.saw("warnings", strings.Join(status.Warnings, "; "))
	}
	s.facts.count(status, got)
}

// subscribe subscribes to a resource, makes it change and waits to be told.
func (s *stage) subscribe(uri string, change func()) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	s.expect(s.host.Subscribe(ctx, caller, uri, ""), call.OK, "")
	since := s.now()
	change()
	s.await(since, host.SignalNotified, "notifications/resources/updated", uri)
	s.expect(s.host.Unsubscribe(ctx, caller, uri, ""), call.OK, "")
	s.facts.saw("subscription", "yes")
}

// progress makes a call that reports progress, and returns what it reported.
func (s *stage) progress(name, args string) []call.Progress {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	var mu sync.Mutex // guards got
	var got []call.Progress
	r := s.host.Call(ctx, call.Call{
		Caller: caller, Name: s.key + "." + name, Args: json.RawMessage(args),
		OnProgress: func(p call.Progress) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, p)
		},
	})
	s.expect(r, call.OK, "")
	mu.Lock()
	defer mu.Unlock()
	s.facts.saw("progress", "yes")
	return got
}

// cancel begins a call, gives it up at its first progress, and expects the
// outcome of that.
func (s *stage) cancel(name, args string) {
	s.Helper()
	ctx, stop := s.limit()
	defer stop()
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	r := s.host.Call(ctx, call.Call{
		Caller: caller, Name: s.key + "." + name, Args: json.RawMessage(args),
		OnProgress: func(call.Progress) { giveUp() },
	})
	s.expect(r, call.Cancelled, "")
	s.facts.saw("cancellation", "yes")
}

// restart kills the server and expects the next call to find it alive again.
func (s *stage) restart(name, args, want string) {
	s.Helper()
	if s.far != nil {
		s.restartFar(name, args, want)
		return
	}
	since := s.now()
	p, err := os.FindProcess(s.status().PID)
	s.must(err)
	s.must(p.Kill())
	s.await(since, host.SignalCrashed, "", "")
	s.ok(name, args, want)
	if n := s.status().Restarts; n != 1 {
		s.Errorf("%d restarts, want 1", n)
	}
	s.facts.saw("restart", "yes")
}

// prompt fills in a prompt, which must hold want.
func (s *stage) prompt(name, args, want string) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	s.expect(s.host.Prompt(ctx, caller, s.key+"."+name, json.RawMessage(args)), call.OK, want)
}

// appears waits until a file that a server writes by itself has a text. There
// is nothing else to wait for, so it asks the server meanwhile.
func (s *stage) appears(file, text string) {
	s.Helper()
	ctx, cancel := s.limit()
	defer cancel()
	for {
		if got, err := os.ReadFile(file); err == nil && string(got) == text {
			return
		}
		if ctx.Err() != nil {
			s.Fatalf("%s never held %q", file, text)
		}
		s.ok("big_number", `{}`, "")
	}
}
