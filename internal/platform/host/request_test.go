package host

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/redact"
)

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
