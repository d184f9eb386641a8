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
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/policy"
	"github.com/aurorabot/aurora/internal/redact"
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
		wantEnd(t, h.call("demo.a", ""), call.Denied, call.PolicyDenied, "switched off", "apps/config.yml")
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
tool mute
tool params
tool method
tool other
tool unknown
on tools/call says-no
  reply fail no such city
on tools/call structured
  reply {"content":[{"type":"text","text":"x"}],"structuredContent":{"ok":false,"message":"the weather service is down","retryable":true},"isError":true}
on tools/call mute
  reply {"content":[],"isError":true}
on tools/call params
  reply error -32602 "bad field" {"field":"days","n":1e400}
on tools/call method
  reply error -32601 "Method not found"
on tools/call other
  reply error -32099 "token sk-1234567890abcdefghijklmnop is over its quota"
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

func TestResourcesPromptsAndCompletions(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("one", `
resource demo://both
resource demo://one
template file:///{name}
prompt hi {"arguments":[{"name":"who","description":"whom to greet","required":true}]}
on resources/read demo://gone
  reply error -32002 "no such thing"
on prompts/get hi
  reply {"messages":[{"role":"user","content":{"type":"text","text":"${params.arguments.who}"}}]}
on completion/complete
  reply {"completion":{"values":["${params.argument.value}xyz"]}}
on initialize
  reply default {"capabilities":{"completions":{}}}
`)
		h.app("two", "resource demo://both\nprompt hi\ntemplate db://{+q}")
		h.open()
		ctx := t.Context()

		r := h.Read(ctx, cli, "demo://one", "")
		wantOK(t, r, "content of demo://one")
		if r.App != "one" || r.Tool != "demo://one" {
			t.Errorf("the result says %q of %q", r.Tool, r.App)
		}
		wantEnd(t, h.Read(ctx, cli, "demo://both", ""), call.ProtocolError, call.ResourceUnknown, "one, two", "Name the app")
		wantOK(t, h.Read(ctx, cli, "demo://both", "two"), "content of demo://both")
		wantEnd(t, h.Read(ctx, cli, "demo://gone", "one"), call.ProtocolError, call.ResourceUnknown, "no such thing")
		wantEnd(t, h.Read(ctx, cli, "demo://nobody", ""), call.ProtocolError, call.ResourceUnknown)
		wantEnd(t, h.Read(ctx, cli, "demo://one", "three"), call.ProtocolError, call.AppUnknown, "one, two")
		if r := h.Read(ctx, cli, "file:///x", ""); r.App != "one" {
			t.Errorf("the template led to %q: %v", r.App, r.Err)
		}
		if r := h.Read(ctx, cli, "db://a/b", ""); r.App != "two" {
			t.Errorf("the template led to %q: %v", r.App, r.Err)
		}

		wantOK(t, h.Prompt(ctx, cli, "one.hi", json.RawMessage(`{"who":"上海"}`)), "上海")
		wantEnd(t, h.Prompt(ctx, cli, "hi", nil), call.ProtocolError, call.PromptUnknown, "one.hi, two.hi")
		wantEnd(t, h.Prompt(ctx, cli, "one.ho", nil), call.ProtocolError, call.PromptUnknown, "one.hi")
		if p := h.Catalog().Prompts()[0]; len(p.Arguments) != 1 || !p.Arguments[0].Required || p.Arguments[0].Name != "who" {
			t.Errorf("the prompt's arguments are %+v", p.Arguments)
		}

		wantOK(t, h.Complete(ctx, cli, Completion{Prompt: "one.hi", Argument: "who", Value: "a"}), "axyz")
		wantOK(t, h.Complete(ctx, cli, Completion{Template: "file:///{name}", Argument: "name", Value: "b", Known: map[string]string{"c": "d"}}), "bxyz")
		wantEnd(t, h.Complete(ctx, cli, Completion{Argument: "who"}), call.ProtocolError, call.UsageInvalid)

		if reads := h.ofKind(SignalRead); len(reads) != 8 || reads[0].Result.Tool != "demo://one" {
			t.Errorf("%d reads were signalled", len(reads))
		}
	})
}

func TestSubscriptionsOutliveARestart(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "resource demo://x\non resources/subscribe\n  reply {}\n  notify notifications/resources/updated {\"uri\":\"demo://x\"}")
		h.open()
		wantOK(t, h.Subscribe(t.Context(), cli, "demo://x", ""), "{}")
		synctest.Wait()
		if err := h.RestartApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		updates := h.ofKind(SignalNotified)
		if len(updates) != 2 || updates[1].Epoch != 2 || updates[1].Method != "notifications/resources/updated" || string(updates[1].Params) != `{"uri":"demo://x"}` {
			t.Errorf("updates: %+v", updates)
		}
		wantOK(t, h.Unsubscribe(t.Context(), cli, "demo://x", ""), "{}")
		if err := h.RestartApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := h.last("demo").received("resources/subscribe"); n != 0 {
			t.Errorf("it was subscribed %d times after Unsubscribe", n)
		}
	})
}

func TestEveryRequestIsRecordedAndSignalled(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a\nresource demo://x\non tools/call\n  notify acme/odd [1,2,12345678901234567890]\n  reply default")
		c.Package = "im.demo"
		h.open()
		h.call("a", `{"secret":1}`)
		h.call("nope", "")
		h.Read(t.Context(), cli, "demo://x", "")
		synctest.Wait()

		got := slices.Clone(h.records)
		if len(got) != 3 {
			t.Fatalf("%d records, want 3", len(got))
		}
		want := audit.Record{Time: got[0].Time, Caller: cli, Method: "tools/call", Name: "im.demo.a", App: "demo", Package: "im.demo", Risk: "high", Outcome: call.OK, Args: []byte(`{"secret":1}`)}
		if got[0].Name != want.Name || got[0].App != want.App || got[0].Package != want.Package || got[0].Risk != want.Risk || got[0].Outcome != want.Outcome || string(got[0].Args) != string(want.Args) {
			t.Errorf("the record of the call is %+v", got[0])
		}
		if got[1].Name != "nope" || got[1].App != "" || got[1].Code != call.ToolUnknown {
			t.Errorf("the record of the unknown tool is %+v", got[1])
		}
		if got[2].Method != "resources/read" || got[2].Name != "demo://x" {
			t.Errorf("the record of the read is %+v", got[2])
		}

		calls := h.ofKind(SignalCalled)
		if len(calls) != 2 || calls[0].Epoch != 1 || calls[0].App.Package != "im.demo" || calls[0].Call.Name != "a" || calls[0].Result.Tool != "im.demo.a" {
			t.Errorf("signals of calls: %+v", calls)
		}
		notes := h.ofKind(SignalNotified)
		if len(notes) != 1 || notes[0].Method != "acme/odd" || string(notes[0].Params) != `[1,2,12345678901234567890]` {
			t.Errorf("signals of notifications: %+v", notes)
		}
		if started := h.ofKind(SignalStarted); len(started) != 1 || started[0].Epoch != 1 {
			t.Errorf("signals of starts: %+v", started)
		}
	})
}

func TestX01SecretsAreMaskedInWhatPeopleSee(t *testing.T) {
	const secret = "tok-very-secret-1"
	inHouse(t, func(t *testing.T, h *house) {
		h.opt.Redact = redact.New(secret)
		h.app("demo", "tool a\non tools/call\n  reply error -32000 \"no access with "+secret+"\"")
		h.app("two", "on initialize\n  reply error -32000 \"bad "+secret+"\"")
		h.open()
		r := h.call("demo.a", "")
		s, _ := h.AppStatus("two")
		for _, text := range []string{r.Err.Message, s.Reason} {
			if strings.Contains(text, secret) || !strings.Contains(text, "•••") {
				t.Errorf("the text is %q", text)
			}
		}
	})
}

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
