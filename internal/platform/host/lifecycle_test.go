package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

// silent is a server that never answers.
const silent = "on initialize\n  ignore"

func TestL01ASilentAppDelaysNobody(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("one", "tool a")
		h.app("mute", silent)
		h.app("two", "tool b")
		h.open()

		// At once the others are ready, and the silent one is still starting.
		h.wantState("one", Ready)
		h.wantState("two", Ready)
		h.wantState("mute", Starting)
		h.wantTools("one.a", "two.b")
		wantOK(t, h.call("two.b", `{"x":1}`), `{\"x\":1}`)

		// After its time it is said why, and its process is ended.
		h.pass(10 * time.Second)
		h.wantState("mute", Restarting)
		h.wantReason("mute", "initialize timed out after 10s", "(restart 1 of 3)")
		h.pass(time.Second)
		if h.all("mute")[0].running() {
			t.Error("the silent process still runs")
		}

		// In the end it is given up, and it is said what to do.
		h.pass(5 * time.Minute)
		h.wantState("mute", Unavailable)
		h.wantReason("mute", "initialize timed out after 10s", "given up after 4 starts", "aurora apps restart mute")
		for i, p := range h.all("mute") {
			if p.running() {
				t.Errorf("process %d of the silent app still runs", i+1)
			}
		}
		if n := h.starts("mute"); n != 4 {
			t.Errorf("the silent app was started %d times, want 1 and 3 restarts", n)
		}
	})
}

func TestL07OneWrongAppCostsTheOthersNothing(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("good", "tool a")
		h.app("missing", "tool never")
		remote := h.app("remote", "tool later")
		remote.MCP.Transport = config.StreamableHTTP
		h.peers.refuseWith("missing", &Refusal{Reason: `It could not be started: "no-such-cmd" was not found in PATH.`})
		h.peers.refuseWith("remote", errTransient)
		h.open()
		h.wantState("good", Ready)
		h.wantState("missing", Unavailable)
		h.wantReason("missing", "no-such-cmd")
		h.wantState("remote", Restarting)
		h.wantReason("remote", "the network is down", "tried again")
		h.wantTools("good.a")
		pid := h.last("good").PID()

		// Mended, it comes in without touching the others.
		h.peers.refuseWith("missing", nil)
		if err := h.StartApp(t.Context(), "missing"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.wantState("missing", Ready)
		if s := h.wantState("good", Ready); s.PID != pid || s.Restarts != 0 {
			t.Errorf("the good app was touched: %+v", s)
		}

		// A remote app is never given up; its waits grow to five minutes.
		h.pass(24 * time.Hour)
		h.wantState("remote", Restarting)
		h.peers.refuseWith("remote", nil)
		h.pass(7 * time.Minute)
		h.wantState("remote", Ready)
	})
}

func TestL09AStoppedAppIsGoneAndSwitchesStay(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a\ntool b")
		c.Tools = map[string]config.ToolPermission{"demo.b": {Enabled: new(false)}}
		h.open()
		for range 10 {
			if err := h.StopApp(t.Context(), "demo"); err != nil {
				t.Fatal(err)
			}
			h.wantState("demo", Stopped)
			h.wantTools()
			if h.last("demo").running() {
				t.Fatal("the process of a stopped app runs")
			}
			wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "aurora apps start demo")
			if err := h.StartApp(t.Context(), "demo"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			h.wantState("demo", Ready)
			h.wantTools("demo.a", "demo.b")
			wantEnd(t, h.call("demo.b", ""), call.Denied, call.PolicyDenied)
		}
		if n := h.starts("demo"); n != 11 {
			t.Errorf("%d starts, want 11", n)
		}
	})
}

func TestL10ACallWakesAnAppOnceForAllCallers(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.appRuns("demo", func(run int) string {
			if run == 1 {
				return "tool a\non tools/call\n  exit 3"
			}
			return "tool a\non initialize\n  sleep 200ms\n  reply default"
		})
		c.MCP.Restart.Backoff = time.Minute
		h.open()

		// The app dies in a call. What that call did is not known.
		wantEnd(t, h.call("demo.a", ""), call.Unknown, call.OutcomeUnknown, "exited with code 3", "not repeated")
		synctest.Wait()
		h.wantState("demo", Restarting)
		h.wantTools("demo.a")

		// Calls in the backoff wake it, all of them by one start.
		var calls []<-chan call.Result
		for range 5 {
			calls = append(calls, h.calling("demo.a", `{"n":7}`))
		}
		for _, done := range calls {
			wantOK(t, <-done, `{\"n\":7}`)
		}
		if n := h.starts("demo"); n != 2 {
			t.Errorf("%d starts, want 2", n)
		}

		// A stopped app is never woken.
		if err := h.StopApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, h.call("a", ""), call.Unavailable, call.AppUnavailable, "stopped")
		if n := h.starts("demo"); n != 2 {
			t.Errorf("a call started a stopped app")
		}
	})
}

func TestACallThatCannotWakeItsAppSaysSoAtOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.appRuns("demo", func(run int) string {
			if run == 1 {
				return "tool a\non tools/call\n  exit 3"
			}
			return "start\n  stderr ERROR: no database\n  exit 2"
		})
		c.MCP.Restart.Backoff = time.Minute
		h.open()
		h.call("demo.a", "")
		synctest.Wait()

		began := time.Now()
		r := h.call("demo.a", "")
		wantEnd(t, r, call.Unavailable, call.AppUnavailable, "exited with code 2", "ERROR: no database")
		if !r.Err.Retryable {
			t.Error("an app that will be started again is worth another try")
		}
		if time.Since(began) > 5*time.Second {
			t.Errorf("the caller waited %v", time.Since(began))
		}
		h.wantTools("demo.a") // still listed
		if n := h.starts("demo"); n != 2 {
			t.Errorf("%d starts, want 2", n)
		}

		// Attempts that calls brought forward count: the app is not started
		// more often than its configuration says.
		for range 10 {
			h.call("demo.a", "")
		}
		synctest.Wait()
		h.wantState("demo", Unavailable)
		r = h.call("demo.a", "")
		wantEnd(t, r, call.Unavailable, call.AppUnavailable, "aurora apps restart demo")
		if r.Err.Retryable {
			t.Error("an app that was given up is not worth another try")
		}
		if n := h.starts("demo"); n != 4 {
			t.Errorf("%d starts, want 1 and 3 restarts", n)
		}
		h.wantTools()
	})
}

func TestP05FailedStartsLeaveNothing(t *testing.T) {
	for name, script := range map[string]string{
		"exits":  "start\n  sleep 50ms\n  exit 1",
		"silent": "on initialize\n  ignore\non eof\n  ignore\non signal TERM\n  exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				c := h.app("demo", script)
				c.MCP.Restart = config.Restart{Enabled: true, MaxAttempts: 19, Backoff: time.Millisecond}
				h.open()
				h.pass(3 * time.Hour)
				h.wantState("demo", Unavailable)
				all := h.all("demo")
				if len(all) != 20 {
					t.Errorf("%d starts, want 20", len(all))
				}
				for i, p := range all {
					if p.running() {
						t.Errorf("process %d still runs", i+1)
					}
				}
			})
		})
	}
}

func TestP08AFlappingAppIsGivenUp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a\non notifications/initialized\n  background\n    sleep 2s\n    exit 0")
		c.MCP.Restart.Backoff = 100 * time.Millisecond
		h.open()
		h.wantState("demo", Ready)
		h.pass(time.Minute)
		h.wantState("demo", Unavailable)
		h.wantReason("demo", "exited with code 0", "given up after 4 starts", "aurora apps restart demo")
		if n := h.starts("demo"); n != 4 {
			t.Errorf("%d starts, want exactly 1 and 3 restarts", n)
		}
		if n := len(h.ofKind(SignalCrashed)); n != 4 {
			t.Errorf("%d crashes were signalled, want 4: an exit with code 0 is one, too", n)
		}
		h.pass(time.Hour)
		if n := h.starts("demo"); n != 4 {
			t.Errorf("it was started again after it was given up")
		}

		// A restart by hand starts the count afresh.
		if err := h.RestartApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.wantState("demo", Ready)
		h.pass(time.Minute)
		if n := h.starts("demo"); n != 8 {
			t.Errorf("%d starts, want 4 more", n)
		}
	})
}

func TestAMinuteOfHealthForgivesFailures(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non notifications/initialized\n  background\n    sleep 61s\n    exit 1")
		h.open()
		h.pass(time.Hour)
		if n := h.starts("demo"); n < 50 {
			t.Errorf("an app that is healthy for a minute each time was started only %d times in an hour", n)
		}
	})
}

func TestAnAppThatMustNotRestartDoesNot(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a\non tools/call\n  exit 1")
		c.MCP.Restart.Enabled = false
		h.open()
		h.call("demo.a", "")
		synctest.Wait()
		h.wantState("demo", Unavailable)
		h.wantReason("demo", "restart.enabled is false")
	})
}

func TestBackoffGrows(t *testing.T) {
	for range 100 {
		last := time.Duration(0)
		for n := 1; n <= 7; n++ {
			d := backoff(2*time.Second, n)
			if d <= last {
				t.Fatalf("wait %d is %v, the one before it was %v", n, d, last)
			}
			last = d
		}
		if d := backoff(2*time.Second, 1000); d > backoffCap*5/4 {
			t.Fatalf("a wait of %v is over the cap", d)
		}
		if d := backoff(0, 1); d <= 0 {
			t.Fatalf("a wait of %v makes a busy loop", d)
		}
	}
}
