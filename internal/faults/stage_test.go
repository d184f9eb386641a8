package faults

import (
	"bytes"
	"context"
	"errors"
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
	"github.com/aurorabot/aurora/internal/testkit"
)

// patience is how long a step may take before it counts as hanging.
const patience = 100 * time.Second

// A stage is where one section of steps is played: a home and a host.
type stage struct {
	t       *testing.T
	archive *testkit.Archive
	home    string
	conf    *config.Config        // nil until it was read
	host    *host.Host            // nil until it was started
	inbox   *inboxOf              // nil: there is none
	web     map[string]*webServer // servers that are reached over HTTP, by name
	log     *logBuffer
	last    *outcome
	open    map[string]*outcome // calls under way, by ID
	kept    map[string]string

	mu       sync.Mutex // guards observed
	observed []observed
}

// observed is what a test remembers of a signal.
type observed struct{ app, kind, method, params string }

// An outcome is a call with its result, once done is closed.
type outcome struct {
	cancel context.CancelFunc
	done   chan struct{}
	result call.Result

	mu       sync.Mutex // guards progress
	progress []string
}

// A logBuffer takes log lines from many goroutines.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newStage builds the home: the servers as commands or behind HTTP, the other
// sections as files. how says how servers behave there that have no section of
// their own about it; empty: they are commands.
func newStage(t *testing.T, a *testkit.Archive, how string) *stage {
	t.Helper()
	s := &stage{
		t: t, archive: a, home: filepath.Join(t.TempDir(), "我的 home"),
		log: &logBuffer{}, open: map[string]*outcome{}, kept: map[string]string{},
	}
	s.must(os.MkdirAll(s.file("bin"), 0o700))
	s.must(os.MkdirAll(s.file("apps"), 0o700))
	apps := "apps:\n"
	for _, name := range a.Servers() {
		if text, line, ok := a.Section(webPrefix + name); ok {
			apps += s.serve(name, text, line)
			continue
		}
		_, err := testkit.Put(s.file("bin"), name, a.Path+"#"+name)
		s.must(err)
		if how != "" {
			apps += s.serve(name, how, 1)
			continue
		}
		apps += fmt.Sprintf("  %q: {mcp: {command: [%[1]q]}}\n", name)
	}
	s.must(os.WriteFile(s.file("apps/config.yml"), []byte(apps), 0o600))
	for _, name := range a.Sections() {
		if strings.HasPrefix(name, "server: ") || strings.HasPrefix(name, webPrefix) || strings.HasPrefix(name, "steps") {
			continue
		}
		text, _, _ := a.Section(name)
		s.must(os.MkdirAll(filepath.Dir(s.file(name)), 0o700))
		s.must(os.WriteFile(s.file(name), []byte(text), 0o600))
	}
	t.Cleanup(s.clear)
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) file(name string) string { return filepath.Join(s.home, filepath.FromSlash(name)) }

// check reads the configuration.
func (s *stage) check() {
	conf, err := config.Load(config.Options{
		Home:     s.home,
		Env:      append(s.addresses(), "PATH="+s.file("bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+s.home),
		LookPath: proc.LookPath,
	})
	s.must(err)
	s.conf = conf
	s.rewire()
}

// up starts the host as aurora up does, with all apps or those named by only.
func (s *stage) up(keepGoing bool, only ...string) error {
	if s.host != nil {
		return errors.New("the host is up already")
	}
	if s.conf == nil {
		s.check()
	}
	faults := map[string]string{}
	for _, p := range s.conf.Errors() {
		if p.App == "" || !keepGoing {
			return nil // expect problems … says which
		}
		faults[p.App] = p.String()
	}
	var apps []*config.App
	for _, app := range s.conf.Apps {
		if len(only) == 0 || slices.Contains(only, app.Key) {
			apps = append(apps, app)
		}
	}
	if len(only) > 0 && len(apps) != len(only) {
		return fmt.Errorf("of %q only %d are apps", only, len(apps))
	}
	if s.inbox != nil {
		if err := s.inbox.open(s); err != nil {
			return err
		}
	}
	logger := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s.host = host.New(host.Options{
		Apps:   apps,
		Faults: faults,
		Dialer: host.Dialers{
			Local:  &host.StdioDialer{Launcher: launcher, Logger: logger, Redact: s.conf.Redact},
			Remote: &host.RemoteDialer{Logger: logger},
		},
		Logger:  logger,
		Redact:  s.conf.Redact,
		Observe: s.observe,
		// Rows run side by side on few cores: spawning is not what they test.
		Concurrency: 16,
		DrainTime:   -1,
	})
	if s.inbox != nil {
		s.inbox.host.Store(s.host)
	}
	s.host.Start(s.t.Context())
	return nil
}

func (s *stage) observe(sig host.Signal) {
	s.inbox.tell(sig)
	if sig.App == nil {
		return
	}
	o := observed{sig.App.Key, string(sig.Kind), sig.Method, string(sig.Params)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed = append(s.observed, o)
}

// down closes the host.
func (s *stage) down() {
	if s.host == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.host.Close(ctx); err != nil {
		s.t.Errorf("closing the host: %v", err)
	}
	if ctx.Err() != nil {
		s.t.Error("closing the host hangs")
	}
	s.host = nil
	if s.inbox != nil {
		s.inbox.close()
	}
}

// clear ends the test: the host goes down, and nothing of it is left.
func (s *stage) clear() {
	if s.t.Failed() {
		s.explain()
	}
	for _, o := range s.open {
		o.cancel()
	}
	s.down()
	for _, o := range s.open {
		<-o.done
	}
	for _, name := range s.archive.Servers() {
		if left := s.leftovers(s.file("bin/" + name)); len(left) > 0 {
			s.t.Errorf("processes of server %s are left over: %v", name, left)
		}
	}
}

// explain shows what there is to see when a step has failed.
func (s *stage) explain() {
	if s.last != nil {
		r := s.last.result
		s.t.Logf("the last call: %s of %s after %v: %.300s %v", r.Outcome, r.Tool, r.Duration.Round(time.Millisecond), r.Raw, r.Err)
	}
	if s.host != nil {
		for _, st := range s.host.Status() {
			s.t.Logf("app %s: %s since %s: %s\n\texit %v, noise %d, warnings %q\n\tstderr %q",
				st.Key, st.State, st.Since.Format("15:04:05.000"), st.Reason, st.Exit, st.NoiseLines, st.Warnings, st.LastStderr)
		}
	}
	if s.conf != nil {
		for _, p := range s.conf.Problems {
			s.t.Logf("problem %s", p)
		}
	}
	for _, name := range s.archive.Servers() {
		events, err := testkit.Events(s.file("bin/" + name))
		if err != nil {
			s.t.Log(err)
		}
		for i, e := range events {
			if i == 40 {
				s.t.Logf("… and %d more events", len(events)-i)
				break
			}
			s.t.Logf("server %s run %d pid %d: %s %s %.300s", name, e.Run, e.PID, e.Kind, e.Text, e.Message)
		}
	}
	if text := s.log.String(); len(text) > 0 {
		s.t.Logf("log:\n%.4000s", text)
	}
}

// begin makes a call on a goroutine of its own.
func (s *stage) begin(c call.Call) *outcome {
	ctx, cancel := context.WithCancel(context.Background())
	o := &outcome{cancel: cancel, done: make(chan struct{})}
	c.Caller = call.Caller{Kind: call.CLI}
	c.OnProgress = func(p call.Progress) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.progress = append(o.progress, fmt.Sprint(p.Progress))
	}
	h := s.host
	go func() {
		defer close(o.done)
		o.result = h.Call(ctx, c)
	}()
	return o
}

// finish waits for a call.
func (s *stage) finish(o *outcome) {
	s.t.Helper()
	select {
	case <-o.done:
		o.cancel()
	case <-time.After(patience):
		s.explain()
		panic(fmt.Sprintf("%s: a call hangs", s.t.Name())) // a goroutine is lost; no test can go on
	}
	s.last = o
}

// record returns what the server of an app has recorded.
func (s *stage) record(app *config.App) []testkit.Event {
	if len(app.MCP.Command) == 0 {
		return s.webRecord(app)
	}
	events, err := testkit.Events(s.serverPath(app))
	s.must(err)
	return events
}

// serverPath is where the command of an app lies and its record beside it.
func (s *stage) serverPath(app *config.App) string {
	return s.file("bin/" + filepath.Base(app.MCP.Command[0]))
}

// leftovers returns the processes that a server's record names and that exist.
func (s *stage) leftovers(path string) []int {
	events, err := testkit.Events(path)
	s.must(err)
	var pids []int
	for _, e := range events {
		if (e.Kind == "start" || e.Kind == "fork") && exists(e.PID) && !slices.Contains(pids, e.PID) {
			pids = append(pids, e.PID)
		}
	}
	return pids
}
