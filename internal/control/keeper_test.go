package control_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// A fakeKeeper remembers what it was asked.
type fakeKeeper struct {
	*fakeHouse
	last     control.Reload
	switches []control.SwitchRequest
}

func (k *fakeKeeper) Reload(context.Context) (control.Reload, error) {
	k.last = control.Reload{
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Cause: control.ByCommand, Applied: true,
		Apps:    []control.AppReload{{Key: "天气", Effect: "restarted"}, {Key: "b", Effect: control.Unchanged}},
		Pending: []string{"log.format"}, Problems: []control.Problem{{App: "b", File: "apps/config.yml", Line: 3, Column: 4, Message: "odd", Warning: true}},
	}
	return k.last, nil
}

func (k *fakeKeeper) LastReload(context.Context) (control.Reload, error) { return k.last, nil }

func (k *fakeKeeper) SwitchApp(_ context.Context, app string, on bool) (control.App, error) {
	k.switches = append(k.switches, control.SwitchRequest{Name: app, On: on})
	if app == "nobody" {
		return control.App{}, control.Errorf(call.AppUnknown, "no app %q", app)
	}
	return control.App{Key: app, State: control.StateReady}, nil
}

func (k *fakeKeeper) SwitchTool(_ context.Context, tool string, on bool) (control.ToolSwitch, error) {
	k.switches = append(k.switches, control.SwitchRequest{Name: tool, On: on})
	if tool == "nothing" {
		return control.ToolSwitch{}, control.Errorf(call.ToolUnknown, "no tool %q", tool)
	}
	return control.ToolSwitch{OK: true, Name: tool, App: "demo", Enabled: on, Changed: true, Note: "a/b?c"}, nil
}

func TestAKeeperIsTheSameNearAndFar(t *testing.T) {
	k := &fakeKeeper{fakeHouse: newFakeHouse()}
	far := dial(t, t.TempDir(), k, control.ListenOptions{})
	ctx := t.Context()

	if r, err := far.LastReload(ctx); err != nil || !r.At.IsZero() {
		t.Errorf("before there was a reload: %+v, %v", r, err)
	}
	r, err := far.Reload(ctx)
	if err != nil || !reflect.DeepEqual(r, k.last) {
		t.Errorf("Reload() = %+v, %v; want %+v", r, err, k.last)
	}
	if r, err := far.LastReload(ctx); err != nil || !reflect.DeepEqual(r, k.last) {
		t.Errorf("LastReload() = %+v, %v", r, err)
	}
	if a, err := far.SwitchApp(ctx, "a/b 天气", false); err != nil || a.Key != "a/b 天气" {
		t.Errorf("SwitchApp() = %+v, %v", a, err)
	}
	if s, err := far.SwitchTool(ctx, "demo.echo", true); err != nil || s != (control.ToolSwitch{OK: true, Name: "demo.echo", App: "demo", Enabled: true, Changed: true, Note: "a/b?c"}) {
		t.Errorf("SwitchTool() = %+v, %v", s, err)
	}
	var e *call.Error
	if _, err := far.SwitchApp(ctx, "nobody", true); !errors.As(err, &e) || e.Code != call.AppUnknown {
		t.Errorf("an unknown app: %v", err)
	}
	if _, err := far.SwitchTool(ctx, "nothing", true); !errors.As(err, &e) || e.Code != call.ToolUnknown {
		t.Errorf("an unknown tool: %v", err)
	}
	want := []control.SwitchRequest{{Name: "a/b 天气"}, {Name: "demo.echo", On: true}, {Name: "nobody", On: true}, {Name: "nothing", On: true}}
	if !reflect.DeepEqual(k.switches, want) {
		t.Errorf("it was asked for %+v, want %+v", k.switches, want)
	}
}
