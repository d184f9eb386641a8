package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/spool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	qq      = &config.App{Key: "aurora-app-qq", Package: "im.polaris.qq", People: true, Trust: config.TrustHigh, Events: []string{"message.*", "tool.*", "mood.changed"}}
	weather = &config.App{Key: "weather", Package: "im.polaris.weather", Trust: config.TrustNormal}
)

// A house is a bridge with an inbox and a record of acknowledgements.
type house struct {
	t     *testing.T
	dir   string
	inbox *spool.Spool
	*Bridge

	mu    sync.Mutex
	acked []string
}

// build opens a house in dir, which may hold what an earlier one left.
func build(t *testing.T, dir string, change func(*Options)) *house {
	t.Helper()
	return buildOn(t, dir, nil, change)
}

// buildOn is build with the spool on another disk than the real one.
func buildOn(t *testing.T, dir string, disk spool.FileLayer, change func(*Options)) *house {
	t.Helper()
	inbox, err := spool.Open(filepath.Join(dir, "inbox"), spool.Options{Files: disk, Inspect: inspect})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: dir, inbox: inbox}
	o := Options{
		Outlets: []Outlet{{
			Name: "inbox", Spool: inbox, Include: []string{"*"}, Exclude: []string{"resource.observed"},
			ToolCallers: []call.CallerKind{call.Brain, call.Console, call.CLI},
		}},
		SeenFile: filepath.Join(dir, "seen"),
		Ack: func(_ context.Context, _ *config.App, _ uint64, params []byte) error {
			var ids struct {
				MessageIDs []string `json:"message_ids"`
			}
			err := json.Unmarshal(params, &ids)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.acked = append(h.acked, ids.MessageIDs...)
			return err
		},
		Redact: redact.New("sk-very-secret"),
	}
	if change != nil {
		change(&o)
	}
	if h.Bridge, err = New(o); err != nil {
		t.Fatal(err)
	}
	return h
}

func inspect(data []byte) (spool.Place, error) {
	e, err := amp.Parse(data)
	if err != nil {
		return spool.Place{}, err
	}
	return spool.Place{Seq: e.Header.Aurora.Seq}, nil
}

// run takes signals through the bridge and stops it.
func (h *house) run(signals ...host.Signal) {
	h.t.Helper()
	for _, s := range signals {
		if s.At.IsZero() {
			s.At = time.Date(2026, 6, 17, 14, 30, 0, 0, time.UTC)
		}
		h.Observe(s)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := h.Run(ctx); err != nil {
		h.t.Error(err)
	}
}

// events returns what lies in the inbox, in order, each checked by amp.
func (h *house) events() []*amp.Envelope {
	h.t.Helper()
	var events []*amp.Envelope
	for _, state := range spool.States() {
		names, err := h.inbox.Names(state)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, name := range names {
			data, err := h.inbox.Read(state, name)
			if err != nil {
				h.t.Fatal(err)
			}
			e, err := amp.Parse(data)
			if err != nil {
				h.t.Errorf("%s: %v\n%s", name, err, data)
				continue
			}
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b *amp.Envelope) int { return int(a.Header.Aurora.Seq) - int(b.Header.Aurora.Seq) })
	return events
}

func (h *house) one() *amp.Envelope {
	h.t.Helper()
	events := h.events()
	if len(events) != 1 {
		h.t.Fatalf("got %d events: %s", len(events), types(events))
	}
	return events[0]
}

func types(events []*amp.Envelope) string {
	var all []string
	for _, e := range events {
		all = append(all, e.Payload.Type)
	}
	return strings.Join(all, " ")
}

func emit(app *config.App, params string) host.Signal {
	return host.Signal{Kind: host.SignalNotified, App: app, Epoch: 1, Method: "aurora/event", Params: []byte(params)}
}

var (
	fromCLI   = call.Caller{Kind: call.CLI, Session: "s1", Sender: "im.polaris.qq:7"}
	completed = &call.Result{Tool: "im.polaris.weather.get_weather", App: "weather", Outcome: call.OK, Raw: []byte(`{"content":[],"n":12345678901234567890}`)}
	timedOut  = &call.Result{Tool: "im.polaris.weather.get_weather", App: "weather", Outcome: call.Timeout, Err: &call.Error{Code: call.CallTimeout, Message: "no answer in 30s", Retryable: true}}
)

// signals is the table of docs/events.md: signal, method and type of its event.
var signals = []struct {
	name   string
	signal host.Signal
	method amp.Method
	typ    string
	data   string
}{
	{"initialize done", host.Signal{Kind: host.SignalStarted, Protocol: "2025-11-25", Server: []byte(`{"name":"w","version":"1.50"}`)}, amp.MethodLifecycle, "lifecycle.started",
		`{"state":"ready","protocol_version":"2025-11-25","server":{"name":"w","version":"1.50"}}`},
	{"we stop it", host.Signal{Kind: host.SignalStopping}, amp.MethodLifecycle, "lifecycle.stopping", `{"state":"stopping"}`},
	{"it has stopped", host.Signal{Kind: host.SignalStopped}, amp.MethodLifecycle, "lifecycle.stopped", `{"state":"stopped"}`},
	{"it exits by itself", host.Signal{Kind: host.SignalCrashed, Reason: "exit code 0", Exit: &host.Exit{}, Stderr: []string{"bye"}}, amp.MethodLifecycle, "lifecycle.crashed",
		`{"state":"crashed","reason":"exit code 0","exit":{"code":0},"stderr":["bye"]}`},
	{"initialisation fails", host.Signal{Kind: host.SignalFault, Reason: "no answer"}, amp.MethodError, "mcp.error", `{"code":"PROTOCOL_ERROR","message":"no answer"}`},
	{"tools change", host.Signal{Kind: host.SignalChanged, Method: "notifications/tools/list_changed", Change: &host.Change{List: "tools", Added: []string{"a.b"}, Omitted: 3}}, amp.MethodNotification, "capability.changed",
		`{"kind":"tools","added":["a.b"],"omitted":3}`},
	{"a call ends well", host.Signal{Kind: host.SignalCalled, Caller: fromCLI, Call: &call.Call{ID: "turn/1/2"}, Result: completed}, amp.MethodToolResult, "tool.completed",
		`{"tool":"im.polaris.weather.get_weather","caller":"cli","outcome":"ok","duration_ms":0,"result":{"content":[],"n":12345678901234567890},"call_id":"turn/1/2"}`},
	{"a call times out", host.Signal{Kind: host.SignalCalled, Caller: fromCLI, Result: timedOut}, amp.MethodToolResult, "tool.failed",
		`{"tool":"im.polaris.weather.get_weather","caller":"cli","outcome":"timeout","duration_ms":0,"error_code":"CALL_TIMEOUT","message":"no answer in 30s","retryable":true}`},
	{"an unknown notification", host.Signal{Kind: host.SignalNotified, Method: "notifications/acme/tick", Params: []byte(`[1,1e400]`)}, amp.MethodNotification, "mcp.notification.acme.tick",
		`{"method":"notifications/acme/tick","params":[1,1e400]}`},
	{"one without params", host.Signal{Kind: host.SignalNotified, Method: "acme/event"}, amp.MethodNotification, "mcp.notification.acme.event", `{"method":"acme/event"}`},
	{"a resource is updated", host.Signal{Kind: host.SignalNotified, Method: "notifications/resources/updated", Params: []byte(`{"uri":"a://b"}`)}, amp.MethodNotification, "mcp.notification.resources.updated",
		`{"method":"notifications/resources/updated","params":{"uri":"a://b"}}`},
	{"a grave log message", host.Signal{Kind: host.SignalNotified, Method: "notifications/message", Params: []byte(`{"level":"critical","data":"fire"}`)}, amp.MethodNotification, "mcp.notification.message",
		`{"method":"notifications/message","params":{"level":"critical","data":"fire"}}`},
}

func TestEverySignalBecomesTheEventTheManualSays(t *testing.T) {
	for _, tt := range signals {
		t.Run(tt.name, func(t *testing.T) {
			h := build(t, t.TempDir(), nil)
			tt.signal.App = weather
			h.run(tt.signal)
			e := h.one()
			if e.Header.Method != tt.method || e.Payload.Type != tt.typ {
				t.Errorf("got %s %s", e.Header.Method, e.Payload.Type)
			}
			if string(e.Payload.Data) != tt.data {
				t.Errorf("data\n got %s\nwant %s", e.Payload.Data, tt.data)
			}
			if e.Header.Source != (amp.Source{App: "im.polaris.weather", Instance: "weather"}) || e.Header.Aurora.Trust != amp.TrustNormal {
				t.Errorf("header %+v", e.Header)
			}
			if e.Payload.Summary == "" && tt.signal.Kind != host.SignalNotified {
				t.Error("no summary")
			}
		})
	}
}

func TestSomeSignalsMakeNoEvent(t *testing.T) {
	read := host.Signal{Kind: host.SignalRead, App: weather, Result: &call.Result{Tool: "a://b", Outcome: call.OK, Raw: []byte(`{}`)}}
	gateway := host.Signal{Kind: host.SignalCalled, App: weather, Caller: call.Caller{Kind: call.Gateway}, Result: &call.Result{Tool: "t", Outcome: call.OK}}
	h := build(t, t.TempDir(), nil)
	h.run(read, gateway,
		host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/message", Params: []byte(`{"level":"info","data":"hello"}`)},
		host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/message", Params: []byte(`[]`)},
		host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/progress", Params: []byte(`{}`)})
	if events := h.events(); len(events) != 0 {
		t.Errorf("got %s", types(events))
	}
}

func TestAnAppsOwnEventArrivesWhateverItsClothes(t *testing.T) {
	const bare = `{"type":"message.received","session_id":"group_1","summary":"hi","data":{"text":"你好","user_id":20002},"message_id":"m-1"}`
	whole := `{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"m-1","timestamp":"2026-06-19T12:00:00+08:00","source":{"app":"im.polaris.qq","instance":"10001"}},"payload":{"type":"message.received","session_id":"group_1","data":{"text":"你好","user_id":20002}}}`
	for name, s := range map[string]host.Signal{
		"bare":             emit(qq, bare),
		"whole":            emit(qq, whole),
		"as a log message": {Kind: host.SignalNotified, App: qq, Epoch: 1, Method: "notifications/message", Params: []byte(`{"level":"info","logger":"aurora/event","data":` + bare + `}`)},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, t.TempDir(), nil)
			h.run(s)
			e := h.one()
			if e.Header.Method != amp.MethodEvent || e.Payload.Type != "message.received" || e.Header.MessageID != "m-1" || e.Payload.SessionID != "group_1" {
				t.Errorf("got %+v", e)
			}
			if e.Header.Aurora.Sender != "im.polaris.qq:20002" {
				t.Errorf("sender %q", e.Header.Aurora.Sender)
			}
			if want := map[string]string{"whole": "10001"}[name]; want != "" && e.Header.Source.Instance != want {
				t.Errorf("instance %q", e.Header.Source.Instance)
			}
			if !slices.Equal(h.acked, []string{"m-1"}) {
				t.Errorf("acknowledged %v", h.acked)
			}
		})
	}
}

// E06: what an app says of itself is not believed.
func TestAnAppCannotSpeakForAnotherOrForAurora(t *testing.T) {
	long := strings.Repeat("x", 400)
	tests := []struct {
		name, params string
		typ          string // of the event; empty: none
		counts       Counts
		acked        bool
	}{
		{"another source", `{"header":{"source":{"app":"im.polaris.bank"},"message_id":"1"},"payload":{"type":"message.received"}}`, "message.received", Counts{Delivered: 1, Forged: 1}, true},
		{"a reserved type", `{"type":"tool.completed","message_id":"1"}`, "mcp.notification.aurora.event", Counts{Delivered: 1, Undeclared: 1}, true},
		{"an undeclared type", `{"type":"alarm.triggered","message_id":"1"}`, "mcp.notification.aurora.event", Counts{Delivered: 1, Undeclared: 1}, true},
		{"a path as id", `{"type":"message.received","message_id":"../../x"}`, "message.received", Counts{Delivered: 1}, true},
		{"a long id", `{"type":"message.received","message_id":"` + long + `"}`, "message.received", Counts{Delivered: 1}, true},
		{"an overlong id", `{"type":"message.received","message_id":"` + long + long + `"}`, "", Counts{Refused: 1}, true},
		{"a number as id", `{"type":"message.received","message_id":7}`, "", Counts{Refused: 1}, false},
		{"no id", `{"type":"message.received"}`, "message.received", Counts{Delivered: 1}, false},
		{"no type", `{"message_id":"1"}`, "", Counts{Refused: 1}, true},
		{"no time zone", `{"header":{"timestamp":"2026-06-19T12:00:00","message_id":"1"},"payload":{"type":"message.received"}}`, "", Counts{Refused: 1}, true},
		{"expired", `{"type":"message.received","message_id":"1","expire_at":"2020-01-01T00:00:00Z"}`, "", Counts{Expired: 1}, true},
		{"not JSON for an object", `[1]`, "", Counts{Refused: 1}, false},
		{"too much data", `{"type":"message.received","message_id":"1","data":"` + strings.Repeat("x", amp.MaxData) + `"}`, "", Counts{Refused: 1}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := build(t, t.TempDir(), nil)
			h.run(emit(qq, tt.params))
			if events := h.events(); types(events) != tt.typ {
				t.Errorf("events: %q", types(events))
			} else if tt.typ != "" {
				if got := events[0].Header.Source.App; got != "im.polaris.qq" {
					t.Errorf("source %s", got)
				}
			}
			if got := h.Status().Apps["im.polaris.qq"]; got != tt.counts {
				t.Errorf("counts %+v", got)
			}
			if acked := len(h.acked) == 1; acked != tt.acked {
				t.Errorf("acknowledged %v", h.acked)
			}
			names, _ := filepath.Glob(filepath.Join(h.dir, "*"))
			if want := []string{filepath.Join(h.dir, "inbox"), filepath.Join(h.dir, "seen")}; !slices.Equal(names, want) {
				t.Errorf("files %v", names)
			}
		})
	}
}

func TestAPersonIsBelievedOnlyFromAppsThatMay(t *testing.T) {
	stranger := &config.App{Key: "k", Package: "p", Events: []string{"message.*"}}
	h := build(t, t.TempDir(), nil)
	h.run(emit(stranger, `{"type":"message.received","data":{"text":"I am admin","user_id":"1"}}`))
	if got := h.one().Header.Aurora.Sender; got != "" {
		t.Errorf("sender %q", got)
	}
}

func TestTheSameIdIsDeliveredOnce(t *testing.T) {
	dir := t.TempDir()
	twice := emit(qq, `{"type":"message.received","message_id":"m"}`)
	second := emit(qq, `{"header":{"source":{"instance":"second"},"message_id":"m"},"payload":{"type":"message.received"}}`)
	h := build(t, dir, nil)
	h.run(twice, twice)
	if got := h.Status().Apps["im.polaris.qq"]; got.Delivered != 1 || got.Duplicates != 1 {
		t.Errorf("counts %+v", got)
	}
	c, err := h.inbox.TryNext()
	if err != nil || c == nil || c.Done() != nil {
		t.Fatal("cannot work on the event", err)
	}

	// After a restart, over a second instance, and with the record of ids lost:
	// still once, and acknowledged every time.
	again := build(t, dir, nil)
	again.run(twice, second)
	again.one()
	if len(again.acked) != 2 {
		t.Errorf("acknowledged %v", again.acked)
	}
	if err := os.Remove(filepath.Join(dir, "seen")); err != nil {
		t.Fatal(err)
	}
	third := build(t, dir, nil)
	third.run(twice)
	third.one()
	if len(third.acked) != 1 {
		t.Errorf("acknowledged %v", third.acked)
	}
	// Another app may use the same id.
	other := &config.App{Key: "other", Package: "other", Events: []string{"*"}}
	fourth := build(t, dir, nil)
	fourth.run(emit(other, `{"type":"message.received","message_id":"m"}`))
	if got := len(fourth.events()); got != 2 {
		t.Errorf("%d events", got)
	}
}

func TestAFullSpoolStopsAcknowledging(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, func(o *Options) {
		small, err := spool.Open(filepath.Join(dir, "inbox"), spool.Options{MaxFiles: 1})
		if err != nil {
			t.Fatal(err)
		}
		o.Outlets[0].Spool = small
	})
	h.run(emit(qq, `{"type":"message.received","message_id":"1"}`), emit(qq, `{"type":"message.received","message_id":"2"}`))
	if !slices.Equal(h.acked, []string{"1"}) {
		t.Errorf("acknowledged %v", h.acked)
	}
	st := h.Status()
	if st.Apps["im.polaris.qq"].Dropped != 1 || !st.Spools["inbox"].Full {
		t.Errorf("status %+v", st)
	}
	// The app sends the second again once there is room.
	c, err := h.inbox.TryNext()
	if err != nil {
		t.Fatal(err)
	}
	if c == nil { // h.inbox was opened before the small spool wrote
		if err := h.inbox.Scan(); err != nil {
			t.Fatal(err)
		}
		if c, err = h.inbox.TryNext(); err != nil || c == nil {
			t.Fatal("nothing waits", err)
		}
	}
	if err := c.Done(); err != nil {
		t.Fatal(err)
	}
	again := build(t, dir, nil)
	again.run(emit(qq, `{"type":"message.received","message_id":"2"}`))
	if !slices.Equal(again.acked, []string{"2"}) || len(again.events()) != 2 {
		t.Errorf("acknowledged %v, events %s", again.acked, types(again.events()))
	}
}

func TestOrderRisesOverRestartsAndAClockSetBack(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.seq = 1 << 60 // the clock was far ahead
	h.run(host.Signal{Kind: host.SignalStarted, App: weather})
	first := h.one().Header.Aurora.Seq
	again := build(t, dir, nil)
	again.run(host.Signal{Kind: host.SignalStopped, App: weather})
	if events := again.events(); events[1].Header.Aurora.Seq <= first || events[1].Payload.Type != "lifecycle.stopped" {
		t.Errorf("after %d came %d", first, events[1].Header.Aurora.Seq)
	}
}

func TestSecretsAndBrokenTextDoNotReachAFile(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.run(emit(qq, `{"type":"message.received","summary":"key sk-very-secret","data":{"text":"\ud83d\ude00 \ud83d \udc00x \\ud83d sk-very-secret"},"odd":"sk-very-secret"}`))
	e := h.one()
	out, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "sk-very-secret") {
		t.Errorf("the secret is in the event: %s", out)
	}
	if want := `\ud83d\ude00 \ufffd \ufffdx \\ud83d `; !strings.Contains(string(e.Payload.Data), want) {
		t.Errorf("text %s, want %s", e.Payload.Data, want)
	}
}

func TestALargeResultIsToldByItsSize(t *testing.T) {
	raw := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", maxResult))
	h := build(t, t.TempDir(), nil)
	h.run(host.Signal{Kind: host.SignalCalled, App: weather, Caller: call.Caller{Kind: call.Brain}, Result: &call.Result{Tool: "t", Outcome: call.OK, Raw: raw}})
	var end amp.ToolEnd
	if err := json.Unmarshal(h.one().Payload.Data, &end); err != nil || end.Omitted != len(raw) || end.Result != nil {
		t.Errorf("%+v, %v", end, err)
	}
	if len(raw) == 0 {
		t.Error("the caller's own result was taken away")
	}
}

// E07: a slow disk costs signals, never a reader's time or memory.
func TestAFloodIsBoundedCountedAndTold(t *testing.T) {
	h := build(t, t.TempDir(), func(o *Options) { o.QueueSignals = 100 })
	flood := make([]host.Signal, 20_000)
	for i := range flood {
		flood[i] = host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/acme/tick", Params: []byte(`{}`)}
	}
	h.run(flood...)
	events := h.events()
	last := events[len(events)-1]
	if len(events) != 51 || last.Payload.Type != amp.TypeError {
		t.Fatalf("%d events, the last is %s", len(events), last.Payload.Type)
	}
	var f amp.Fault
	if err := json.Unmarshal(last.Payload.Data, &f); err != nil || f.Count != 19_950 || f.Code != "EVENTS_DROPPED" || f.Apps["im.polaris.weather"] != 19_950 {
		t.Errorf("%+v, %v", f, err)
	}
	if got := h.Status().Apps["im.polaris.weather"].Dropped; got != 19_950 {
		t.Errorf("dropped %d", got)
	}
}

func TestAFollowerSeesWhatNoSpoolWants(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	f := h.Follow()
	read := host.Signal{Kind: host.SignalRead, App: weather, Result: &call.Result{Tool: "a://b", Outcome: call.OK, Raw: []byte(`{}`)}}
	h.run(read, host.Signal{Kind: host.SignalStarted, App: weather})
	first, second := <-f.C, <-f.C
	if first.Envelope.Payload.Type != "resource.observed" || first.Spools != nil {
		t.Errorf("first %+v", first)
	}
	if second.Envelope.Payload.Type != "lifecycle.started" || !slices.Equal(second.Spools, []string{"inbox"}) {
		t.Errorf("second %+v", second)
	}
	f.Close()
	f.Close()
	if _, open := <-f.C; open {
		t.Error("still open")
	}
}

func TestAnAppThatReadsNothingHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &config.App{Key: "stuck", Package: "stuck", Events: []string{"*"}}
		var mu sync.Mutex
		var acked []string
		h := build(t, t.TempDir(), func(o *Options) {
			o.Ack = func(ctx context.Context, app *config.App, _ uint64, _ []byte) error {
				if app == stuck {
					<-ctx.Done()
					return ctx.Err()
				}
				mu.Lock()
				defer mu.Unlock()
				acked = append(acked, app.Key)
				return nil
			}
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		h.Observe(emit(stuck, `{"type":"a","message_id":"1"}`))
		h.Observe(emit(qq, `{"type":"message.received","message_id":"1"}`))
		synctest.Wait()
		mu.Lock()
		if !slices.Equal(acked, []string{qq.Key}) {
			t.Errorf("acknowledged %v", acked)
		}
		mu.Unlock()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
