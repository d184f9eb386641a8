package control_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/control/controltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial serves a house from a run folder and returns a client of it.
func dial(t *testing.T, runDir string, h control.House, o control.ListenOptions) *control.Client {
	t.Helper()
	s, err := control.Listen(runDir, h, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})
	c, err := control.Dial(t.Context(), runDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestHouse(t *testing.T) {
	t.Run("near", func(t *testing.T) {
		h := newFakeHouse()
		controltest.Run(t, h, h.cancelledCalls)
	})
	t.Run("over a unix socket", func(t *testing.T) {
		h := newFakeHouse()
		controltest.Run(t, dial(t, t.TempDir(), h, control.ListenOptions{}), h.cancelledCalls)
	})
	t.Run("over loopback", func(t *testing.T) {
		h := newFakeHouse()
		controltest.Run(t, dial(t, t.TempDir(), h, control.ListenOptions{Loopback: true}), h.cancelledCalls)
	})
}
