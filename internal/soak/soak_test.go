package soak

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/bridge"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.RunIfChild()
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// howLong is how long the house lives.
func howLong(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("AURORA_TEST_SOAK")
	d, err := time.ParseDuration(text)
	switch {
	case text != "" && err != nil:
		t.Fatalf("AURORA_TEST_SOAK: %v", err)
	case text != "":
		return d
	case testing.Short():
		return 5 * time.Second
	case os.Getenv("AURORA_TEST_LONG") != "":
		return 30 * time.Minute
	}
	return time.Minute
}

// patience is how long a wait may take before it counts as hanging.
const patience = 2 * time.Minute

// A house is a platform with its apps and their callers.
type house struct {
	t        *testing.T
	host     *host.Host
	launcher *proc.Launcher
	bridge   *bridge.Bridge
	spool    *spool.Spool
	apps     []*config.App
	close    []func() // in reverse order

	calls    atomic.Int64
	outcomes sync.Map // call.Outcome → *atomic.Int64
	events   atomic.Int64
}

// Crashing, flooding, slow, babbling and healthy apps together cost nothing that
// stays: between an early and a late moment of rest nothing has grown.
func TestNothingGrows(t *testing.T) {
	before := measure()
	seed := rand.Uint64()
	whole := howLong(t)
	t.Logf("seed %d, %v", seed, whole)
	h := open(t)
	r := rand.New(rand.NewPCG(seed, 1))

	h.live(r, whole/5) // everything that is made once is made by now
	h.rest()
	early := measure()
	t.Logf("early:  %s", early)
	peak := h.live(r, whole-whole/5)
	t.Logf("peak:   %s", peak)
	h.rest()
	late := measure()
	t.Logf("late:   %s", late)
	h.end()
	after := measure()
	t.Logf("closed: %s", after)
	h.report()

	early.mustHold(t, "a late moment of rest", late, 8, 16<<20)
	before.mustHold(t, "the end", after, 8, 32<<20) // the servers over HTTP are still there
}

// open makes the house.
func open(t *testing.T) *house {
	t.Helper()
	h := &house{t: t}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	h.launcher, err = proc.NewLauncher(proc.Options{})
	must(err)
	h.spool, err = spool.Open(t.TempDir(), spool.Options{MaxFiles: 2000, KeepDone: spool.Retention{Count: 100}})
	must(err)
	h.bridge, err = bridge.New(bridge.Options{Outlets: []bridge.Outlet{{
		Name: "inbox", Spool: h.spool, Include: []string{"*"}, ToolCallers: []call.CallerKind{call.CLI},
	}}})
	must(err)
	h.apps = newApps(t)
	h.host = host.New(host.Options{
		Apps: h.apps,
		Dialer: host.Dialers{
			Local:  &host.StdioDialer{Launcher: h.launcher, Logger: slog.New(slog.DiscardHandler)},
			Remote: &host.RemoteDialer{},
		},
		Audit:   h,
		Observe: h.bridge.Observe,
	})

	ctx, stop := context.WithCancel(context.Background())
	var helpers sync.WaitGroup
	helpers.Go(func() { h.spool.Run(ctx) })
	helpers.Go(func() { h.consume(ctx) })
	bridged := make(chan error, 1)
	running, unbridge := context.WithCancel(context.Background())
	go func() { bridged <- h.bridge.Run(running) }()
	h.host.Start(context.Background())
	h.close = append(h.close,
		func() {
			stop()
			helpers.Wait()
		},
		func() {
			unbridge()
			if err := <-bridged; err != nil {
				t.Errorf("the bridge: %v", err)
			}
		},
		func() {
			if err := h.launcher.Close(); err != nil {
				t.Errorf("closing the launcher: %v", err)
			}
		},
		func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := h.host.Close(ctx); err != nil {
				t.Errorf("closing the host: %v", err)
			}
		})
	return h
}

// Append counts what the audit would write.
func (h *house) Append(r audit.Record) {
	h.calls.Add(1)
	n, _ := h.outcomes.LoadOrStore(r.Outcome, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// consume is the reader of the inbox.
func (h *house) consume(ctx context.Context) {
	for {
		claim, err := h.spool.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				h.t.Errorf("the inbox: %v", err)
			}
			return
		}
		if err := claim.Done(); err != nil {
			h.t.Errorf("the inbox: %v", err)
		}
		if h.events.Add(1)%500 == 0 {
			h.spool.Sweep(time.Now())
		}
	}
}

// end closes the house.
func (h *house) end() {
	for i := len(h.close) - 1; i >= 0; i-- {
		h.close[i]()
	}
}

// rest brings everything to a standstill: only the healthy apps run, nobody
// calls, and the inbox is empty.
func (h *house) rest() {
	for _, app := range h.apps {
		if !healthy(app.Key) {
			if err := h.host.StopApp(context.Background(), app.Key); err != nil {
				h.t.Errorf("stopping %s: %v", app.Key, err)
			}
		}
	}
	h.until("the healthy apps are ready", func() bool {
		for _, app := range h.apps {
			if st, _ := h.host.AppStatus(app.Key); healthy(app.Key) && st.State != host.Ready {
				return false
			}
		}
		return true
	})
	h.until("the inbox is empty", func() bool {
		st := h.bridge.Glance()
		return st.Waiting == 0 && st.Spools["inbox"].Pending == 0
	})
	h.spool.Sweep(time.Now())
}

func (h *house) until(what string, so func() bool) {
	h.t.Helper()
	for giveUp := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(giveUp) {
			for _, st := range h.host.Status() {
				h.t.Logf("%s: %s: %s", st.Key, st.State, st.Reason)
			}
			h.t.Fatalf("it does not come to pass that %s", what)
		}
	}
}

// report tells what has happened.
func (h *house) report() {
	text := ""
	h.outcomes.Range(func(outcome, n any) bool {
		text += fmt.Sprintf(", %v %d", outcome, n.(*atomic.Int64).Load())
		return true
	})
	var dropped int64
	for _, c := range h.bridge.Glance().Apps {
		dropped += c.Dropped
	}
	h.t.Logf("%d calls%s; %d events read, %d dropped", h.calls.Load(), text, h.events.Load(), dropped)
	restarts := ""
	for _, st := range h.host.Status() {
		restarts += fmt.Sprintf(" %s %d", st.Key, st.Restarts)
	}
	h.t.Logf("restarts:%s", restarts)
}
