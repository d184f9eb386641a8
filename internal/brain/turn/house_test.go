package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/names"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The names that the tests use.
const (
	weather = "im.polaris.weather.get_weather"
	diary   = "im.polaris.diary.write_entry"
	send    = "im.polaris.qq.send_message"
	trip    = "im.demo.trip.plan"
)

func alias(canonical string) string { return names.Alias(canonical) }

// A village is a house whose tools are functions.
type village struct {
	tools   []brain.Tool
	prompts []brain.Prompt
	apps    []brain.App
	do      map[string]func(ctx context.Context, c call.Call) call.Result

	mu    sync.Mutex // guards what follows
	calls []call.Call
	most  int // calls at one time
	now   int
}

// newVillage returns a house with weather, a diary and a chat app with a reply
// tool, all of which work.
func newVillage() *village {
	v := &village{do: map[string]func(context.Context, call.Call) call.Result{}}
	v.add(weather, `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`, func(_ context.Context, c call.Call) call.Result {
		var args struct{ City string }
		_ = json.Unmarshal(c.Args, &args)
		return said(args.City + "：晴")
	})
	v.add(diary, `{"type":"object","properties":{"date":{"type":"string"},"content":{"type":"string"}},"required":["date","content"]}`, func(context.Context, call.Call) call.Result {
		return said("saved")
	})
	v.add(send, `{"type":"object","properties":{"session_id":{"type":"string"},"text":{"type":"string"}},"required":["session_id","text"]}`, func(context.Context, call.Call) call.Result {
		return said("sent")
	})
	v.apps = []brain.App{{Key: "weather", Package: "im.polaris.weather", State: "ready"}, {Key: "qq", Package: "im.polaris.qq", State: "ready", Reply: send, People: true}}
	return v
}

// add adds a tool or replaces it.
func (v *village) add(canonical, schema string, do func(context.Context, call.Call) call.Result) {
	segments := strings.Split(canonical, ".")
	v.do[canonical] = do
	for i, t := range v.tools {
		if t.Canonical == canonical {
			v.tools[i].Schema = json.RawMessage(schema)
			return
		}
	}
	v.tools = append(v.tools, brain.Tool{Canonical: canonical, Alias: alias(canonical), Schema: json.RawMessage(schema), App: segments[len(segments)-2], Enabled: true})
}

func (v *village) Tools(context.Context) []brain.Tool     { return v.tools }
func (v *village) Prompts(context.Context) []brain.Prompt { return v.prompts }
func (v *village) Apps(context.Context) []brain.App       { return v.apps }

func (v *village) Call(ctx context.Context, c call.Call) call.Result {
	v.mu.Lock()
	v.calls = append(v.calls, c)
	v.now++
	v.most = max(v.most, v.now)
	do := v.do[c.Name]
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.now--
	}()
	if do == nil {
		return failed(call.ProtocolError, call.ToolUnknown, "There is no tool "+c.Name+".")
	}
	r := do(ctx, c)
	r.Tool = c.Name
	return r
}

func (v *village) Prompt(_ context.Context, _ call.Caller, name string, args json.RawMessage) call.Result {
	if name != trip {
		return failed(call.ProtocolError, call.PromptUnknown, "There is no prompt "+name+".")
	}
	return call.Result{Outcome: call.OK, Raw: fmt.Appendf(nil, `{"messages":[{"role":"user","content":{"type":"text","text":%q}}]}`, "Plan a trip: "+string(args))}
}

// made returns the calls of a tool so far.
func (v *village) made(canonical string) []call.Call {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []call.Call
	for _, c := range v.calls {
		if c.Name == canonical {
			out = append(out, c)
		}
	}
	return out
}

// replies returns what was sent to sessions: "session: text".
func (v *village) replies() []string {
	var out []string
	for _, c := range v.made(send) {
		var args struct {
			Session string `json:"session_id"`
			Text    string `json:"text"`
		}
		_ = json.Unmarshal(c.Args, &args)
		out = append(out, args.Session+": "+args.Text)
	}
	return out
}

func said(text string) call.Result {
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return call.Result{Outcome: call.OK, Raw: raw}
}

func result(raw string) call.Result { return call.Result{Outcome: call.OK, Raw: []byte(raw)} }

func toolError(text string) call.Result {
	r := said(text)
	r.Outcome, r.Err = call.ToolError, &call.Error{Code: call.ToolFailed, Message: text}
	return r
}

func failed(o call.Outcome, code call.Code, message string) call.Result {
	return call.Result{Outcome: o, Err: &call.Error{Code: code, Message: message}}
}

// hang waits until it is cancelled.
func hang(ctx context.Context, _ call.Call) call.Result {
	<-ctx.Done()
	return failed(call.Cancelled, call.CallCancelled, "cancelled by the caller")
}

// message is what somebody says in a session of the chat app.
func message(session, id, text string) *amp.Envelope {
	data, _ := json.Marshal(amp.Message{Text: text, UserID: "42"})
	return &amp.Envelope{
		Header: amp.Header{
			Method: amp.MethodEvent, MessageID: id, Timestamp: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
			Source: amp.Source{App: "im.polaris.qq", Instance: "qq"},
			Aurora: &amp.Aurora{Seq: 1, TraceID: "trace-" + id, Sender: "im.polaris.qq:42", Trust: amp.TrustNormal},
		},
		Payload: amp.Payload{Type: amp.TypeMessageReceived, SessionID: session, Data: data},
	}
}

// words is the unit of what somebody says in the session g1.
func words(texts ...string) *unit.Unit { return in("g1", texts...) }

// in is the unit of what somebody says in a session.
func in(session string, texts ...string) *unit.Unit {
	events := make([]*amp.Envelope, len(texts))
	for i, text := range texts {
		events[i] = message(session, fmt.Sprintf("%s-%s-%d", session, strings.Join(texts, " "), i), text)
	}
	return unit.Of(events, func(*amp.Envelope) bool { return true }, time.Date(2026, 1, 1, 12, 0, 1, 0, time.UTC))
}

// options are those of a runner in a folder of its own.
func options(t testing.TB, v brain.House, m llm.Model) Options {
	t.Helper()
	return Options{Dir: filepath.Join(t.TempDir(), "turns"), House: v, Model: m, Language: "en", Zone: time.UTC}
}

func newRunner(t testing.TB, o Options) *Runner {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run gives a unit its turn and returns how it ended.
func run(t testing.TB, r *Runner, u *unit.Unit) Ending {
	t.Helper()
	if err := r.Run(t.Context(), u); err != nil {
		t.Fatalf("the turn failed: %v", err)
	}
	return ending(t, r, u)
}

func ending(t testing.TB, r *Runner, u *unit.Unit) Ending {
	t.Helper()
	records := records(t, r, u)
	if len(records) == 0 || records[len(records)-1].Kind != KindEnd {
		t.Fatalf("the turn has no end:\n%s", journalText(t, r, u))
	}
	return Ending(records[len(records)-1].Outcome)
}

func records(t testing.TB, r *Runner, u *unit.Unit) []Record {
	t.Helper()
	all, err := Read(r.opt.Dir, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func journalText(t testing.TB, r *Runner, u *unit.Unit) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.opt.Dir, FileName(u.ID)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// told returns what tools told the model in a request, one by one.
func told(r llm.Request) []string {
	var out []string
	for _, m := range r.Messages[r.Turn:] {
		if m.Role == llm.Tool {
			out = append(out, m.Content)
		}
	}
	return out
}

// want reports what does not stand in a text, in order.
func want(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			t.Errorf("no %q (in this order) in:\n%s", p, text)
			return
		}
		rest = after
	}
}
