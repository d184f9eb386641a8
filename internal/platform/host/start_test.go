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

// Who exits is said to have done so at what it was asked for last.
func TestAnExitNamesWhatWasAsked(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool echo\non tools/list\n  exit 0\n")
		h.app("half", "on initialize\n  raw {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"proto\n  stdout !\n  ignore\n")
		h.open()
		h.wantReason("demo", "exited with code 0 before it answered tools/list")
		h.wantReason("half", "It failed at initialize: not a JSON-RPC message")
	})
}

// A list that was never had is not said to be used.
func TestAListThatWasNeverHadIsNotUsed(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool echo\non tools/list\n  reply error -32603 \"boom\"\n")
		h.open()
		h.wantState("demo", Degraded)
		h.wantReason("demo", "could not be read (tools/list: boom (JSON-RPC error -32603)). Reading it is tried again.")
	})
}

// A slow list has all the time that a start has, and whoever waits for it in
// vain is told that time.
func TestAStartIsLimitedByItsOwnTimeAlone(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		slow := h.app("slow", "tool echo\non tools/list\n  sleep 90s\n  reply default\n")
		slow.MCP.HealthTimeout = 100 * time.Second
		hung := h.app("hung", "tool echo\non tools/list\n  ignore\n")
		hung.MCP.HealthTimeout = 100 * time.Second
		hung.MCP.Restart.Enabled = false
		h.open()

		h.pass(91 * time.Second)
		h.wantState("slow", Ready)
		h.wantState("hung", Starting)
		h.pass(10 * time.Second)
		h.wantState("hung", Unavailable)
		h.wantReason("hung", "tools/list timed out after 1m40s")
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
