package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

func TestCloseRefusesDrainsAndCancels(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool quick
tool slow
on tools/call quick
  background
    sleep 2s
    reply text done
on tools/call slow
  ignore
`)
		h.open()
		quick, slow := h.calling("demo.quick", ""), h.calling("demo.slow", "")
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- h.Close(context.Background()) }()
		synctest.Wait()

		// New calls are refused, those in flight may finish.
		wantEnd(t, h.call("demo.quick", ""), call.Unavailable, call.ShuttingDown, "stopping")
		wantEnd(t, h.Read(t.Context(), cli, "x://y", "demo"), call.Unavailable, call.ShuttingDown)
		wantOK(t, <-quick, "done")

		// What takes too long is cancelled upstream.
		r := <-slow
		wantEnd(t, r, call.Unknown, call.OutcomeUnknown)
		if r.Duration < drainCalls {
			t.Errorf("the slow call was cut after %v", r.Duration)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		p := h.last("demo")
		if p.received("notifications/cancelled") != 1 || p.running() {
			t.Errorf("the server was told %d times, runs: %v", p.received("notifications/cancelled"), p.running())
		}
		h.wantState("demo", Stopped)
		if n := len(h.ofKind(SignalStopping)) + len(h.ofKind(SignalStopped)); n != 2 {
			t.Errorf("%d signals of the stop, want 2", n)
		}
		wantEnd(t, h.call("demo.quick", ""), call.Unavailable, call.ShuttingDown)
		var e *call.Error
		if err := h.StartApp(t.Context(), "demo"); err == nil {
			t.Error("an app was started after Close")
		} else if e, _ = err.(*call.Error); e == nil || e.Code != call.ShuttingDown {
			t.Errorf("starting after Close: %v", err)
		}
	})
}

func TestCloseInAHurryKills(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/call\n  ignore\non eof\n  ignore\non signal TERM\n  exit 9")
		h.app("mute", silent)
		h.opt.DrainTime = time.Hour
		h.open()
		done := h.calling("demo.a", "")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if err := h.Host.close(ctx); err != context.Canceled {
			t.Errorf("closing in a hurry: %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		<-done
		h.Host = nil
	})
}

func TestAHostThatNeverStartedCloses(t *testing.T) {
	h := New(Options{Apps: []*config.App{appConfig("demo")}, Dialer: &peers{}})
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	h.Start(t.Context())
	if s := h.Status()[0]; s.State != Stopped {
		t.Errorf("after Close it is %s", s.State)
	}
}
