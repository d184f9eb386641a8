package daemon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/control/controltest"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// suiteApps is the home of the suite; see package controltest.
const suiteApps = `apps:
  demo:
    mcp: {command: [aurora]}
    permissions: {tools: {demo.off: {enabled: false}}}
  gone:
    mcp: {command: [aurora]}
`

// TestHouse runs the suite of all houses against a daemon, and against a client
// that asks it through its socket.
func TestHouse(t *testing.T) {
	t.Run("near", func(t *testing.T) {
		d, cancelled := openSuite(t)
		controltest.Run(t, d, cancelled)
	})
	t.Run("far", func(t *testing.T) {
		d, cancelled := openSuite(t)
		if err := d.Serve(); err != nil {
			t.Fatal(err)
		}
		c, err := control.Dial(t.Context(), d.Config().Home.RunDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		controltest.Run(t, c, cancelled)
	})
}

func openSuite(t *testing.T) (d *Daemon, cancelled func() int) {
	t.Helper()
	script, err := testkit.Open("../control/controltest/demo.mcp")
	if err != nil {
		t.Fatal(err)
	}
	dialer := &memoryDialer{t: t, script: script, cancelled: make(chan struct{}, 16)}
	d = open(t, Options{Home: makeHome(t, suiteApps), Dialer: dialer})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, func() int {
		<-dialer.cancelled
		return 1 + len(dialer.cancelled)
	}
}

// open opens a house that is closed at the end of the test.
func open(t *testing.T, o Options) *Daemon {
	t.Helper()
	d, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Errorf("closing the house: %v", err)
		}
	})
	return d
}

// makeHome makes a home with this apps/config.yml and without a brain, which
// would take the events away.
func makeHome(t *testing.T, apps string) string {
	t.Helper()
	home := t.TempDir()
	put(t, filepath.Join(home, "aurora.yml"), "brain: {enabled: false}\n")
	put(t, filepath.Join(home, "apps", "config.yml"), apps)
	return home
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A memoryDialer plays a script for every app but `gone`, which it refuses.
type memoryDialer struct {
	t         *testing.T
	script    *testkit.Script
	cancelled chan struct{} // an item for each call that was cancelled upstream
}

func (d *memoryDialer) Dial(_ context.Context, app *config.App) (*host.Link, error) {
	if app.Key == "gone" {
		return nil, &host.Refusal{Reason: "It is gone for good."}
	}
	peer := testkit.StartPeer(d.t, d.script)
	return &host.Link{Transport: &listener{mcp.NewStdio(peer.Out, peer.In, mcp.StdioOptions{}), d.cancelled}}, nil
}

// A listener hears when a call is cancelled upstream.
type listener struct {
	mcp.Transport
	cancelled chan<- struct{}
}

func (l *listener) Send(ctx context.Context, msg []byte) error {
	err := l.Transport.Send(ctx, msg)
	if bytes.Contains(msg, []byte("notifications/cancelled")) {
		l.cancelled <- struct{}{}
	}
	return err
}
