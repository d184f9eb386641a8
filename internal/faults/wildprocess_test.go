package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/testkit"
)

// The same with processes, pipes and signals.
func TestEveryCallEndsOnceWhateverHappensToProcesses(t *testing.T) {
	n := 4
	if long {
		n = 100
	}
	if testing.Short() {
		n = 1
	}
	for _, seed := range seeds(t, n) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := newProcessWorld(t, restless)
			keys := []string{"one", "two", "three"}
			d := newWild(t, seed, w, 20*time.Millisecond, keys, func(key string) *config.App { return w.app(key) })
			d.live(300)
			d.calm()
			d.end()
			for _, key := range keys {
				for _, events := range w.runs(key) {
					for _, e := range events {
						if e.Kind == "start" && exists(e.PID) {
							t.Errorf("process %d of %s is left over", e.PID, key)
						}
					}
				}
			}
		})
	}
}

// A processWorld runs servers as processes, all with one script.
type processWorld struct {
	t      *testing.T
	dir    string
	script string
	stdio  host.StdioDialer

	mu    sync.Mutex // guards links
	links map[string]*host.Link
}

func newProcessWorld(t *testing.T, script string) *processWorld {
	t.Helper()
	w := &processWorld{t: t, dir: t.TempDir(), links: map[string]*host.Link{}, stdio: host.StdioDialer{Launcher: launcher}}
	w.script = filepath.Join(w.dir, "script")
	if err := os.WriteFile(w.script, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// app returns an app whose command is a server of its own.
func (w *processWorld) app(key string) *config.App {
	w.t.Helper()
	path, err := testkit.Put(w.dir, key, w.script)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &config.App{}
	c.MCP.Transport = config.Stdio
	c.MCP.Command = []string{path}
	c.MCP.Env = os.Environ()
	c.MCP.HealthTimeout = patience
	return c
}

func (w *processWorld) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	link, err := w.stdio.Dial(ctx, app)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.links[app.Key] = link
	}
	return link, err
}

func (w *processWorld) tells(string) bool   { return true }
func (w *processWorld) ordered(string) bool { return true }

func (w *processWorld) kill(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if link := w.links[key]; link != nil {
		link.Process.(*proc.Process).Kill()
	}
}

func (w *processWorld) runs(key string) [][]testkit.Event {
	events, err := testkit.Events(filepath.Join(w.dir, key))
	if err != nil {
		w.t.Fatal(err)
	}
	var pids []int
	runs := map[int][]testkit.Event{}
	for _, e := range events {
		if e.Kind == "start" {
			pids = append(pids, e.PID)
		}
		runs[e.PID] = append(runs[e.PID], e)
	}
	var list [][]testkit.Event
	for _, pid := range pids {
		list = append(list, runs[pid])
	}
	return list
}
