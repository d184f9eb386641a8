package host

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/testkit"
)

// A street is a host with real processes.
type street struct {
	*Host
	t   *testing.T
	dir string

	mu    sync.Mutex // guards links
	links []*Link
	stdio StdioDialer
}

func newStreet(t *testing.T) *street {
	t.Helper()
	l, err := proc.NewLauncher(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &street{t: t, dir: t.TempDir(), stdio: StdioDialer{Launcher: l}}
	t.Cleanup(func() {
		if s.Host != nil {
			if err := s.Close(context.Background()); err != nil {
				t.Errorf("closing: %v", err)
			}
			for _, link := range s.links {
				if _, ended := link.Process.Exit(); !ended {
					t.Errorf("process %d outlived the host", link.Process.PID())
				}
			}
		}
		if err := l.Close(); err != nil {
			t.Errorf("closing the launcher: %v", err)
		}
	})
	return s
}

func (s *street) Dial(ctx context.Context, app *config.App) (*Link, error) {
	link, err := s.stdio.Dial(ctx, app)
	if err == nil {
		s.mu.Lock()
		s.links = append(s.links, link)
		s.mu.Unlock()
	}
	return link, err
}

// scripted is an app whose process serves a script.
func (s *street) scripted(key, script string) *config.App {
	s.t.Helper()
	file := filepath.Join(s.dir, key)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	argv, env, err := testkit.Child(file, "")
	if err != nil {
		s.t.Fatal(err)
	}
	c := appConfig(key)
	c.MCP.Command, c.MCP.Env = argv, slices.Concat(os.Environ(), env)
	return c
}

func (s *street) open(apps ...*config.App) {
	s.Host = New(Options{Apps: apps, Dialer: s})
	s.Start(s.t.Context())
}

func TestTwentyAppsOfWhichOneIsSilentAndOneExits(t *testing.T) {
	s := newStreet(t)
	var apps []*config.App
	var fine []string
	for i := range 18 {
		c := echoApp(fmt.Sprintf("echo-%02d", i))
		fine = append(fine, c.Key)
		apps = append(apps, c)
	}
	mute := s.scripted("mute", "start\n  stderr waiting for the database at db.internal:5432\non initialize\n  ignore")
	mute.MCP.HealthTimeout *= 60 // it must not give up before the others are seen
	exits := s.scripted("exits", "start\n  stderr ERROR: DEMO_TOKEN is not set\n  exit 2")
	apps = slices.Insert(apps, 7, mute)
	apps = slices.Insert(apps, 3, exits)
	s.open(apps...)

	if err := s.Settled(t.Context(), append(fine, "exits")...); err != nil {
		t.Fatal(err)
	}
	// All that can be ready are, and the silent one is still starting.
	for _, st := range s.Status() {
		want := Ready
		switch st.Key {
		case "mute":
			want = Starting
		case "exits":
			want = Restarting
		}
		if st.State != want {
			t.Errorf("app %s is %s (%s), want %s", st.Key, st.State, st.Reason, want)
		}
	}
	if n := len(s.Catalog().Tools()); n != 18 {
		t.Errorf("%d tools are listed, want 18", n)
	}
	for _, key := range fine {
		r := s.Call(t.Context(), call.Call{Caller: cli, Name: key + ".echo", Args: []byte(`{"from":"` + key + `"}`)})
		wantOK(t, r, key)
	}
	st, _ := s.AppStatus("exits")
	if !strings.Contains(st.Reason, "exited with code 2 before it answered initialize") || !slices.Contains(st.LastStderr, "ERROR: DEMO_TOKEN is not set") {
		t.Errorf("of the app that exits it is said %q, %q", st.Reason, st.LastStderr)
	}
	st, _ = s.AppStatus("mute")
	if st.PID == 0 || !strings.Contains(st.Reason, "has not answered initialize") {
		t.Errorf("of the silent app it is said %q, pid %d", st.Reason, st.PID)
	}
}

func TestP06ASignalIsNamed(t *testing.T) {
	s := newStreet(t)
	c := s.scripted("demo", "start\n  stderr about to fall\n  kill SEGV")
	c.MCP.Restart.Enabled = false
	s.open(c)
	if err := s.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, _ := s.AppStatus("demo")
	if st.State != Unavailable || !strings.Contains(st.Reason, "killed by SIGSEGV") || !strings.Contains(st.Reason, "about to fall") || st.Exit.Signal != "SIGSEGV" {
		t.Errorf("it is %s: %s, exit %+v", st.State, st.Reason, st.Exit)
	}
}

func TestP01AMissingCommandIsPermanentAndSaysWhere(t *testing.T) {
	s := newStreet(t)
	c := appConfig("demo")
	c.MCP.Command = []string{"no-such-launcher-zz"}
	c.MCP.Env = []string{"PATH=/nowhere"}
	remote := appConfig("remote")
	remote.MCP.Transport, remote.MCP.URL = config.StreamableHTTP, "https://host.example/mcp"
	s.open(c, remote, echoApp("echo"))
	if err := s.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, texts := range map[string][]string{
		"demo":   {"no-such-launcher-zz", "/nowhere", "aurora apps restart demo"},
		"remote": {"streamable-http"},
	} {
		st, _ := s.AppStatus(key)
		if st.State != Unavailable || st.Restarts != 0 {
			t.Errorf("app %s is %s after %d restarts", key, st.State, st.Restarts)
		}
		for _, text := range texts {
			if !strings.Contains(st.Reason, text) {
				t.Errorf("the reason of %s is %q; %q is missing", key, st.Reason, text)
			}
		}
	}
	wantOK(t, s.Call(t.Context(), call.Call{Caller: cli, Name: "echo"}), "{}")
}

func TestAProcessThatClosesItsStdoutIsSaidToHaveDoneSo(t *testing.T) {
	s := newStreet(t)
	c := s.scripted("demo", "tool leave\non tools/call leave\n  close stdout\n  sleep 1m\n")
	c.MCP.Restart.Enabled = false
	crashed := make(chan string, 1)
	s.Host = New(Options{Apps: []*config.App{c}, Dialer: s, Observe: func(g Signal) {
		if g.Kind == SignalCrashed {
			crashed <- g.Reason
		}
	}})
	s.Start(t.Context())
	r := s.Call(t.Context(), call.Call{Caller: cli, Name: "demo.leave"})
	wantEnd(t, r, call.Unknown, call.OutcomeUnknown, "It closed its stdout.")
	if why := <-crashed; why != "It closed its stdout and ran on." {
		t.Errorf("the reason is %q", why)
	}
}

func TestASecretAtTheEdgeOfANoiseLineIsMasked(t *testing.T) {
	s := newStreet(t)
	var logged bytes.Buffer
	s.stdio.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	s.stdio.Redact = redact.New("correct-horse-battery")
	// The line is cut for the log within the secret.
	c := s.scripted("demo", "start\n  stdout "+strings.Repeat("x", 190)+"correct-horse-battery\n  stdout \x1b[33m[warn]\n")
	s.open(c)
	if err := s.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := logged.String(); strings.Contains(text, "correct") || !strings.Contains(text, "x•••") || !strings.Contains(text, `\x1b[33m`) {
		t.Errorf("logged:\n%s", text)
	}
}
