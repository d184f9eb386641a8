package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/testkit"
)

const refused = "It is not wanted."

// A refuser refuses every app.
type refuser struct{}

func (refuser) Dial(context.Context, *config.App) (*host.Link, error) {
	return nil, &host.Refusal{Reason: refused}
}

func TestAClosedHouseTakesNoCallsAndLeavesNothing(t *testing.T) {
	// Given a house with a door,
	home := makeHome(t, suiteApps)
	d := open(t, Options{Home: home, Dialer: refuser{}})
	if err := d.Serve(); err != nil {
		t.Fatal(err)
	}
	run := d.Config().Home.RunDir()
	if _, err := os.Stat(filepath.Join(run, "aurora.addr")); err != nil {
		t.Fatal(err)
	}
	// when it is closed, and closed again, and killed,
	for range 2 {
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d.Kill()
	// then calls are refused, the door is gone, and the home is free.
	if r := d.Call(t.Context(), control.CallRequest{Name: "demo.echo"}, nil); r.Error == nil || r.Error.Code != call.ShuttingDown {
		t.Errorf("a late call: %+v", r)
	}
	if _, err := control.Dial(t.Context(), run); !errors.Is(err, control.ErrNoDaemon) {
		t.Errorf("Dial: %v", err)
	}
	open(t, Options{Home: home, Dialer: refuser{}, LockWait: -1})
}

// A second Ctrl-C may end a house whose door is just about to be opened.
func TestAHouseThatIsClosedOpensNoDoor(t *testing.T) {
	home := makeHome(t, suiteApps)
	d := open(t, Options{Home: home, Dialer: refuser{}})
	d.Kill()
	var e *call.Error
	if err := d.Serve(); !errors.As(err, &e) || e.Code != call.ShuttingDown {
		t.Errorf("Serve: %v", err)
	}
	if _, err := os.Stat(filepath.Join(d.Config().Home.RunDir(), "aurora.addr")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the address: %v", err)
	}
}

// A lingerer is an app whose process ends only when it is killed.
type lingerer struct{ memoryDialer }

func (d *lingerer) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	link, err := d.memoryDialer.Dial(ctx, app)
	if err == nil {
		link.Process = lingering{make(chan struct{})}
	}
	return link, err
}

type lingering struct{ done chan struct{} }

func (lingering) PID() int                { return 1 }
func (p lingering) Done() <-chan struct{} { return p.done }
func (lingering) Exit() (proc.Exit, bool) { return proc.Exit{}, false }
func (lingering) StderrTail(int) []string { return nil }
func (p lingering) Stop(ctx context.Context) proc.Exit {
	<-ctx.Done()
	return proc.Exit{Code: -1, Stuck: true}
}

// While a reload waits for an app, and another reload for that one, a house can be
// killed.
func TestAReloadUnderWayHoldsUpNoKill(t *testing.T) {
	script, err := testkit.Open("../control/controltest/demo.mcp")
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, Options{Home: makeHome(t, suiteApps), Dialer: &lingerer{memoryDialer{t: t, script: script, cancelled: make(chan struct{}, 16)}}})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Serve(); err != nil {
		t.Fatal(err)
	}
	switched := make(chan error, 1)
	go func() {
		_, err := d.SwitchApp(context.Background(), "demo", false)
		switched <- err
	}()
	for d.Config().App("demo").Enabled { // until the file was read again
		time.Sleep(time.Millisecond)
	}
	d.Hangup()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		d.Kill()
	}()
	select {
	case <-killed:
	case <-time.After(20 * time.Second):
		t.Error("it is not killed")
	}
	<-switched
}

func TestASecondHouseInOneHomeIsRefused(t *testing.T) {
	home := makeHome(t, suiteApps)
	open(t, Options{Home: home, Dialer: refuser{}})
	var e *call.Error
	if _, err := Open(t.Context(), Options{Home: home, Dialer: refuser{}, LockWait: -1}); !errors.As(err, &e) || e.Code != call.HomeLocked {
		t.Errorf("Open: %v", err)
	}
}
