package host

import (
	"testing"
	"time"
)

func TestAnIdleAppThatDoesNotAnswerPingsIsRestarted(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.appRuns("demo", func(run int) string {
			if run == 1 {
				return "tool a\non ping #1\n  reply {}\non ping\n  ignore"
			}
			return "tool a\non ping\n  reply error -32601 \"Method not found\""
		})
		h.open()
		h.pass(30 * time.Second) // answered
		h.wantState("demo", Ready)
		h.pass(40 * time.Second) // not answered within its ten seconds
		h.wantState("demo", Degraded)
		h.wantReason("demo", "did not answer the last ping")
		wantOK(t, h.call("demo.a", ""), "{}") // it still takes calls
		h.pass(30 * time.Second)
		h.wantReason("demo", "last 2 pings")
		h.pass(time.Minute)
		h.wantState("demo", Ready)
		if n := h.starts("demo"); n != 2 {
			t.Fatalf("%d starts, want 2", n)
		}

		// An error is an answer, too.
		h.pass(time.Hour)
		if n := h.starts("demo"); n != 2 {
			t.Errorf("%d starts: an app that refuses pings was restarted", n)
		}
	})
}

func TestABusyAppIsNotPinged(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool slow\non tools/call\n  sleep 9m\n  reply text done") // one thing at a time
		c.MCP.CallTimeout = 10 * time.Minute
		h.open()
		done := h.calling("demo.slow", "")
		h.pass(8 * time.Minute)
		h.wantState("demo", Ready)
		if n := h.last("demo").received("ping"); n > 0 {
			t.Errorf("a busy app got %d pings", n)
		}
		wantOK(t, <-done, "done")
	})
}
