package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// Close ends everything in order: the calls, with a word to the server, then
// the pipe.
func TestCloseEndsCallsAndTellsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		a := callTool(s, t.Context(), "a", nil)
		first := p.next("tools/call")
		b := callTool(s, t.Context(), "b", nil)
		second := p.next("tools/call")
		synctest.Wait()
		equal(t, "in flight", s.Inflight(), 2)

		why := errors.New("the app is being restarted")
		if err := s.Close(why); err != nil {
			t.Error(err)
		}
		for _, end := range []<-chan reply{a, b} {
			got := <-end
			got.wantKind(t, Closed, true)
			if !errors.Is(got.err, why) {
				t.Errorf("got %v, want the reason inside", got.err)
			}
		}
		<-s.Done()
		equal(t, "reason", s.Err(), why)
		equal(t, "in flight", s.Inflight(), 0)
		told := p.next("notifications/cancelled").line + p.next("notifications/cancelled").line
		contains(t, told, `"requestId":`+string(first.ID))
		contains(t, told, `"requestId":`+string(second.ID))
		<-p.deaf // stdin is closed
		p.silent()

		_, err := s.CallTool(t.Context(), "c", nil, nil)
		wantKind(t, err, Closed, false)
		if err := s.Close(errors.New("again")); err != nil || s.Err() != why {
			t.Errorf("closing again: %v, reason %v", err, s.Err())
		}
		// What the child still prints while it goes away hurts nobody.
		p.answer(first, "{}")
		p.say("bye")
	})
}

func TestAServerThatGoesAwayEndsTheCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		end := callTool(s, t.Context(), "f", nil)
		p.next("tools/call")
		p.out.Close()
		(<-end).wantKind(t, Closed, true)
		<-s.Done()
		contains(t, s.Err().Error(), "the server ended the connection: EOF")
		<-p.deaf // and our end of stdin is closed
	})
}

// A timeout and an answer at the same moment are one end, whichever it is.
func TestEveryRequestEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{SoftTimeout: time.Second})
		for range 50 {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			end := callTool(s, ctx, "f", nil)
			m := p.nextCall()
			time.Sleep(time.Second)
			p.answer(m, "{}")
			got := <-end
			if got.err != nil {
				got.wantKind(t, Timeout, true)
			}
			stop()
			equal(t, "in flight", s.Inflight(), 0)
		}
	})
}

func TestADeadlineOfTheContextIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		end := callTool(s, ctx, "f", nil)
		p.next("tools/call")
		got := <-end
		got.wantKind(t, Timeout, true)
		if !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("got %v", got.err)
		}
		p.next("notifications/cancelled")
	})
}

// Deadlines that come before the one the timer is armed for are kept, too.
func TestDeadlinesAreKeptInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		began := time.Now()
		ends := map[time.Duration]<-chan reply{}
		for _, seconds := range []time.Duration{9, 3, 7, 1, 5} {
			ends[seconds] = callTool(s, t.Context(), "f", &RequestOptions{Whole: seconds * time.Second})
			p.next("tools/call")
		}
		for _, seconds := range []time.Duration{1, 3, 5, 7, 9} {
			(<-ends[seconds]).wantKind(t, Timeout, true)
			equal(t, "ended after", time.Since(began), seconds*time.Second)
		}
	})
}

// Progress is not reported any more once its request has returned, also when
// the callback runs at that moment.
func TestProgressStopsWithItsRequest(t *testing.T) {
	p, s := connect(t, Options{})
	for range 100 {
		ctx, stop := context.WithCancel(t.Context())
		running, entered := false, make(chan struct{})
		end := callTool(s, ctx, "f", &RequestOptions{OnProgress: func(call.Progress) {
			running = true
			close(entered)
			stop()
			for range 100 {
				runtime.Gosched()
			}
			running = false
		}})
		m := p.nextCall()
		report := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
		p.say("%s", report)
		<-entered
		(<-end).wantKind(t, Cancelled, true)
		equal(t, "running", running, false)
		p.say("%s", report) // closing entered twice would panic
	}
}

// Batches of 2025-03-26 are read message by message.
func TestBatchesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		p, s := connect(t, Options{OnNotification: func(method string, _ []byte) { seen = append(seen, method) }})
		a := callTool(s, t.Context(), "a", nil)
		first := p.next("tools/call")
		b := callTool(s, t.Context(), "b", nil)
		second := p.next("tools/call")
		p.say(`[{"jsonrpc":"2.0","id":%s,"result":{"n":2}}, {"jsonrpc":"2.0","method":"x"},`+
			`{"jsonrpc":"2.0","id":"q","method":"ping"},{"jsonrpc":"2.0","id":%s,"result":{"n":1}}]`, second.ID, first.ID)
		(<-a).want(t, `{"n":1}`)
		(<-b).want(t, `{"n":2}`)
		equal(t, "pong", p.next("").line, `{"jsonrpc":"2.0","id":"q","result":{}}`+"\n")
		equal(t, "notifications", strings.Join(seen, " "), "x")
	})
}

// An answer that breaks off ends its call at once, not at its deadline.
func TestABrokenAnswerEndsItsCallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		began := time.Now()
		end := callTool(s, t.Context(), "statistics", nil)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"mean":NaN}}}`, p.next("tools/call").ID)
		got := <-end
		got.wantKind(t, BadAnswer, true)
		contains(t, got.err.Error(), "expected a value")
		end = callTool(s, t.Context(), "void", nil)
		p.say(`{"jsonrpc":"2.0","id":%s}`, p.next("tools/call").ID)
		(<-end).wantKind(t, BadAnswer, true)
		if d := time.Since(began); d > time.Second {
			t.Errorf("took %v", d)
		}
		equal(t, "broken", s.Stats().Broken, 1)
		equal(t, "noise", s.Stats().Noise, 1)
	})
}

// A result that is not an object cannot be shown, checked or handed on, so the
// caller is told so, and whoever calls next notices nothing.
func TestAResultThatIsNoObjectIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		for _, c := range [][2]string{
			{`"done"`, "a string"}, {`[]`, "an array"}, {`7`, "a number"}, {`true`, "a boolean"}, {`null`, "null"},
		} {
			end := callTool(s, t.Context(), "f", nil)
			p.answer(p.next("tools/call"), c[0])
			got := <-end
			got.wantKind(t, BadAnswer, true)
			contains(t, got.err.Error(), "the result is "+c[1]+", not an object")
		}
		end := callTool(s, t.Context(), "f", nil)
		p.answer(p.next("tools/call"), `{"content":[]}`)
		(<-end).want(t, `{"content":[]}`)
		// The answer to a ping says nothing, so any will do.
		pinged := make(chan error, 1)
		go func() { pinged <- s.Ping(t.Context(), nil) }()
		p.answer(p.next("ping"), `null`)
		if err := <-pinged; err != nil {
			t.Error(err)
		}
	})
}

// What is granted is declared and answered; a handler can be cancelled.
func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sampled := make(chan string, 1)
		p, tr := newPeer(t)
		s := p.join(tr, Options{Grants: Grants{
			Roots: []Root{{URI: "file:///home/上海", Name: "home"}, {URI: "file:///tmp"}},
			Sampling: func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
				if string(params) == `{"wait":true}` {
					<-ctx.Done()
					sampled <- "stopped"
					return nil, ctx.Err()
				}
				return append(json.RawMessage("{\"model\":\n"), append(params, '}')...), nil
			},
			Elicitation: func(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
				switch string(params) {
				case `1`:
					return nil, &RPCError{Code: -1, Message: "the user rejected it", Data: json.RawMessage(`{"a":1}`)}
				case `2`:
					return nil, errors.New("a secret path")
				}
				return json.RawMessage("oops"), nil
			},
		}}, func() {
			m := p.next("initialize")
			contains(t, m.line, `"capabilities":{"roots":{},"sampling":{},"elicitation":{}}`)
			p.answer(m, `{"protocolVersion":"2025-11-25","capabilities":{}}`)
			p.next("notifications/initialized")
		})
		for _, tc := range []struct{ ask, reply string }{
			{`"id":1,"method":"roots/list"`, `"id":1,"result":{"roots":[{"uri":"file:///home/上海","name":"home"},{"uri":"file:///tmp"}]}`},
			{`"id":"s","method":"sampling/createMessage","params":[1.0]`, `"id":"s","result":{"model": [1.0]}`},
			{`"id":3,"method":"elicitation/create","params":1`, `"id":3,"error":{"code":-1,"message":"the user rejected it","data":{"a":1}}`},
			{`"id":4,"method":"elicitation/create","params":2`, `"id":4,"error":{"code":-32603,"message":"Internal error"}`},
			{`"id":5,"method":"elicitation/create","params":3`, `"id":5,"error":{"code":-32603,"message":"Internal error"}`},
		} {
			p.say(`{"jsonrpc":"2.0",%s}`, tc.ask)
			equal(t, tc.ask, p.next("").line, `{"jsonrpc":"2.0",`+tc.reply+"}\n")
		}

		p.say(`{"jsonrpc":"2.0","id":"w","method":"sampling/createMessage","params":{"wait":true}}`)
		synctest.Wait()
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
		equal(t, "handler", <-sampled, "stopped")
		synctest.Wait()
		p.silent() // a cancelled request gets no answer

		for i := range maxHandlers + 1 {
			p.say(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"wait":true}}`, 100+i)
		}
		contains(t, p.next("").line, `"id":116,"error":{"code":-32603,"message":"Too many requests at once"}`)
		go func() {
			for range maxHandlers {
				<-sampled
			}
		}()
		s.Close(nil) // ends the rest
	})
}

// Each kind of oddity warns once, and bodies stay out of the log.
func TestLogsWarnOnceAndHoldNoBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p, s := connect(t, Options{Name: "demo", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		for range 3 {
			end := callTool(s, t.Context(), "f", nil)
			p.say("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"private\":\"\xff\"}}", p.next("tools/call").ID)
			<-end
		}
		synctest.Wait()
		equal(t, "warnings about ids", strings.Count(log.String(), "echo ids"), 1)
		equal(t, "warnings about bytes", strings.Count(log.String(), "not UTF-8"), 1)
		contains(t, log.String(), "app=demo")
		if strings.Contains(log.String(), "private") {
			t.Errorf("a body in the log: %s", &log)
		}
	})
}

func TestInfoIsWhatTheServerSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":false,"subscribe":true},` +
			`"prompts":{},"completions":{},"experimental":{"aurora/event":{"ack":true}},"x":1.0},"serverInfo":{"name":"n","title":"上海","version":"3","extra":1},` +
			`"instructions":"Use \"it\"","_meta":{"big":12345678901234567890}}`
		p, tr := newPeer(t)
		s := p.join(tr, Options{}, func() {
			p.answer(p.next("initialize"), result)
			p.next("notifications/initialized")
		})
		i := s.Info()
		equal(t, "raw", string(i.Raw), result)
		equal(t, "server", i.Server, Implementation{Name: "n", Title: "上海", Version: "3"})
		equal(t, "instructions", i.Instructions, `Use "it"`)
		c := i.Capabilities
		equal(t, "tools", [2]bool{c.Tools, c.ToolsListChanged}, [2]bool{true, true})
		equal(t, "resources", [3]bool{c.Resources, c.ResourcesListChanged, c.ResourcesSubscribe}, [3]bool{true, false, true})
		equal(t, "prompts", [2]bool{c.Prompts, c.PromptsListChanged}, [2]bool{true, false})
		equal(t, "rest", [2]bool{c.Logging, c.Completions}, [2]bool{false, true})
		equal(t, "experimental", string(c.Experimental["aurora/event"]), `{"ack":true}`)
		contains(t, string(c.Raw), `"x":1.0`)
	})
}

func TestAProtocolThatIsNotSpokenIsRefusedBeforeAnything(t *testing.T) {
	p, tr := newPeer(t)
	_, err := Connect(t.Context(), tr, Options{Protocol: "2026-07-28"})
	contains(t, fmt.Sprint(err), "2026-07-28")
	contains(t, fmt.Sprint(err), "2024-11-05")
	<-p.deaf
	p.silent()
}

// T13: what the server has read is cancelled when the session closes, although
// the write of it has not returned yet.
func TestT13CloseCancelsWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r, w := newPipes(t)
		late := &lateWriter{Conn: w, gate: make(chan struct{})}
		s := p.join(NewStdio(r, late, p.opts), Options{}, func() { p.welcome(everything) })
		late.on.Store(true)
		call := callTool(s, t.Context(), "f", nil)
		id := p.next("tools/call").ID
		closed := make(chan error)
		go func() { closed <- s.Close(nil) }()
		synctest.Wait()
		close(late.gate)
		if m := p.next("notifications/cancelled"); !strings.Contains(string(m.Params), `"requestId":`+string(id)) {
			t.Errorf("cancelled %s, want %s", m.Params, id)
		}
		(<-call).wantKind(t, Closed, true)
		<-closed
	})
}

// A lateWriter returns from a write some time after it was read.
type lateWriter struct {
	net.Conn
	on   atomic.Bool
	gate chan struct{}
}

func (w *lateWriter) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if w.on.Load() {
		<-w.gate
	}
	return n, err
}
