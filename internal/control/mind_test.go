package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// A fakeMind answers by rule: it echoes, it knows one suggestion, and the session
// "gone" has nobody.
type fakeMind struct {
	gaveUp chan struct{} // an item for each question that was given up
}

func (m fakeMind) Ask(ctx context.Context, r control.AskRequest, tell func(control.ChatNews)) control.Answer {
	a := control.Answer{Session: r.Session, Turn: "t", ToolCalls: []control.ToolCall{}}
	switch r.Text {
	case "wait":
		tell(control.ChatNews{Kind: control.ChatBegin, Turn: "t"})
		<-ctx.Done()
		m.gaveUp <- struct{}{}
		a.Error = control.AsError(ctx.Err())
		return a
	case "fail":
		a.Error = control.Errorf(call.BrainUnavailable, "it sleeps")
		return a
	}
	if tell != nil {
		for range 3000 { // more than waits for a slow client
			tell(control.ChatNews{Kind: control.ChatDelta, Turn: "t", Text: "x"})
		}
	}
	a.OK, a.Text, a.Ending = true, r.Text+"\u2028<b>", "answered"
	a.ToolCalls = append(a.ToolCalls, control.ToolCall{Call: "t/1/1", Tool: "a.b", Outcome: "ok", DurationMS: 3})
	return a
}

func (m fakeMind) Say(_ context.Context, r control.SayRequest) (control.Said, error) {
	if r.Session == "gone" {
		return control.Said{}, control.Errorf(call.AppUnavailable, "nobody")
	}
	return control.Said{MessageID: "m-" + r.Text}, nil
}

func (m fakeMind) Listen(ctx context.Context, r control.ListenRequest, tell func(control.ChatNews) error) error {
	if r.Session == "gone" {
		return control.Errorf(call.ShuttingDown, "stopping")
	}
	for _, n := range []control.ChatNews{{Kind: control.ChatText, Text: "kept", Kept: true, Lost: 2}, {Kind: control.ChatAttached}} {
		if err := tell(n); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return control.AsError(ctx.Err())
}

func (m fakeMind) StopTurn(_ context.Context, session string) (control.Stopped, error) {
	return control.Stopped{Stopped: session == "main"}, nil
}

func (m fakeMind) Suggest(_ context.Context, r control.SuggestRequest) ([]control.Suggestion, error) {
	return []control.Suggestion{{Text: strings.ToUpper(r.Line), From: 0, To: r.Cursor, Help: "big"}}, nil
}

func (m fakeMind) Topology(context.Context) (control.Topology, error) {
	return control.Topology{Brain: control.Brain{State: control.BrainReady, Problems: []string{}}, Nodes: []control.NodeFlow{{ID: "act", Waiting: 3}}, Edges: []control.Edge{{To: "act"}}}, nil
}

// A mind is the same near and far.
func TestMind(t *testing.T) {
	t.Run("near", func(t *testing.T) {
		m := fakeMind{make(chan struct{}, 1)}
		testMind(t, m, m.gaveUp)
	})
	t.Run("far", func(t *testing.T) {
		h := newFakeHouse()
		m := fakeMind{make(chan struct{}, 1)}
		h.Mind = m
		testMind(t, dial(t, t.TempDir(), h, control.ListenOptions{}), m.gaveUp)
	})
}

func testMind(t *testing.T, m control.Mind, gaveUp <-chan struct{}) {
	ctx := t.Context()
	wantCode := func(err error, code call.Code) {
		t.Helper()
		var e *call.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("the error is %v, want %s", err, code)
		}
	}

	t.Run("a question is answered, whole, after its news", func(t *testing.T) {
		pieces := 0
		a := m.Ask(ctx, control.AskRequest{Session: "main", Text: "你好"}, func(n control.ChatNews) { pieces += len(n.Text) })
		if !a.OK || a.Text != "你好\u2028<b>" || len(a.ToolCalls) != 1 || a.ToolCalls[0].Tool != "a.b" || a.Error != nil {
			t.Errorf("the answer is %+v", a)
		}
		if pieces == 0 {
			t.Error("nothing was told on the way")
		}
		a = m.Ask(ctx, control.AskRequest{Session: "main", Text: "fail"}, nil)
		if a.OK || a.Error == nil || a.Error.Code != call.BrainUnavailable {
			t.Errorf("the answer is %+v", a)
		}
	})

	t.Run("a question that is given up is given up there", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		a := m.Ask(ctx, control.AskRequest{Session: "main", Text: "wait"}, func(control.ChatNews) { cancel() })
		if a.OK || a.Error == nil || a.Error.Code != call.CallCancelled {
			t.Errorf("the answer is %+v", a)
		}
		<-gaveUp
	})

	t.Run("a screen gets what waited, then it is attached", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var got []control.ChatNews
		err := m.Listen(ctx, control.ListenRequest{Session: "main"}, func(n control.ChatNews) error {
			if got = append(got, n); n.Kind == control.ChatAttached {
				cancel()
			}
			return nil
		})
		wantCode(err, call.CallCancelled)
		if len(got) != 2 || got[0].Text != "kept" || !got[0].Kept || got[0].Lost != 2 {
			t.Errorf("it got %+v", got)
		}
		wantCode(m.Listen(t.Context(), control.ListenRequest{Session: "gone"}, nil), call.ShuttingDown)
		full := errors.New("the screen is full")
		if err := m.Listen(t.Context(), control.ListenRequest{Session: "main"}, func(control.ChatNews) error { return full }); !errors.Is(err, full) {
			t.Errorf("listening ended with %v", err)
		}
	})

	t.Run("the rest", func(t *testing.T) {
		if said, err := m.Say(ctx, control.SayRequest{Session: "main", Text: "x"}); err != nil || said.MessageID != "m-x" {
			t.Errorf("Say = %+v, %v", said, err)
		}
		_, err := m.Say(ctx, control.SayRequest{Session: "gone", Text: "x"})
		wantCode(err, call.AppUnavailable)
		if s, err := m.StopTurn(ctx, "main"); err != nil || !s.Stopped {
			t.Errorf("StopTurn = %+v, %v", s, err)
		}
		if s, err := m.Suggest(ctx, control.SuggestRequest{Line: "/天a", Cursor: 5}); err != nil || len(s) != 1 || s[0].Text != "/天A" || s[0].To != 5 {
			t.Errorf("Suggest = %+v, %v", s, err)
		}
		if topology, err := m.Topology(ctx); err != nil || topology.State != control.BrainReady || len(topology.Nodes) != 1 || topology.Nodes[0].Waiting != 3 {
			t.Errorf("Topology = %+v, %v", topology, err)
		}
	})
}
