package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

func TestL12AListIsReadWhileACallIsOpen(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool grow
on tools/call grow
  add tool extra
  notify notifications/tools/list_changed
  background
    sleep 5s
    reply text grown
`)
		h.open()
		done := h.calling("demo.grow", "")
		h.pass(time.Second)
		h.wantTools("demo.extra", "demo.grow") // the call is still open
		wantOK(t, <-done, "grown")
		if changed := h.ofKind(SignalChanged); len(changed) != 1 || changed[0].Method != "notifications/tools/list_changed" {
			t.Errorf("signals: %+v", changed)
		}
	})
}

func TestL12ANewToolCanBeCalledAtOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool grow
tool shrink
on tools/call grow
  add tool extra
  notify notifications/tools/list_changed
  reply text grown
on tools/call shrink
  remove tool extra
  notify notifications/tools/list_changed
  reply text shrunk
`)
		h.open()
		wantOK(t, h.call("demo.grow", ""), "grown")
		// No time has passed, the list was not read yet, but the name is good.
		wantOK(t, h.call("demo.extra", ""), "{}")

		// The next step of a turn sees what is gone, too.
		wantOK(t, h.call("demo.shrink", ""), "shrunk")
		h.Fresh(t.Context())
		h.wantTools("demo.grow", "demo.shrink")
		wantEnd(t, h.call("demo.extra", ""), call.ProtocolError, call.ToolUnknown)
	})
}

func TestANotificationDuringAFetchCausesOneMore(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool a
on tools/list #2
  reply default
  add tool b
  notify notifications/tools/list_changed
on notifications/poke
  notify notifications/tools/list_changed
`)
		h.open()
		h.poke("demo")
		h.pass(10 * time.Second)
		h.wantTools("demo.a", "demo.b")
		if n := h.last("demo").received("tools/list"); n != 3 {
			t.Errorf("%d lists were read, want 3", n)
		}
	})
}

func TestS14ChangesBeforeTheAnswerToInitializeAreNoChanges(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool a
start
  notify notifications/resources/list_changed
  notify notifications/tools/list_changed
  notify notifications/message {"level":"info","data":"hello"}
`)
		h.open()
		h.pass(time.Minute)
		h.wantState("demo", Ready)
		if n := h.last("demo").received("tools/list"); n != 1 {
			t.Errorf("tools were read %d times, want once", n)
		}
		h.Fresh(t.Context())
	})
}

func TestL13AFailedRefreshKeepsTheLastGoodList(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		after time.Duration
	}{
		"silence": {"ignore", 35 * time.Second},
		"error":   {`reply error -32603 "database is locked"`, 2 * time.Second},
		"garbage": {`reply {"tools":7}`, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.app("demo", `
tool a
tool b
on notifications/poke
  add tool c
  notify notifications/tools/list_changed
on tools/list #2-3
  `+c.fault)
				h.open()
				h.poke("demo")
				h.pass(c.after)
				h.wantTools("demo.a", "demo.b")
				h.wantState("demo", Degraded)
				h.wantReason("demo", "list of tools could not be read", "last good list")
				wantOK(t, h.call("demo.a", ""), "{}")

				// It is read again by itself, and then all is well.
				h.pass(2 * time.Minute)
				h.wantTools("demo.a", "demo.b", "demo.c")
				h.wantState("demo", Ready)
				if n := h.starts("demo"); n != 1 {
					t.Errorf("%d starts: a list that fails is no reason to restart", n)
				}
			})
		})
	}
}

func TestAnAppWhoseFirstListFailsIsDegraded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\nprompt p\non tools/list #1\n  reply error -32603 \"not yet\"")
		h.open()
		h.wantState("demo", Degraded)
		h.wantReason("demo", "tools", "not yet")
		if n := len(h.Catalog().Prompts()); n != 1 {
			t.Errorf("%d prompts, want 1", n)
		}
		h.pass(time.Minute)
		h.wantState("demo", Ready)
		h.wantTools("demo.a")
	})
}

func TestAStormOfChangesIsReadTwiceAtMost(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool a
on notifications/poke
  repeat 200 every 5ms
    notify notifications/tools/list_changed
  add tool last
  notify notifications/tools/list_changed
`)
		h.app("calm", "tool b")
		h.open()
		h.poke("demo")
		h.pass(500 * time.Millisecond)
		wantOK(t, h.call("calm.b", ""), "{}")
		h.pass(10 * time.Second)
		h.wantTools("demo.a", "demo.last", "calm.b") // the last state wins
		if n := h.last("demo").received("tools/list"); n > 3 {
			t.Errorf("201 notifications made %d lists, want 2 at most after the first", n)
		}
	})
}

func TestAServerThatAnswersListsWithChangesIsSlowedDown(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/list\n  reply default\n  notify notifications/tools/list_changed")
		h.open()
		h.pass(time.Hour)
		if n := h.last("demo").received("tools/list"); n > 150 {
			t.Errorf("%d lists in an hour: a loop", n)
		}
		h.wantState("demo", Ready)

		// Nobody waits for a list that is not due soon.
		began := time.Now()
		h.Fresh(t.Context())
		wantEnd(t, h.call("demo.nope", ""), call.ProtocolError, call.ToolUnknown)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v to learn what is known", took)
		}
	})
}

func TestFreshIsBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non notifications/poke\n  notify notifications/tools/list_changed\non tools/list #2\n  ignore")
		h.open()
		h.poke("demo")
		synctest.Wait()
		began := time.Now()
		h.Fresh(t.Context())
		if took := time.Since(began); took != freshTimeout {
			t.Errorf("Fresh took %v, want %v", took, freshTimeout)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		h.Fresh(ctx)
		if took := time.Since(began); took > time.Second {
			t.Errorf("Fresh took %v, longer than its context", took)
		}
	})
}

// poke sends an app a notification for its script to act upon.
func (h *house) poke(key string) {
	h.t.Helper()
	if err := h.roster.Load().byKey[key].snap.Load().live.session.Notify(h.t.Context(), "notifications/poke", nil); err != nil {
		h.t.Fatal(err)
	}
}
