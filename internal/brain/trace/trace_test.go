package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/llmtest"
	"github.com/aurorabot/aurora/internal/brain/node"
	"github.com/aurorabot/aurora/internal/brain/trace"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/spool"
)

// brainParts are a brain whose nodes are played by hand: each leaves the files that the
// real one leaves.
type brainParts struct {
	t       *testing.T
	data    string
	bus     *bus.Bus
	inbox   *spool.Spool
	units   *spool.Spool
	markers *spool.Spool
	stream  *node.Stream
	house   *house
}

// shanghai is the zone of the user, who lives far from the machine.
var shanghai = time.FixedZone("Asia/Shanghai", 8*60*60)

func newBrain(t *testing.T) *brainParts {
	t.Helper()
	data := t.TempDir()
	b := bus.New(bus.Options{Dir: filepath.Join(data, "kernel")})
	p := &brainParts{t: t, data: data, bus: b, house: &house{reply: said("sent")}}
	p.inbox = p.queue("inbox", bus.Events)
	p.units = p.queue("pipeline/message_queue", bus.Units)
	p.markers = p.queue("pipeline/internalized", bus.Units)
	p.stream = node.NewStream(b, shanghai, 1<<20)
	return p
}

func (p *brainParts) queue(path string, c bus.Content) *spool.Spool {
	p.t.Helper()
	q, err := p.bus.Queue(path, c)
	if err != nil {
		p.t.Fatal(err)
	}
	return q
}

func (p *brainParts) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// put puts a file into a queue; done takes the next one to its end.
func (p *brainParts) put(q *spool.Spool, name string, data []byte, err error) {
	p.t.Helper()
	p.check(err)
	_, err = q.Put(spool.Item{Name: name, Data: data})
	p.check(err)
}

func (p *brainParts) done(q *spool.Spool) {
	p.t.Helper()
	c, err := q.TryNext()
	p.check(err)
	if c == nil {
		p.t.Fatal("nothing waits")
	}
	p.check(c.Done())
}

func (p *brainParts) find(id string) *trace.Trace {
	p.t.Helper()
	got, err := trace.Find(p.data, id, shanghai)
	p.check(err)
	return got
}

// event is what somebody says.
func event(id, text string) *amp.Envelope {
	data, _ := json.Marshal(amp.Message{Text: text, UserID: "42"})
	return &amp.Envelope{
		Header: amp.Header{Method: amp.MethodEvent, MessageID: id, Timestamp: time.Now().UTC(), Source: amp.Source{App: "im.polaris.qq", Instance: "qq"},
			Aurora: &amp.Aurora{Seq: 1, ReceivedAt: time.Now().UTC(), TraceID: "trace-" + id, Sender: "im.polaris.qq:42", Trust: amp.TrustNormal}},
		Payload: amp.Payload{Type: amp.TypeMessageReceived, SessionID: "g1", Data: data},
	}
}

func (p *brainParts) arrives(e *amp.Envelope) {
	p.t.Helper()
	data, err := e.MarshalJSON()
	p.put(p.inbox, e.FileName(false), data, err)
}

// unit does what the preprocessor does.
func (p *brainParts) unit(wake bool, events ...*amp.Envelope) *unit.Unit {
	p.t.Helper()
	u := unit.Of(events, func(*amp.Envelope) bool { return wake }, time.Now().UTC())
	data, err := u.Encode()
	p.put(p.units, unit.FileName(u.ID), data, err)
	for range events {
		p.done(p.inbox)
	}
	return u
}

// passage does what the internalizer does.
func (p *brainParts) passage(u *unit.Unit) {
	p.t.Helper()
	p.check(p.stream.Append(u.ID, time.Now(), "I hear: "+u.Text))
	if u.Wake {
		data, err := u.Encode()
		p.put(p.markers, unit.MarkerName(u.ID), data, err)
	}
	p.done(p.units)
}

func (p *brainParts) turn(u *unit.Unit, m llm.Model) {
	p.t.Helper()
	r, err := turn.New(turn.Options{Dir: filepath.Join(p.data, "kernel", "turns"), House: p.house, Model: m, Language: "en"})
	p.check(err)
	p.check(r.Run(p.t.Context(), u))
	p.done(p.markers)
}

// house has one tool, and a chat app whose reply tool answers as the test says.
type house struct{ reply call.Result }

func (h *house) Tools(context.Context) []brain.Tool {
	return []brain.Tool{{Canonical: "im.polaris.weather.get_weather", Alias: "weather", App: "weather", Enabled: true}}
}

func (h *house) Call(_ context.Context, c call.Call) call.Result {
	if c.Name == "im.polaris.qq.send_message" {
		return h.reply
	}
	return said("晴，31 ℃")
}

func (h *house) Prompts(context.Context) []brain.Prompt { return nil }
func (h *house) Prompt(context.Context, call.Caller, string, json.RawMessage) call.Result {
	return call.Result{Outcome: call.ProtocolError}
}

func (h *house) Apps(context.Context) []brain.App {
	return []brain.App{{Key: "qq", Package: "im.polaris.qq", State: "ready", Reply: "im.polaris.qq.send_message"}}
}

func said(text string) call.Result {
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	return call.Result{Outcome: call.OK, Raw: raw}
}

// way returns the steps of a trace as text.
func way(t *trace.Trace) string {
	var lines []string
	for _, s := range t.Steps {
		lines = append(lines, strings.Join([]string{string(s.Kind), s.Node, s.State, s.Name, s.Outcome, s.What}, "|"))
	}
	return strings.Join(lines, "\n")
}

func TestTheWholeWayOfAnEvent(t *testing.T) {
	p := newBrain(t)
	first, second := event("m1", "上海天气"), event("m2", "怎么样？")
	p.arrives(first)
	p.arrives(second)
	u := p.unit(true, first, second)
	p.passage(u)
	p.turn(u, llmtest.New(t,
		llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", "weather", `{"city":"上海"}`), llmtest.Call("b", "nonsense", `{}`)}, Usage: llm.Usage{Input: 7, Output: 1}},
		llmtest.Step{Text: "上海晴，31 ℃。"}))
	got := p.find("trace-m1")
	if got.ID != "trace-m1" || got.Session != "g1" || got.Source != "im.polaris.qq" || got.Sender != "im.polaris.qq:42" || got.Outcome != "answered" {
		t.Errorf("%+v", got)
	}
	want := strings.Join([]string{
		"event|platform|done|message.received||上海天气",
		"event|platform|done|message.received||怎么样？",
		"unit|preprocessor|done|||2 events, woken by message.received",
		"stream|internalizer||||I hear: 上海天气 怎么样？",
		"marker|internalizer|done|||handed on to be answered",
		"turn|externalizer||||the turn begins: 上海天气 怎么样？",
		`model|externalizer|||ok|2 messages, 1 tool → weather{"city":"上海"}; nonsense{}; 8 tokens`,
		`call|platform||im.polaris.weather.get_weather|ok|{"city":"上海"} → 晴，31 ℃`,
		`call|externalizer||nonsense|protocol_error|TOOL_UNKNOWN: There is no tool "nonsense".`,
		"model|externalizer|||ok|5 messages, 1 tool → 上海晴，31 ℃。",
		"reply|platform||im.polaris.qq.send_message|ok|上海晴，31 ℃。",
		"end|externalizer|||answered|answered, 8 tokens",
	}, "\n")
	if text := way(got); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for i, s := range got.Steps {
		info, err := os.Stat(filepath.Join(p.data, s.File))
		if err != nil || s.Unit != u.ID || s.Size == 0 && s.Kind != trace.KindTurn && s.Kind != trace.KindModel && s.Kind != trace.KindEnd {
			t.Errorf("step %d: %+v, %v", i, s, err)
			continue
		}
		if ago := time.Since(s.At); !s.At.IsZero() && (ago < 0 || ago > time.Minute) {
			t.Errorf("step %d, %s, was at %s", i, s.Kind, s.At)
		}
		if s.State != "" && s.Size != info.Size() {
			t.Errorf("step %d: %d bytes, and %s has %d", i, s.Size, s.File, info.Size())
		}
	}
	// Every id of it leads there.
	for _, id := range []string{"trace-m2", "m1", "m2", u.ID, u.ID + "/1/1", trace.Last} {
		if other := p.find(id); way(other) != want {
			t.Errorf("%s leads elsewhere", id)
		}
	}
}

func TestHowFarAnEventHasCome(t *testing.T) {
	p := newBrain(t)
	e := event("m1", "hello")
	check := func(where, outcome string, kinds ...trace.Kind) {
		t.Helper()
		got := p.find("m1")
		var have []trace.Kind
		for _, s := range got.Steps {
			have = append(have, s.Kind)
		}
		if got.Outcome != outcome || !slices.Equal(have, kinds) {
			t.Errorf("%s: %s, %v", where, got.Outcome, have)
		}
	}
	p.arrives(e)
	check("in the inbox", "open", trace.KindEvent)
	u := p.unit(true, e)
	check("a unit", "open", trace.KindEvent, trace.KindUnit)
	p.passage(u)
	check("in the stream", "open", trace.KindEvent, trace.KindUnit, trace.KindStream, trace.KindMarker)
	p.turn(u, llmtest.New(t, llmtest.Step{}))
	check("over", "silent", trace.KindEvent, trace.KindUnit, trace.KindStream, trace.KindMarker, trace.KindTurn, trace.KindModel, trace.KindEnd)
}

func TestWhatWakesNobodyHasNoTurn(t *testing.T) {
	p := newBrain(t)
	e := event("m1", "hello")
	p.arrives(e)
	u := p.unit(false, e)
	p.passage(u)
	if got := p.find("m1"); got.Outcome != "no turn" {
		t.Error(got.Outcome)
	}
}

func TestWhatWasGivenUpSaysWhy(t *testing.T) {
	p := newBrain(t)
	e := event("m1", "hello")
	p.arrives(e)
	c, err := p.inbox.TryNext()
	p.check(err)
	p.check(c.Dead("it cannot be read"))
	got := p.find("m1")
	if got.Outcome != "dead" || !strings.Contains(way(got), "hello (it cannot be read)") {
		t.Errorf("%s\n%s", got.Outcome, way(got))
	}
}

// A reply whose outcome is not known says so, and so do calls that never ended.
func TestWhatIsNotKnownIsShown(t *testing.T) {
	p := newBrain(t)
	p.house.reply = call.Result{Outcome: call.Timeout, Err: &call.Error{Code: call.CallTimeout, Message: "no answer"}}
	e := event("m1", "hello")
	p.arrives(e)
	u := p.unit(true, e)
	p.passage(u)
	p.turn(u, llmtest.New(t, llmtest.Step{Text: "hi"}))
	got := p.find("m1")
	if got.Outcome != "unknown" || !strings.Contains(way(got), "the reply may or may not have been delivered") {
		t.Errorf("%s\n%s", got.Outcome, way(got))
	}
	journal := filepath.Join(p.data, "kernel", "turns", turn.FileName(u.ID))
	text, err := os.ReadFile(journal)
	p.check(err)
	lines := strings.SplitAfter(string(text), "\n")
	p.check(os.WriteFile(journal, []byte(strings.Join(lines[:4], "")+`{"t":"reply_res`), 0o600))
	if got := p.find("m1"); got.Outcome != "open" || !strings.HasSuffix(way(got), "reply|platform||im.polaris.qq.send_message|unknown|hi") {
		t.Errorf("%s\n%s", got.Outcome, way(got))
	}
}

func TestFilesThatAreGoneAreNotThere(t *testing.T) {
	p := newBrain(t)
	e := event("m1", "hello")
	p.arrives(e)
	u := p.unit(true, e)
	p.passage(u)
	p.check(os.RemoveAll(filepath.Join(p.data, "kernel", "inbox")))
	p.check(os.RemoveAll(filepath.Join(p.data, "kernel", "self")))
	got := p.find(u.ID)
	if len(got.Steps) != 3 || got.Steps[0].File != "" || got.Steps[0].What != "hello" {
		t.Errorf("%s", way(got))
	}
}

func TestAnUnknownIdIsSaidToBeOne(t *testing.T) {
	for _, data := range []string{t.TempDir(), newBrain(t).data} {
		for _, id := range []string{"nobody", trace.Last, "", "../../etc/passwd", "x/1/1"} {
			if _, err := trace.Find(data, id, time.UTC); !errors.Is(err, trace.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

func TestRecentEvents(t *testing.T) {
	p := newBrain(t)
	for _, id := range []string{"m1", "m2", "m3"} {
		e := event(id, "text "+id)
		if id == "m3" {
			e.Payload.Summary = "a summary"
		}
		p.arrives(e)
	}
	p.check(os.WriteFile(filepath.Join(p.data, "kernel", "inbox", "pending", "event_broken.json"), []byte("{"), 0o600))
	p.done(p.inbox)
	got := trace.Recent(p.data, 10)
	if len(got) != 3 || got[0].Summary != "a summary" || got[2].Summary != "text m1" || got[2].State != "done" || got[0].State != "pending" {
		t.Errorf("%+v", got)
	}
	if got := trace.Recent(p.data, 2); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if got := trace.Recent(t.TempDir(), 5); len(got) != 0 {
		t.Error(got)
	}
}

// Looking changes nothing.
func TestFindOnlyReads(t *testing.T) {
	p := newBrain(t)
	e := event("m1", "hello")
	p.arrives(e)
	snapshot := func() string {
		var all []string
		p.check(filepath.Walk(p.data, func(path string, info os.FileInfo, err error) error {
			if err == nil {
				all = append(all, path+info.ModTime().String())
			}
			return err
		}))
		return strings.Join(all, "\n")
	}
	before := snapshot()
	p.find("m1")
	trace.Recent(p.data, 5)
	if snapshot() != before {
		t.Error("something has changed")
	}
}
