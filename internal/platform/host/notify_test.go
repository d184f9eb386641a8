package host

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const withAck = `
tool a
on initialize
  reply default {"capabilities": {"experimental": {"aurora/event": {"ack": true}}}}
`

func TestAnAnswerReachesTheSessionThatAsked(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", withAck)
		h.open()
		if err := h.Notify(t.Context(), "demo", 1, "notifications/aurora/ack", []byte(`{"message_ids":["m-1"]}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := h.last("demo").params("notifications/aurora/ack"); !slices.Equal(got, []string{`{"message_ids":["m-1"]}`}) {
			t.Errorf("the app got %q", got)
		}
		declared, err := h.Experimental(t.Context(), "demo", 1, "aurora/event")
		if err != nil || string(declared) != `{"ack": true}` && string(declared) != `{"ack":true}` {
			t.Errorf("it declared %s, %v", declared, err)
		}
		if declared, err := h.Experimental(t.Context(), "demo", 1, "acme"); err != nil || declared != nil {
			t.Errorf("it declared acme as %s, %v", declared, err)
		}

		// After a restart the old session is not taken for the new one.
		if err := h.RestartApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := h.Notify(t.Context(), "demo", 1, "notifications/aurora/ack", nil); !errors.Is(err, ErrSessionGone) {
			t.Errorf("the old session: %v", err)
		}
		if err := h.Notify(t.Context(), "demo", 2, "notifications/aurora/ack", nil); err != nil {
			t.Errorf("the new session: %v", err)
		}
		if err := h.StopApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		if err := h.Notify(t.Context(), "demo", 2, "notifications/aurora/ack", nil); !errors.Is(err, ErrSessionGone) {
			t.Errorf("a stopped app: %v", err)
		}
		if err := h.Notify(t.Context(), "nobody", 1, "x", nil); err == nil {
			t.Error("an app that does not exist was told something")
		}
	})
}

// An app may speak as soon as the handshake is done, long before its lists are
// read and it takes calls.
func TestWhoSpeaksEarlyIsAnsweredEarly(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("early", `
tool a
on initialize
  sleep 1s
  reply default
on tools/list
  background
    sleep 5s
    reply default
`)
		h.app("mute", silent)
		h.open()
		answered := make(chan error, 2)
		for _, key := range []string{"early", "mute"} {
			go func() { answered <- h.Notify(t.Context(), key, 1, "acme/hello", nil) }()
		}
		h.pass(2 * time.Second)
		h.wantState("early", Starting)
		if got := h.last("early").received("acme/hello"); got != 1 {
			t.Errorf("the app got %d answers while its lists were read", got)
		}
		if err := <-answered; err != nil {
			t.Errorf("early: %v", err)
		}
		// A session that never comes is not waited for longer than its start.
		if err := <-answered; !errors.Is(err, ErrSessionGone) {
			t.Errorf("mute: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.pass(3 * time.Second) // the next start of the mute one
		if err := h.Notify(ctx, "mute", 2, "acme/hello", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("mute, with a limit: %v", err)
		}
	})
}
