package control_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/control/controltest"
)

// fakeHouse is the house of the suite without any MCP.
type fakeHouse struct {
	control.Mind   // nil unless a test sets it
	control.Keeper // a house of its own kind: see keeper_test.go

	stopped   atomic.Bool
	cancelled chan struct{} // one item per cancelled call of slow
	events    chan struct{} // one item per call of exact
	dropped   atomic.Bool
}

func newFakeHouse() *fakeHouse {
	return &fakeHouse{cancelled: make(chan struct{}, 8), events: make(chan struct{}, 8)}
}

func (h *fakeHouse) Version(context.Context) (control.Version, error) {
	return control.Version{Version: "test", API: control.API, PID: os.Getpid(), Home: "/home"}, nil
}

func (h *fakeHouse) Apps(context.Context) ([]control.App, error) {
	demo := control.App{Key: "demo", Package: "demo", State: control.StateReady, Tools: 5}
	if h.stopped.Load() {
		demo.State = control.StateStopped
	}
	return []control.App{demo, {Key: "gone", Package: "gone", State: control.StateUnavailable, Reason: "no such command"}}, nil
}

func (h *fakeHouse) apps(f control.Filter) ([]control.App, error) {
	all, _ := h.Apps(context.Background())
	for _, name := range f.Apps {
		if name != "demo" && name != "gone" {
			return nil, control.Errorf(call.AppUnknown, "no app %q", name)
		}
	}
	return slices.DeleteFunc(all, func(a control.App) bool { return len(f.Apps) > 0 && !slices.Contains(f.Apps, a.Key) }), nil
}

func (h *fakeHouse) AppAction(_ context.Context, key string, action control.Action) (control.App, error) {
	if key != "demo" {
		return control.App{}, control.Errorf(call.AppUnknown, "no app %q", key)
	}
	switch action {
	case control.Start, control.Restart:
		h.stopped.Store(false)
	case control.Stop:
		h.stopped.Store(true)
	default:
		return control.App{}, control.Errorf(call.UsageInvalid, "no action %q", action)
	}
	all, _ := h.Apps(context.Background())
	return all[0], nil
}

func (h *fakeHouse) Tools(_ context.Context, f control.Filter) (control.Tools, error) {
	apps, err := h.apps(f)
	if err != nil || apps[0].Key != "demo" {
		return control.Tools{Apps: apps}, err
	}
	return control.Tools{Apps: apps, Items: []control.Tool{
		{Name: "demo.exact", Definition: json.RawMessage(controltest.Definition)},
	}}, nil
}

func (h *fakeHouse) Export(_ context.Context, dialect string, f control.Filter) (control.Export, error) {
	if dialect != "openai" {
		return control.Export{}, control.Errorf(call.UsageInvalid, "no dialect %q", dialect)
	}
	return control.Export{Tools: []json.RawMessage{[]byte(`{}`), []byte(`{}`), []byte(`{}`)}, Left: []control.Left{{Name: "demo.exact", Reason: "1e400"}}}, nil
}

func (h *fakeHouse) Resources(context.Context, control.Filter) (control.Resources, error) {
	return control.Resources{Items: []control.Resource{{URI: "demo://note"}, {URI: "demo://note/{name}", Template: true}}}, nil
}

func (h *fakeHouse) Prompts(context.Context, control.Filter) (control.Prompts, error) {
	return control.Prompts{Items: []control.Prompt{{Name: "demo.greet", Arguments: []control.PromptArgument{{Name: "who", Required: true}}}}}, nil
}

func (h *fakeHouse) Call(ctx context.Context, r control.CallRequest, progress func(call.Progress)) control.Reply {
	end := func(o call.Outcome, c call.Code, text string) control.Reply {
		return control.Reply{Tool: r.Name, Outcome: o, Error: control.Errorf(c, "%s", text)}
	}
	ok := func(raw string) control.Reply {
		return control.Reply{OK: true, Tool: r.Name, App: "demo", Outcome: call.OK, Result: json.RawMessage(raw)}
	}
	switch {
	case len(r.Pairs) > 0 && r.Args != nil:
		return end(call.ProtocolError, call.UsageInvalid, "both")
	case len(r.Pairs) == 1 || strings.Contains(string(r.Args), "many"):
		return end(call.ProtocolError, call.ArgumentsInvalid, "not k=v")
	case h.stopped.Load():
		return end(call.Unavailable, call.AppUnavailable, "stopped")
	case r.Name == "demo.off":
		return end(call.Denied, call.PolicyDenied, "switched off")
	case r.Name == "demo.exact":
		h.events <- struct{}{}
		return ok(controltest.Exact)
	case r.Name == "demo.echo":
		return ok(`{"structuredContent":{"text":"7","days":7}}`)
	case r.Name == "demo.fail":
		rep := end(call.ToolError, call.ToolFailed, "failed")
		rep.Result = json.RawMessage(`{"isError":true}`)
		return rep
	case r.Name == "demo.slow" && r.TimeoutMS > 0:
		return end(call.Timeout, call.CallTimeout, "too late")
	case r.Name == "demo.slow":
		for _, p := range []float64{1, 2} {
			if progress != nil {
				progress(call.Progress{Progress: p, Total: 2})
			}
		}
		<-ctx.Done()
		h.cancelled <- struct{}{}
		return end(call.Cancelled, call.CallCancelled, "cancelled")
	}
	return end(call.ProtocolError, call.ToolUnknown, "did you mean demo.echo?")
}

func (h *fakeHouse) Read(_ context.Context, r control.ReadRequest) control.Reply {
	if r.URI != "demo://note" {
		return control.Reply{URI: r.URI, Outcome: call.ProtocolError, Error: control.Errorf(call.ResourceUnknown, "no")}
	}
	return control.Reply{OK: true, URI: r.URI, App: "demo", Outcome: call.OK, Result: json.RawMessage(`{"contents":[]}`)}
}

func (h *fakeHouse) Prompt(_ context.Context, r control.PromptRequest) control.Reply {
	if r.Name != "demo.greet" {
		return control.Reply{Prompt: r.Name, Outcome: call.ProtocolError, Error: control.Errorf(call.PromptUnknown, "no")}
	}
	who, _ := json.Marshal(r.Args["who"])
	return control.Reply{OK: true, Prompt: r.Name, App: "demo", Outcome: call.OK, Result: who}
}

func (h *fakeHouse) Complete(_ context.Context, r control.CompleteRequest) control.Reply {
	return control.Reply{OK: true, Prompt: cmp.Or(r.Prompt, r.Template), Outcome: call.OK, Result: json.RawMessage(`"小明"`)}
}

const eventFile = "event_tool.completed_1.json"

func (h *fakeHouse) Flow(context.Context) (control.Flow, error) {
	return control.Flow{Running: true, State: control.FlowReady, Spools: []control.SpoolFlow{{Name: "inbox", Pending: 1}}}, nil
}

func (h *fakeHouse) FollowEvents(ctx context.Context, _ control.FollowRequest, tell func(control.EventNews) error) error {
	for len(h.events) > 0 { // calls of long ago
		<-h.events
	}
	if err := tell(control.EventNews{}); err != nil {
		return err
	}
	for {
		select {
		case <-h.events:
			e := json.RawMessage(`{"payload":{"type":"tool.completed","data":` + controltest.Exact + `}}`)
			if err := tell(control.EventNews{Event: &control.EventFile{Spool: "inbox", State: "pending", File: eventFile, Envelope: e}}); err != nil {
				return err
			}
		case <-ctx.Done():
			return control.AsError(ctx.Err())
		}
	}
}

func (h *fakeHouse) EventAction(_ context.Context, r control.EventActionRequest) (control.EventDone, error) {
	switch {
	case r.Action != control.Requeue && r.Action != control.Drop:
		return control.EventDone{}, control.Errorf(call.UsageInvalid, "no action %q", r.Action)
	case r.Spool != "inbox" || r.File != eventFile || h.dropped.Load():
		return control.EventDone{}, control.Errorf(call.EventUnknown, "no event %q", r.File)
	}
	h.dropped.Store(r.Action == control.Drop)
	return control.EventDone{OK: true, Action: r.Action, Spool: r.Spool, File: r.File, Was: "pending"}, nil
}

// cancelledCalls waits for a cancelled call and counts what there is.
func (h *fakeHouse) cancelledCalls() int {
	<-h.cancelled
	return 1 + len(h.cancelled)
}
