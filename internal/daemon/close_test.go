package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
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

func TestASecondHouseInOneHomeIsRefused(t *testing.T) {
	home := makeHome(t, suiteApps)
	open(t, Options{Home: home, Dialer: refuser{}})
	var e *call.Error
	if _, err := Open(t.Context(), Options{Home: home, Dialer: refuser{}, LockWait: -1}); !errors.As(err, &e) || e.Code != call.HomeLocked {
		t.Errorf("Open: %v", err)
	}
}
