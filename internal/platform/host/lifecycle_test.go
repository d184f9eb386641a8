package host

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

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

func TestL05InitializedComesOnceAndFirst(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("strict", `
tool plain
on tools/list unseen notifications/initialized
  ignore
on notifications/initialized
  add tool extra
`)
		h.open()
		h.wantState("strict", Ready)
		h.wantTools("strict.extra", "strict.plain")
		want := []string{"initialize", "notifications/initialized", "tools/list"}
		if got := h.last("strict").methods(); !slices.Equal(got[:3], want) {
			t.Errorf("the server got %q, want %q first", got, want)
		}

		// The same after a restart.
		if err := h.RestartApp(t.Context(), "strict"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := h.last("strict").received("notifications/initialized"); n != 1 {
			t.Errorf("the new process got %d notifications/initialized", n)
		}
	})
}

func TestL06OnlyWhatIsDeclaredIsAsked(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("halves", `
tool a
resource demo://r
on initialize
  reply {"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"halves","version":"1"}}
on resources/templates/list
  reply error -32601 "Method not found"
`)
		h.app("prompts", `
prompt hi
on initialize
  reply {"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"p","version":"1"}}
`)
		h.app("nothing", `
on initialize
  reply {"protocolVersion":"2024-11-05","serverInfo":{"name":"n","version":"1"}}
`)
		h.open()
		for _, key := range []string{"halves", "prompts", "nothing"} {
			if s := h.wantState(key, Ready); len(s.Warnings) > 0 {
				t.Errorf("app %s has warnings: %q", key, s.Warnings)
			}
		}
		if h.last("halves").received("prompts/list") > 0 || h.last("prompts").received("tools/list") > 0 {
			t.Error("a list was asked for that was not declared")
		}
		wantEnd(t, h.Complete(t.Context(), cli, Completion{Prompt: "hi", Argument: "x"}), call.ProtocolError, call.CapabilityMissing)
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

func TestP06AnEarlyExitIsReportedAtOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "start\n  stderr ERROR: DEMO_TOKEN is not set\n  exit 2")
		h.open() // no time passes in here
		s := h.wantState("demo", Restarting)
		h.wantReason("demo", "exited with code 2 before it answered initialize", "ERROR: DEMO_TOKEN is not set")
		if s.Exit == nil || s.Exit.Code != 2 {
			t.Errorf("exit is %+v, want code 2", s.Exit)
		}
		if !slices.Contains(s.LastStderr, "ERROR: DEMO_TOKEN is not set") {
			t.Errorf("stderr is %q", s.LastStderr)
		}
		if faults := h.ofKind(SignalFault); len(faults) != 1 || faults[0].Exit.Code != 2 {
			t.Errorf("signals: %+v", faults)
		}
	})
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

func TestAnUnknownVersionIsNotTriedAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("old", `
on initialize
  reply {"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"o","version":"1"}}
`)
		h.open()
		h.wantState("old", Unavailable)
		h.wantReason("old", "1999-01-01", "2025-11-25")
		h.pass(time.Hour)
		if n := h.starts("old"); n != 1 {
			t.Errorf("%d starts, want 1", n)
		}
	})
}

func TestASignInIsAskedForOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("mail", "tool a")
		c.MCP.Transport = config.StreamableHTTP
		h.peers.refuseWith("mail", &Refusal{State: AuthRequired, Reason: "It wants a sign-in.", Err: errors.New("401")})
		h.open()
		h.wantState("mail", AuthRequired)
		h.pass(time.Hour)
		h.wantState("mail", AuthRequired)
		wantEnd(t, h.call("mail.a", ""), call.Unavailable, call.AppUnavailable, "auth required", "sign-in")
	})
}

func TestDisabledAndFaultyAppsAreNeverStarted(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		off := h.app("off", "tool a")
		off.Disabled = "enabled: false"
		h.app("broken", "tool a")
		h.opt.Faults = map[string]string{"broken": "Its configuration is wrong: command is missing."}
		h.open()
		h.wantState("off", Disabled)
		h.wantState("broken", Unavailable)
		for _, key := range []string{"off", "broken"} {
			if err := h.StartApp(t.Context(), key); err == nil {
				t.Errorf("app %s was started", key)
			}
			wantEnd(t, h.call(key+".a", ""), call.Unavailable, call.AppUnavailable)
			if h.starts(key) > 0 {
				t.Errorf("app %s has a process", key)
			}
		}
		if err := h.StopApp(t.Context(), "off"); err != nil || h.state("off") != Disabled {
			t.Errorf("stopping a disabled app: %v, %s", err, h.state("off"))
		}
		var e *call.Error
		if err := h.StopApp(t.Context(), "broken"); err != nil {
			t.Fatal(err)
		}
		if err := h.StartApp(t.Context(), "broken"); !errors.As(err, &e) || e.Code != call.ConfigInvalid || !strings.Contains(e.Message, "command is missing") {
			t.Errorf("starting a faulty app: %v", err)
		}
		if err := h.StartApp(t.Context(), "nope"); !errors.As(err, &e) || e.Code != call.AppUnknown || !strings.Contains(e.Message, "broken") {
			t.Errorf("starting an unknown app: %v", err)
		}
	})
}

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

func TestStartsAreLimitedOnlyWhileTheySpawn(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.opt.Concurrency = 2
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			h.app(key, "on initialize\n  sleep 5s\n  reply default")
		}
		h.open()
		dialed := func() (n int) {
			for _, c := range h.apps {
				n += h.starts(c.Key)
			}
			return n
		}
		if n := dialed(); n != 2 {
			t.Errorf("%d apps spawn at once, want 2", n)
		}
		h.pass(slotTime)
		if n := dialed(); n != 4 {
			t.Errorf("%d apps were spawned after a second, want 4: handshakes take no slot", n)
		}
		h.pass(2 * slotTime)
		if n := dialed(); n != 6 {
			t.Errorf("%d apps were spawned, want 6", n)
		}
		h.pass(5 * time.Second)
		for _, c := range h.apps {
			h.wantState(c.Key, Ready)
		}
	})
}

func TestTheFirstByteGivesTheSlotBack(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.opt.Concurrency = 1
		for _, key := range []string{"a", "b", "c"} {
			h.app(key, "start\n  stdout hello, I am starting\non initialize\n  sleep 5s\n  reply default")
		}
		h.open() // no time passes in here
		for _, c := range h.apps {
			if h.starts(c.Key) != 1 {
				t.Errorf("app %s waits for a slot although all others have spoken", c.Key)
			}
			if s := h.wantState(c.Key, Starting); s.NoiseLines != 1 || s.PID == 0 {
				t.Errorf("while it starts, app %s shows noise %d and pid %d", c.Key, s.NoiseLines, s.PID)
			}
		}
	})
}

func TestAStartCanBeStopped(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.appRuns("demo", func(run int) string {
			if run == 1 {
				return silent
			}
			return "tool a"
		})
		h.open()
		h.wantState("demo", Starting)
		if err := h.StopApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		h.wantState("demo", Stopped)
		if h.last("demo").running() {
			t.Error("the process of a stopped start runs")
		}
		if err := h.RestartApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		if err := h.Settled(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		h.wantState("demo", Ready)
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
