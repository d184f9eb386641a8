// Package controltest is the one test suite that every [control.House] passes,
// near or far.
//
// The house under test has two apps. `demo` (package demo) is ready with the
// tools echo (its structuredContent is the arguments), fail (isError), exact
// (the result [Exact]), off (switched off in the configuration) and slow (two
// progress notifications, then nothing until it is cancelled), the resource demo://note, the template demo://note/{name},
// and the prompt greet with the required argument who. `gone` is unavailable.
package controltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// Exact is the result of the tool exact, with tokens that a decoder into Go
// values would change.
const Exact = `{"content":[{"type":"hologram","z":1e400,"a":9007199254740993}],"later":{"<&>":"\u00e9\ud800"},"n":1.50}`

// Definition is the definition of the tool exact.
const Definition = `{"name":"exact","inputSchema":{"type":"object","maximum":1e400},"x-later":[1.0,18446744073709551615,"<b>"],"description":"Exact."}`

// Run runs the suite. Open returns the house, ready to be asked; cancelled
// reports how many calls of slow have been cancelled upstream, waiting until
// there is at least one.
func Run(t *testing.T, house control.House, cancelled func() int) {
	ctx := t.Context()

	t.Run("it says who answers", func(t *testing.T) {
		v, err := house.Version(ctx)
		if err != nil || v.API != control.API || v.PID == 0 || v.Home == "" {
			t.Fatalf("Version() = %+v, %v", v, err)
		}
	})

	t.Run("it lists apps, the broken one too", func(t *testing.T) {
		apps, err := house.Apps(ctx)
		if err != nil || len(apps) != 2 {
			t.Fatalf("Apps() = %+v, %v", apps, err)
		}
		if a := apps[0]; a.Key != "demo" || a.State != control.StateReady || a.Tools != 5 {
			t.Errorf("demo is %+v", a)
		}
		if a := apps[1]; a.Key != "gone" || !a.Missing() || a.Reason == "" {
			t.Errorf("gone is %+v", a)
		}
	})

	t.Run("a tool's definition keeps its tokens", func(t *testing.T) {
		tools, err := house.Tools(ctx, control.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tools.Apps) != 2 {
			t.Errorf("tools come with the apps %+v", tools.Apps)
		}
		for _, tool := range tools.Items {
			if tool.Name == "demo.exact" {
				if string(tool.Definition) != Definition {
					t.Errorf("definition\n got %s\nwant %s", tool.Definition, Definition)
				}
				return
			}
		}
		t.Errorf("demo.exact is not among %+v", tools.Items)
	})

	t.Run("a filter narrows to some apps", func(t *testing.T) {
		tools, err := house.Tools(ctx, control.Filter{Apps: []string{"gone"}})
		if err != nil || len(tools.Items) != 0 || len(tools.Apps) != 1 {
			t.Errorf("Tools(gone) = %+v, %v", tools, err)
		}
		_, err = house.Tools(ctx, control.Filter{Apps: []string{"nobody"}})
		wantCode(t, err, call.AppUnknown)
	})

	t.Run("tools are exported for a provider", func(t *testing.T) {
		x, err := house.Export(ctx, "openai", control.Filter{Apps: []string{"demo"}})
		if err != nil || len(x.Tools)+len(x.Left) != 4 {
			t.Errorf("Export(openai) = %+v, %v", x, err)
		}
		_, err = house.Export(ctx, "klingon", control.Filter{})
		wantCode(t, err, call.UsageInvalid)
	})

	t.Run("resources, templates and prompts are listed", func(t *testing.T) {
		res, err := house.Resources(ctx, control.Filter{})
		if err != nil || len(res.Items) != 2 || res.Items[0].URI != "demo://note" || !res.Items[1].Template {
			t.Errorf("Resources() = %+v, %v", res.Items, err)
		}
		prompts, err := house.Prompts(ctx, control.Filter{})
		if err != nil || len(prompts.Items) != 1 || prompts.Items[0].Name != "demo.greet" || !prompts.Items[0].Arguments[0].Required {
			t.Errorf("Prompts() = %+v, %v", prompts.Items, err)
		}
	})

	t.Run("a call answers with the server's own result", func(t *testing.T) {
		r := house.Call(ctx, control.CallRequest{Name: "demo.exact"}, nil)
		if !r.OK || r.Outcome != call.OK || r.Tool != "demo.exact" || r.App != "demo" {
			t.Errorf("Call(exact) = %+v", r)
		}
		if string(r.Result) != Exact {
			t.Errorf("result\n got %s\nwant %s", r.Result, Exact)
		}
	})

	t.Run("pairs are typed by the schema", func(t *testing.T) {
		r := house.Call(ctx, control.CallRequest{Name: "demo.echo", Pairs: []string{"text=7", "days=7"}}, nil)
		var got struct {
			StructuredContent struct {
				Text string
				Days int
			}
		}
		if err := json.Unmarshal(r.Result, &got); err != nil || got.StructuredContent.Text != "7" || got.StructuredContent.Days != 7 {
			t.Errorf("Call(echo text=7 days=7) = %+v, %s, %v", r.Outcome, r.Result, err)
		}
		r = house.Call(ctx, control.CallRequest{Name: "demo.echo", Pairs: []string{"text"}}, nil)
		wantReply(t, r, call.ProtocolError, call.ArgumentsInvalid)
		r = house.Call(ctx, control.CallRequest{Name: "demo.echo", Pairs: []string{"a=b"}, Args: json.RawMessage(`{}`)}, nil)
		wantReply(t, r, call.ProtocolError, call.UsageInvalid)
	})

	t.Run("a failed tool, an unknown tool and bad arguments differ", func(t *testing.T) {
		r := house.Call(ctx, control.CallRequest{Name: "demo.fail"}, nil)
		wantReply(t, r, call.ToolError, call.ToolFailed)
		if !strings.Contains(string(r.Result), `"isError"`) {
			t.Errorf("the server's own result is lost: %s", r.Result)
		}
		r = house.Call(ctx, control.CallRequest{Name: "demo.ecko"}, nil)
		wantReply(t, r, call.ProtocolError, call.ToolUnknown)
		if r.Error != nil && !strings.Contains(r.Error.Message, "demo.echo") {
			t.Errorf("no near name in %q", r.Error.Message)
		}
		r = house.Call(ctx, control.CallRequest{Name: "demo.echo", Args: json.RawMessage(`{"days":"many"}`)}, nil)
		wantReply(t, r, call.ProtocolError, call.ArgumentsInvalid)
	})

	t.Run("a tool that is switched off is denied", func(t *testing.T) {
		r := house.Call(ctx, control.CallRequest{Name: "demo.off"}, nil)
		wantReply(t, r, call.Denied, call.PolicyDenied)
	})

	t.Run("progress comes before the end, and giving up cancels upstream", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		seen := make(chan call.Progress, 8)
		ended := make(chan control.Reply, 1)
		go func() {
			ended <- house.Call(ctx, control.CallRequest{Name: "demo.slow"}, func(p call.Progress) { seen <- p })
		}()
		for want := 1.0; want <= 2; want++ {
			if p := <-seen; p.Progress != want {
				t.Errorf("progress %v, want %v", p.Progress, want)
			}
		}
		cancel()
		wantReply(t, <-ended, call.Cancelled, call.CallCancelled)
		if n := cancelled(); n != 1 {
			t.Errorf("%d calls were cancelled upstream, want 1", n)
		}
	})

	t.Run("a time limit ends a call", func(t *testing.T) {
		r := house.Call(ctx, control.CallRequest{Name: "demo.slow", TimeoutMS: 20}, nil)
		wantReply(t, r, call.Timeout, call.CallTimeout)
	})

	t.Run("resources are read", func(t *testing.T) {
		r := house.Read(ctx, control.ReadRequest{URI: "demo://note"})
		if !r.OK || r.URI != "demo://note" || r.App != "demo" || !strings.Contains(string(r.Result), "contents") {
			t.Errorf("Read(demo://note) = %+v", r)
		}
		r = house.Read(ctx, control.ReadRequest{URI: "nowhere://x"})
		wantReply(t, r, call.ProtocolError, call.ResourceUnknown)
	})

	t.Run("prompts are rendered", func(t *testing.T) {
		r := house.Prompt(ctx, control.PromptRequest{Name: "demo.greet", Args: map[string]string{"who": "小明"}})
		if !r.OK || r.Prompt != "demo.greet" || !strings.Contains(string(r.Result), "小明") {
			t.Errorf("Prompt(greet) = %+v %s", r, r.Result)
		}
		r = house.Prompt(ctx, control.PromptRequest{Name: "demo.nope"})
		wantReply(t, r, call.ProtocolError, call.PromptUnknown)
	})

	t.Run("arguments are completed", func(t *testing.T) {
		r := house.Complete(ctx, control.CompleteRequest{Prompt: "demo.greet", Argument: "who", Value: "小"})
		if !r.OK || !strings.Contains(string(r.Result), "小明") {
			t.Errorf("Complete(greet who=小) = %+v %s", r, r.Result)
		}
	})

	t.Run("events are followed, and their files acted upon", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		news := make(chan control.EventNews, 64)
		ended := make(chan error, 1)
		go func() {
			ended <- house.FollowEvents(ctx, control.FollowRequest{EventFilter: control.EventFilter{Types: []string{"tool.*"}}}, func(n control.EventNews) error {
				news <- n
				return nil
			})
		}()
		if n := <-news; n.Event != nil {
			t.Errorf("the first news is %+v", n)
		}
		house.Call(ctx, control.CallRequest{Name: "demo.exact"}, nil)
		n := <-news
		for n.Event != nil && !strings.Contains(string(n.Event.Envelope), "1e400") {
			n = <-news // of an earlier call
		}
		if n.Event == nil || n.Event.Spool != "inbox" || n.Event.State != "pending" || n.Event.File == "" || !strings.Contains(string(n.Event.Envelope), `"tool.completed"`) {
			t.Fatalf("news %+v", n)
		}
		cancel()
		wantCode(t, <-ended, call.CallCancelled)

		ctx = t.Context()
		flow, err := house.Flow(ctx)
		if err != nil || !flow.Running || flow.State != control.FlowReady || len(flow.Spools) != 1 || flow.Spools[0].Name != "inbox" || flow.Spools[0].Pending == 0 {
			t.Errorf("Flow() = %+v, %v", flow, err)
		}
		act := func(action control.EventAction, spool, file string) (control.EventDone, error) {
			return house.EventAction(ctx, control.EventActionRequest{Action: action, Spool: spool, File: file})
		}
		if d, err := act(control.Requeue, "inbox", n.Event.File); err != nil || !d.OK || d.Was != "pending" {
			t.Errorf("requeue = %+v, %v", d, err)
		}
		if d, err := act(control.Drop, "inbox", n.Event.File); err != nil || !d.OK || d.Was != "pending" {
			t.Errorf("drop = %+v, %v", d, err)
		}
		_, err = act(control.Drop, "inbox", n.Event.File)
		wantCode(t, err, call.EventUnknown)
		_, err = act(control.Drop, "nowhere", n.Event.File)
		wantCode(t, err, call.EventUnknown)
		_, err = act(control.Drop, "inbox", "../inbox/pending/"+n.Event.File)
		wantCode(t, err, call.EventUnknown)
		_, err = act("explode", "inbox", n.Event.File)
		wantCode(t, err, call.UsageInvalid)
	})

	t.Run("apps are stopped and started", func(t *testing.T) {
		a, err := house.AppAction(ctx, "demo", control.Stop)
		if err != nil || a.State != control.StateStopped {
			t.Fatalf("stop = %+v, %v", a, err)
		}
		r := house.Call(ctx, control.CallRequest{Name: "demo.exact"}, nil)
		if r.Error == nil || r.Error.Code != call.AppUnavailable {
			t.Errorf("a call of a stopped app = %+v", r)
		}
		a, err = house.AppAction(ctx, "demo", control.Start)
		if err != nil || a.State != control.StateReady {
			t.Fatalf("start = %+v, %v", a, err)
		}
		a, err = house.AppAction(ctx, "demo", control.Restart)
		if err != nil || a.State != control.StateReady {
			t.Fatalf("restart = %+v, %v", a, err)
		}
		_, err = house.AppAction(ctx, "nobody", control.Start)
		wantCode(t, err, call.AppUnknown)
		_, err = house.AppAction(ctx, "demo", "explode")
		wantCode(t, err, call.UsageInvalid)
	})
}

func wantReply(t *testing.T, r control.Reply, o call.Outcome, c call.Code) {
	t.Helper()
	if r.OK || r.Outcome != o || r.Error == nil || r.Error.Code != c {
		t.Errorf("reply %+v with error %v, want outcome %s and code %s", r, r.Error, o, c)
	}
}

func wantCode(t *testing.T, err error, c call.Code) {
	t.Helper()
	var e *call.Error
	if !errors.As(err, &e) || e.Code != c {
		t.Errorf("error %v, want %s", err, c)
	}
}
