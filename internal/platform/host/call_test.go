package host

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/policy"
)

func TestQ01NoArgumentsAreAnEmptyObject(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a")
		h.open()
		for _, args := range []string{"", " ", "null", "{}", " \n null \t"} {
			wantOK(t, h.call("demo.a", args), "{}")
		}
		for _, p := range h.last("demo").params("tools/call") {
			if !strings.Contains(p, `"arguments":{}`) {
				t.Errorf("the server got %s", p)
			}
		}
	})
}

func TestArgumentsAreCheckedFirst(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `tool a {"inputSchema":{"type":"object","properties":{"days":{"type":"integer","maximum":7}},"required":["days"]}}
tool odd {"inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.org/x"}}}}
on tools/call a
  reply default`)
		h.open()
		wantEnd(t, h.call("demo.a", `{"days":8}`), call.ProtocolError, call.ArgumentsInvalid, "demo.a", "days")
		wantEnd(t, h.call("demo.a", ""), call.ProtocolError, call.ArgumentsInvalid, "days")
		wantEnd(t, h.call("demo.a", `{oops`), call.ProtocolError, call.ArgumentsInvalid)
		wantEnd(t, h.call("demo.a", `[1]`), call.ProtocolError, call.ArgumentsInvalid)
		if n := h.last("demo").received("tools/call"); n != 0 {
			t.Errorf("%d calls with wrong arguments reached the server", n)
		}
		wantOK(t, h.call("demo.a", "{\n \"days\": 7\n}"), "7")

		// A gateway client's server judges itself, but what is no JSON goes nowhere.
		gateway := call.Call{Caller: call.Caller{Kind: call.Gateway}, Name: "demo.a", Args: json.RawMessage(`{"days":800}`)}
		wantOK(t, h.Call(t.Context(), gateway), "800")
		gateway.Args = json.RawMessage(`{"days":`)
		wantEnd(t, h.Call(t.Context(), gateway), call.ProtocolError, call.ArgumentsInvalid)

		// A schema that cannot be used checks nothing.
		wantOK(t, h.call("demo.odd", `{"x":1}`), "1")
	})
}

func TestWhatIsNotAllowedIsNotSent(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", `tool a {"inputSchema":{"type":"object","required":["x"]}}
tool task {"execution":{"taskSupport":"required"}}`)
		c.Tools = map[string]config.ToolPermission{"demo.a": {Enabled: new(false)}}
		h.open()
		h.wantTools("demo.a", "demo.task")
		wantEnd(t, h.call("demo.a", ""), call.Denied, call.PolicyDenied, "switched off", "aurora tools enable demo.a")
		wantEnd(t, h.call("demo.task", ""), call.ProtocolError, call.TaskRequired)
		wantEnd(t, h.Call(t.Context(), call.Call{Name: "demo.a"}), call.Denied, call.PolicyDenied, "no caller")
		wantEnd(t, h.Read(t.Context(), call.Caller{}, "x://y", "demo"), call.Denied, call.PolicyDenied)
		if n := h.last("demo").received("tools/call"); n != 0 {
			t.Errorf("%d calls reached the server", n)
		}
	})
}

// strict is a policy that decides by a function.
type strict func(policy.Request) policy.Decision

func (strict) Risk(*config.App, string, policy.Hints) policy.Risk { return policy.Critical }
func (s strict) Decide(_ context.Context, r policy.Request) policy.Decision {
	return s(r)
}

func TestPolicyJudgesTheCanonicalName(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a")
		var asked []string
		h.opt.Policy = strict(func(r policy.Request) policy.Decision {
			asked = append(asked, r.Tool+" "+string(r.Risk)+" "+string(r.Args))
			switch string(r.Args) {
			case `{"ok":1}`:
				return policy.Decision{Allowed: true}
			case `{"wait":1}`:
				return policy.Decision{Outcome: call.Waiting, Err: &call.Error{Code: "APPROVAL_REQUIRED", Message: "ask somebody"}}
			}
			return policy.Decision{} // doubt
		})
		h.open()
		for _, name := range []string{"demo.a", "demo__a", "a"} {
			wantOK(t, h.call(name, `{"ok":1}`), "1")
		}
		wantEnd(t, h.call("a", `{"wait":1}`), call.Waiting, "APPROVAL_REQUIRED", "ask somebody")
		wantEnd(t, h.call("a", ""), call.Denied, call.PolicyDenied)
		want := []string{`demo.a critical {"ok":1}`, `demo.a critical {"ok":1}`, `demo.a critical {"ok":1}`, `demo.a critical {"wait":1}`, `demo.a critical {}`}
		if !slices.Equal(asked, want) {
			t.Errorf("policy was asked %q, want %q", asked, want)
		}
	})
}

func TestErrorsOfServersKeepTheirMeaning(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool says-no
tool structured
tool nested
tool mute
tool params
tool method
tool other
tool unknown
on tools/call says-no
  reply fail no such city
on tools/call structured
  reply {"content":[{"type":"text","text":"x"}],"structuredContent":{"ok":false,"message":"the weather service is down","retryable":true},"isError":true}
on tools/call nested
  reply {"structuredContent":{"error":{"code":"E7","message":"no such street"}},"isError":true}
on tools/call mute
  reply {"content":[],"isError":true}
on tools/call params
  reply error -32602 "bad field" {"field":"days","n":1e400}
on tools/call method
  reply error -32601 "Method not found"
on tools/call other
  reply error -32099 "token sk-1234567890abcdefghijklmnop is over its quota" {"token":"sk-1234567890abcdefghijklmnop","n":1e400}
on tools/call unknown
  reply {"content":[{"type":"text","text":"Unknown tool: unknown"}],"isError":true}
`)
		h.open()
		r := h.call("demo.says-no", "")
		wantEnd(t, r, call.ToolError, call.ToolFailed, "no such city")
		if string(r.Raw) == "" {
			t.Error("the result of a failed tool is lost")
		}
		r = h.call("demo.structured", "")
		wantEnd(t, r, call.ToolError, call.ToolFailed, "the weather service is down")
		if !r.Err.Retryable {
			t.Error("the app said that trying again helps")
		}
		wantEnd(t, h.call("demo.nested", ""), call.ToolError, call.ToolFailed, "no such street")
		wantEnd(t, h.call("demo.mute", ""), call.ToolError, call.ToolFailed, "without saying which")

		r = h.call("demo.params", "")
		wantEnd(t, r, call.ProtocolError, call.ArgumentsInvalid, "bad field")
		if r.Err.RPC != -32602 || string(r.Err.Data) != `{"field":"days","n":1e400}` {
			t.Errorf("the server's error became %+v", r.Err)
		}
		wantEnd(t, h.call("demo.method", ""), call.ProtocolError, call.CapabilityMissing)
		r = h.call("demo.other", "")
		wantEnd(t, r, call.ProtocolError, call.ProtocolFault, "over its quota", "-32099")
		if strings.Contains(r.Err.Message, "sk-1234567890") {
			t.Errorf("a secret is in the message %q", r.Err.Message)
		}
		if string(r.Err.Data) != `{"token":"•••","n":1e400}` {
			t.Errorf("the data of the error is %s", r.Err.Data)
		}
		// Servers on the TypeScript SDK answer unknown tools with a result.
		wantEnd(t, h.call("demo.unknown", ""), call.ToolError, call.ToolFailed, "Unknown tool")
	})
}

func TestACallEndsAtItsTime(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", `
tool never
tool busy
on tools/call never
  ignore
on tools/call busy
  background
    repeat forever every 20s
      progress
`)
		c.MCP.CallMax = 100 * time.Second
		h.open()

		// The soft limit.
		began := time.Now()
		wantEnd(t, h.call("demo.never", ""), call.Timeout, call.CallTimeout, "within 30s", "may have happened")
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
		// Progress puts it off; the hard limit ends it nevertheless.
		wantEnd(t, h.call("demo.busy", ""), call.Timeout, call.CallTimeout, "within 1m40s")

		// A limit of its own counts as a whole.
		r := h.Call(t.Context(), call.Call{Caller: cli, Name: "demo.never", Timeout: 5 * time.Second})
		wantEnd(t, r, call.Timeout, call.CallTimeout, "within 5s")
		if r.Duration != 5*time.Second {
			t.Errorf("it took %v", r.Duration)
		}
		synctest.Wait()
		if n := h.last("demo").received("notifications/cancelled"); n != 3 {
			t.Errorf("the server was told %d times, want 3", n)
		}
	})
}

func TestProgressReachesTheCaller(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool slow\non tools/call\n  repeat 3 every 20s\n    progress ${i} 3\n  reply text done")
		h.open()
		var got []float64
		r := h.Call(t.Context(), call.Call{Caller: cli, Name: "demo.slow", OnProgress: func(p call.Progress) { got = append(got, p.Progress) }})
		wantOK(t, r, "done")
		if !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("progress was %v", got)
		}
		if n := len(h.ofKind(SignalNotified)); n > 0 {
			t.Errorf("progress made %d signals", n)
		}
	})
}

func TestACallerMayGiveUp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/call\n  ignore")
		h.app("mute", silent)
		h.open()
		for _, name := range []string{"demo.a", "mute.a"} {
			ctx, cancel := context.WithCancel(t.Context())
			done := h.callingAs(ctx, call.Call{Caller: cli, Name: name})
			synctest.Wait()
			cancel()
			wantEnd(t, <-done, call.Cancelled, call.CallCancelled, "gave up")
		}
		synctest.Wait()
		if n := h.last("demo").received("notifications/cancelled"); n != 1 {
			t.Errorf("the server was told %d times", n)
		}
	})
}

func TestACallWaitsForAnAppThatStarts(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("slow", "tool a\non initialize\n  sleep 5s\n  reply default")
		h.app("mute", silent)
		h.open()
		wantOK(t, h.call("slow.a", ""), "{}")
		r := h.Call(t.Context(), call.Call{Caller: cli, Name: "mute.a", Timeout: time.Second})
		wantEnd(t, r, call.Unavailable, call.AppUnavailable, "starting", "has not answered initialize")
		if !r.Err.Retryable {
			t.Error("an app that starts is worth another try")
		}
	})
}

// What a call waits for before anybody knows whose it is counts, too.
func TestACallTakesNoLongerThanItMay(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool grow
on tools/call grow
  notify notifications/tools/list_changed
  reply text grown
on tools/list #2
  sleep 20s
  reply default
`)
		h.app("mute", silent)
		h.app("mute.too", silent)
		h.open()
		wantOK(t, h.call("demo.grow", ""), "grown") // from now on a list is being read
		for name, end := range map[string]call.Code{"demo.later": call.ToolUnknown, "mute.too.a": call.AppUnavailable} {
			began := time.Now()
			r := h.Call(t.Context(), call.Call{Caller: cli, Name: name, Timeout: 500 * time.Millisecond})
			if took := time.Since(began); took != 500*time.Millisecond || r.Err == nil || r.Err.Code != end {
				t.Errorf("%s took %v and ended as %v", name, took, r.Err)
			}
		}
	})
}

func TestS11AnAppThatDoesNotReadHarmsOnlyItsCallers(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("stuck", "tool a\non notifications/initialized\n  ignore\non tools/list\n  reply default\n  stop reading\non signal TERM\n  exit 0")
		h.app("fine", "tool b")
		h.open()
		h.wantState("stuck", Ready)
		args := `{"x":"` + strings.Repeat("y", 1<<20) + `"}`
		began := time.Now()
		first := h.callingAs(t.Context(), call.Call{Caller: cli, Name: "stuck.a", Args: json.RawMessage(args), Timeout: 2 * time.Second})
		second := h.callingAs(t.Context(), call.Call{Caller: cli, Name: "stuck.a", Timeout: 2 * time.Second})
		wantOK(t, h.call("fine.b", ""), "{}")
		for _, done := range []<-chan call.Result{first, second} {
			wantEnd(t, <-done, call.Timeout, call.CallTimeout)
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("the calls took %v", took)
		}
		if err := h.StopApp(t.Context(), "stuck"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("with the stop it took %v", took)
		}
		if h.last("stuck").running() {
			t.Error("the process still runs")
		}
		wantOK(t, h.call("fine.b", ""), "{}")
	})
}

func TestACallThatWasNotDeliveredIsSentAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.appRuns("demo", func(run int) string {
			if run == 1 {
				// It stops taking input, but lives on: only a write tells.
				return "tool a\non tools/list\n  reply default\n  close stdin\non eof\n  ignore"
			}
			return "tool a"
		})
		h.open()
		h.wantState("demo", Ready)
		wantOK(t, h.call("demo.a", `{"n":1}`), `{\"n\":1}`)
		if n := h.starts("demo"); n != 2 {
			t.Errorf("%d starts, want 2", n)
		}
		if n := h.all("demo")[0].received("tools/call") + h.all("demo")[1].received("tools/call"); n != 1 {
			t.Errorf("the call was made %d times", n)
		}
	})
}

func TestACallThatMayHaveBeenDeliveredIsNotRepeated(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/call\n  stderr FATAL: out of memory\n  exit 137")
		h.open()
		r := h.call("demo.a", "")
		wantEnd(t, r, call.Unknown, call.OutcomeUnknown, "exited with code 137", "FATAL: out of memory", "not known")
		if r.Err.Retryable {
			t.Error("a call that may have done its work is not safe to repeat")
		}
		h.pass(time.Hour)
		calls := 0
		for _, p := range h.all("demo") {
			calls += p.received("tools/call")
		}
		if calls != 1 {
			t.Errorf("the call was made %d times", calls)
		}
	})
}

func TestAnAnswerBeyondTheLimitFailsOnlyItsCall(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool big\ntool small\non tools/call big\n  reply text ${fill:33MiB}")
		h.open()
		wantEnd(t, h.call("demo.big", ""), call.ProtocolError, call.MessageTooLarge, "too large")
		wantOK(t, h.call("demo.small", ""), "{}")
		h.wantState("demo", Ready)
	})
}

func TestResultsAreTheServersOwnTokens(t *testing.T) {
	const result = `{"zz":1e400,"content":[{"type":"hologram","é":"\u00e9<&>"}],"structuredContent":12345678901234567890,"isError":false}`
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/call\n  reply "+result)
		h.open()
		if r := h.call("demo.a", ""); string(r.Raw) != result {
			t.Errorf("the result is\n%s\nwant\n%s", r.Raw, result)
		}
	})
}
