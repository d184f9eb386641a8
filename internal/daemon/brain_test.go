package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/internal/brain/trace"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/testkit"
)

// chatApp is a home with one app that speaks for people and can be answered.
const chatApp = `apps:
  chat:
    package: org.example.chat
    people: true
    reply: send
    events: ["message.*", "weather.*"]
    mcp: {command: [aurora]}
    permissions: {tools: {org.example.chat.send: {risk: low}, org.example.chat.dice: {risk: low}, org.example.chat.hang: {risk: low}}}
`

// chatScript tells what people say when the test opens a gate.
const chatScript = `
tool send {"inputSchema":{"type":"object","properties":{"session":{"type":"string"},"message":{"type":"string"}},"required":["session","message"]}}
tool dice
tool hang
on tools/call send
  reply text sent
on tools/call dice
  reply text you rolled a six
on tools/call hang
  await cancel
start
  background
    await release group
    notify aurora/event {"type":"message.received","session_id":"group_1","message_id":"g1","data":{"text":"/dice","user_id":7,"user_name":"小明","group_id":"1"}}
  background
    await release two
    notify aurora/event {"type":"message.received","session_id":"private_8","message_id":"p1","data":{"text":"/dice","user_id":8}}
  background
    await release weather
    notify aurora/event {"type":"weather.reported","message_id":"w1","summary":"上海 12°C","data":{}}
  background
    await release hang
    notify aurora/event {"type":"message.received","session_id":"group_1","message_id":"h1","data":{"text":"/hang","user_id":7,"group_id":"1"}}
  background
    await release stop
    notify aurora/event {"type":"message.received","session_id":"group_1","message_id":"s1","data":{"text":"/stop","user_id":7,"group_id":"1"}}
`

// A peerDialer plays one script, for one start.
type peerDialer struct{ peer *testkit.Peer }

func (d peerDialer) Dial(context.Context, *config.App) (*host.Link, error) {
	return &host.Link{Transport: mcp.NewStdio(d.peer.Out, d.peer.In, mcp.StdioOptions{})}, nil
}

// A thinker is a house with a brain, and the scripted app in it.
type thinker struct {
	*Daemon
	t    *testing.T
	peer *testkit.Peer
}

func think(t *testing.T, settings string) *thinker {
	t.Helper()
	home := makeHome(t, chatApp)
	put(t, filepath.Join(home, "aurora.yml"), "user: {language: en}\nbrain: {debounce_seconds: 0.05}\n"+settings)
	peer := testkit.StartPeer(t, testkit.MustParse(t, chatScript))
	d := open(t, Options{Home: home, Dialer: peerDialer{peer}})
	if err := d.Serve(); err != nil {
		t.Fatal(err)
	}
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &thinker{Daemon: d, t: t, peer: peer}
}

// sent waits until the app was asked n times to send something, and returns what.
func (h *thinker) sent(n int) []string {
	h.t.Helper()
	return h.called("send", n)
}

// called waits until a tool was called n times, and returns its params.
func (h *thinker) called(tool string, n int) []string {
	h.t.Helper()
	for limit := time.After(30 * time.Second); ; {
		var all []string
		for _, e := range h.peer.Events() {
			if m := string(e.Message); e.Kind == "received" && strings.Contains(m, `"tools/call"`) && strings.Contains(m, `"name":"`+tool+`"`) {
				all = append(all, m)
			}
		}
		if len(all) >= n {
			return all
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			h.t.Fatalf("%s was called %d times, want %d: %q", tool, len(all), n, all)
		}
	}
}

// way waits until an event has come to an end, and returns its trace.
func (h *thinker) way(id, outcome string) *trace.Trace {
	h.t.Helper()
	var got *trace.Trace
	var err error
	for limit := time.After(30 * time.Second); ; {
		got, err = trace.Find(h.Config().Home.Data(), id, h.Config().Settings.User.Zone())
		if err == nil && got.Outcome == outcome {
			return got
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			h.t.Fatalf("the trace of %s is %+v (%v), want outcome %s", id, got, err, outcome)
		}
	}
}

func (h *thinker) turns() int {
	h.t.Helper()
	files, err := filepath.Glob(h.Config().Home.Data("kernel", "turns", "*.jsonl"))
	if err != nil {
		h.t.Fatal(err)
	}
	return len(files)
}

func TestAMessageIsAnsweredInItsOwnSession(t *testing.T) {
	h := think(t, "")
	h.peer.Release("group")
	h.peer.Release("two")

	for _, m := range h.sent(2) {
		for _, want := range []string{`"message":"you rolled a six"`} {
			if !strings.Contains(m, want) {
				t.Errorf("a reply is %s, want %s", m, want)
			}
		}
	}
	all := strings.Join(h.sent(2), "\n")
	if strings.Count(all, `"session":"group_1"`) != 1 || strings.Count(all, `"session":"private_8"`) != 1 {
		t.Errorf("the replies went to other sessions:\n%s", all)
	}
	got := h.way("g1", "answered")
	if got.Session != "group_1" || got.Sender != "org.example.chat:7" {
		t.Errorf("the trace is of %q by %q", got.Session, got.Sender)
	}
	// The ends of the calls and of the replies are events too. None of them wakes.
	h.way("p1", "answered")
	h.settled("tool.completed", 4)
	if n := h.turns(); n != 2 {
		t.Errorf("%d turns, want 2: the bot wakes itself", n)
	}
	if n := len(h.called("send", 2)); n != 2 {
		t.Errorf("%d replies, want 2", n)
	}
}

func TestAnEventThatDoesNotWakeGoesToTheStream(t *testing.T) {
	h := think(t, "")
	h.peer.Release("weather")
	h.way("w1", "no turn")
	stream, err := os.ReadFile(h.Config().Home.Data("kernel", "self", "stream", "now.md"))
	if err != nil || !strings.Contains(string(stream), "上海 12°C") {
		t.Errorf("the stream is %s (%v)", stream, err)
	}
	if n := h.turns(); n != 0 {
		t.Errorf("%d turns, want none", n)
	}
}

// settled waits until n events of a type are done with.
func (h *thinker) settled(typ string, n int) {
	h.t.Helper()
	for limit := time.After(30 * time.Second); ; {
		files, err := filepath.Glob(h.Config().Home.Data("kernel", "inbox", "done", "event_"+typ+"_*.json"))
		if err == nil && len(files) >= n {
			return
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			h.t.Fatalf("%d events %s are done with, want %d", len(files), typ, n)
		}
	}
}

func TestAPersonStopsAnAnswerFromTheChatItself(t *testing.T) {
	h := think(t, "")
	h.peer.Release("hang")
	h.called("hang", 1)
	h.peer.Release("stop")
	h.way("h1", "stopped")
	h.way("s1", "answered") // the command that stopped it is answered itself
	if all := h.sent(1); len(all) != 1 {
		t.Errorf("replies: %q", all)
	}
}

func TestAQuestionThatIsGivenUpStopsItsTurn(t *testing.T) {
	h := think(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan control.Answer, 1)
	go func() {
		ended <- h.Ask(ctx, control.AskRequest{Session: "main", Text: "/hang"}, nil)
	}()
	h.called("hang", 1)
	cancel()
	a := <-ended
	if a.OK || a.Error == nil || a.Error.Code != call.CallCancelled || a.Turn == "" {
		t.Fatalf("the answer is %+v, %v", a, a.Error)
	}
	h.way(a.Turn, "stopped")
}

func TestAQuestionThatIsGivenUpWhileItWaitsDoesNothingLater(t *testing.T) {
	h := think(t, "")
	ask := func(text string) (giveUp func() control.Answer) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan control.Answer, 1)
		go func() { ended <- h.Ask(ctx, control.AskRequest{Session: "main", Text: text}, nil) }()
		return func() control.Answer { cancel(); return <-ended }
	}
	first := ask("/hang")
	h.called("hang", 1)
	second := ask("/dice")
	var said []string
	for limit := time.Now().Add(30 * time.Second); len(said) < 2; time.Sleep(2 * time.Millisecond) {
		said, _ = filepath.Glob(h.Config().Home.Data("kernel", "inbox", "*", "event_message.received_*"))
		if time.Now().After(limit) {
			t.Fatalf("said: %q", said)
		}
	}
	if a := second(); a.Turn != "" || a.Error == nil || a.Error.Code != call.CallCancelled {
		t.Fatalf("the second one: %+v", a)
	}
	h.way(first().Turn, "stopped")
	third := h.Ask(t.Context(), control.AskRequest{Session: "main", Text: "/sid"}, nil)
	if !third.OK {
		t.Errorf("the third one: %+v", third.Error)
	}
	if all := h.called("dice", 0); len(all) != 0 {
		t.Errorf("it was done all the same: %q", all)
	}
}

func TestAConsoleThatTakesNoMoreSaysWhy(t *testing.T) {
	var e *call.Error
	if err := notTaken(appkit.ErrOutboxFull); !errors.As(err, &e) || e.Code != call.AppBusy || !strings.Contains(e.Message, "aurora events status") {
		t.Errorf("it says %v", err)
	}
	if err := notTaken(nil); err != nil {
		t.Errorf("it says %v", err)
	}
}

func TestAFullSpoolOfSomebodyElseKeepsNobodyFromTalking(t *testing.T) {
	h := think(t, "amp: {spools: {archive: {include: [\"message.*\"], max_files: 1}}}\n")
	for n := range 3 {
		a := h.Ask(t.Context(), control.AskRequest{Session: "main", Text: "/sid", TimeoutMS: 30_000}, nil)
		if !a.OK || a.Text == "" {
			t.Fatalf("question %d: %+v", n+1, a.Error)
		}
	}
	if s, err := h.Flow(t.Context()); err != nil || s.State != control.FlowDegraded {
		t.Errorf("the archive is not full: %+v, %v", s, err)
	}
}

func TestAnAnswerThatComesTooLateWaitsForTheNextScreen(t *testing.T) {
	h := think(t, "llm: {limits: {turn_seconds: 4}}\n")
	a := h.Ask(t.Context(), control.AskRequest{Session: "main", Text: "/hang", TimeoutMS: 1500}, nil)
	if a.OK || a.Error == nil || a.Error.Code != call.CallTimeout {
		t.Fatalf("the answer is %+v, %v", a, a.Error)
	}
	h.way(a.Turn, "answered") // at its bound it says something after all
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []control.ChatNews
	err := h.Listen(ctx, control.ListenRequest{Session: "main"}, func(n control.ChatNews) error {
		got = append(got, n)
		if n.Kind == control.ChatAttached {
			cancel()
		}
		return nil
	})
	if control.AsError(err).Code != call.CallCancelled || len(got) != 2 || got[0].Kind != control.ChatText || !got[0].Kept || got[0].Text == "" {
		t.Errorf("the next screen got %+v (%v)", got, err)
	}
}

func TestAScreenThatFailsLosesNoText(t *testing.T) {
	h := think(t, "")
	gone := context.DeadlineExceeded // any error will do
	told := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- h.Listen(t.Context(), control.ListenRequest{Session: "s"}, func(n control.ChatNews) error {
			switch n.Kind {
			case control.ChatAttached:
				close(told)
				return nil
			case control.ChatText:
				return gone
			}
			return nil
		})
	}()
	<-told
	r := h.Call(t.Context(), control.CallRequest{Name: "im.polaris.console.send_message", Pairs: []string{"session_id=s", "text=halt!"}}, nil)
	if !r.OK || !strings.Contains(string(r.Result), "Shown") {
		t.Fatalf("send_message = %+v %s", r.Error, r.Result)
	}
	if err := <-ended; err != gone {
		t.Fatalf("listening ended with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var texts []string
	_ = h.Listen(ctx, control.ListenRequest{Session: "s"}, func(n control.ChatNews) error {
		if n.Kind == control.ChatAttached {
			cancel()
		}
		texts = append(texts, n.Text)
		return nil
	})
	if len(texts) != 2 || texts[0] != "halt!" {
		t.Errorf("the next screen got %q", texts)
	}
}

func TestABrainThatCannotRunStopsNobody(t *testing.T) {
	home := makeHome(t, chatApp)
	put(t, filepath.Join(home, "aurora.yml"), "brain: {enabled: true}\n")
	// Where the turns should be lies something else.
	put(t, filepath.Join(home, "data", "kernel", "turns"), "a file\n")
	peer := testkit.StartPeer(t, testkit.MustParse(t, chatScript))
	d := open(t, Options{Home: home, Dialer: peerDialer{peer}})
	if err := d.Serve(); err != nil {
		t.Fatal(err)
	}
	if r := d.Call(t.Context(), control.CallRequest{Name: "org.example.chat.dice"}, nil); !r.OK {
		t.Errorf("a call ended as %+v", r.Error)
	}
	a := d.Ask(t.Context(), control.AskRequest{Session: "main", Text: "/help"}, nil)
	if a.OK || a.Error == nil || a.Error.Code != call.BrainUnavailable {
		t.Errorf("the answer is %+v, %v", a, a.Error)
	}
	topology, err := d.Topology(t.Context())
	if err != nil || topology.State != control.BrainUnavailable || len(topology.Problems) != 1 {
		t.Errorf("the brain is %+v (%v)", topology.Brain, err)
	}
}
