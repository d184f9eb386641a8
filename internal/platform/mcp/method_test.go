package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aurorabot/aurora/internal/call"
)

// What is sent is exactly this, and results come back exactly as they are.
func TestMethodsSendTheirParams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx := t.Context()
		only := func(err error) (Result, error) { return Result{Raw: []byte(`{"x":1.0}`)}, err }
		progress := &RequestOptions{OnProgress: func(call.Progress) {}}
		for _, tc := range []struct {
			name, method, params string
			do                   func() (Result, error)
		}{
			{"a call", "tools/call", `{"name":"f","arguments":{"b":1.0,"a":"<&>"},"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.CallTool(ctx, "f", []byte(" {\"b\":1.0,\"a\":\"<&>\"}\n"), nil) }},
			{"a call over several lines", "tools/call", `{"name":"上\"海","arguments":{ "a": [ 1 ] },"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.CallTool(ctx, `上"海`, []byte("{\n\"a\":\n[\n1\n]\n}"), nil) }},
			{"a call without arguments", "tools/call", `{"name":"f","arguments":{},"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.CallTool(ctx, "f", nil, nil) }},
			{"a call with null", "tools/call", `{"name":"f","arguments":{},"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.CallTool(ctx, "f", []byte("null"), nil) }},
			{"a call with bytes that are not UTF-8", "tools/call", `{"name":"f","arguments":{"a":"` + "\uFFFD" + `"},"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.CallTool(ctx, "f", []byte("{\"a\":\"\xff\"}"), nil) }},
			{"a resource", "resources/read", `{"uri":"file:///a b"}`,
				func() (Result, error) { return s.ReadResource(ctx, "file:///a b", nil) }},
			{"a resource with progress", "resources/read", `{"_meta":{"progressToken":ID},"uri":"x"}`,
				func() (Result, error) { return s.ReadResource(ctx, "x", progress) }},
			{"a subscription", "resources/subscribe", `{"uri":"x"}`,
				func() (Result, error) { return only(s.Subscribe(ctx, "x")) }},
			{"its end", "resources/unsubscribe", `{"uri":"x"}`,
				func() (Result, error) { return only(s.Unsubscribe(ctx, "x")) }},
			{"a prompt", "prompts/get", `{"name":"p","arguments":{"city":"上海"}}`,
				func() (Result, error) { return s.GetPrompt(ctx, "p", []byte(`{"city":"上海"}`), nil) }},
			{"a prompt without arguments", "prompts/get", `{"name":"p"}`,
				func() (Result, error) { return s.GetPrompt(ctx, "p", []byte(" null "), nil) }},
			{"a completion", "completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"city","value":"上"}}`,
				func() (Result, error) { return s.Complete(ctx, Ref{Prompt: "p"}, "city", "上", nil, nil) }},
			{"a completion of a template", "completion/complete",
				`{"ref":{"type":"ref/resource","uri":"a/{b}"},"argument":{"name":"b","value":""},"context":{"arguments":{"c":"d"}}}`,
				func() (Result, error) { return s.Complete(ctx, Ref{URI: "a/{b}"}, "b", "", []byte(`{"c":"d"}`), nil) }},
			{"a ping", "ping", ``,
				func() (Result, error) { return only(s.Ping(ctx, nil)) }},
			{"anything", "acme/ask", `[1e400]`,
				func() (Result, error) { return s.Request(ctx, "acme/ask", []byte(" [1e400] "), progress) }},
			{"anything without params", "acme/ask", ``,
				func() (Result, error) { return s.Request(ctx, "acme/ask", []byte("  "), progress) }},
			{"anything with progress", "acme/ask", `{"_meta":{"progressToken":ID}}`,
				func() (Result, error) { return s.Request(ctx, "acme/ask", []byte("{ }"), progress) }},
			{"anything with its own token", "acme/ask", `{"_meta":{"progressToken":"t"}}`,
				func() (Result, error) {
					return s.Request(ctx, "acme/ask", []byte(`{"_meta":{"progressToken":"t"}}`), progress)
				}},
		} {
			go func() {
				m := p.next(tc.method)
				equal(t, tc.name, string(m.Params), strings.ReplaceAll(tc.params, "ID", string(m.ID)))
				p.answer(m, `{"x":1.0}`)
			}()
			r, err := tc.do()
			if err != nil || string(r.Raw) != `{"x":1.0}` {
				t.Errorf("%s: got %s, %v", tc.name, r.Raw, err)
			}
		}
	})
}

// JSON of a caller that is none never reaches the server.
func TestJSONThatIsNoneIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx := t.Context()
		call := func(_ Result, err error) error { return err }
		for _, bad := range []string{`{`, `{}{}`, `{"a":1}` + "\n" + `{"jsonrpc":"2.0","method":"forged"}`, `oops`, `{"a":"` + "\n" + `"}`} {
			for _, err := range []error{
				call(s.CallTool(ctx, "f", []byte(bad), nil)),
				call(s.Request(ctx, "m", []byte(bad), nil)),
				call(s.GetPrompt(ctx, "p", []byte(bad), nil)),
				call(s.Complete(ctx, Ref{Prompt: "p"}, "a", "v", []byte(bad), nil)),
				s.Notify(ctx, "m", []byte(bad)),
			} {
				wantKind(t, err, BadRequest, false)
			}
		}
		synctest.Wait()
		p.silent()
	})
}

func TestNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		if err := s.Notify(t.Context(), "notifications/aurora/ack", []byte(`{"message_ids":["a"]}`)); err != nil {
			t.Fatal(err)
		}
		equal(t, "line", p.next("notifications/aurora/ack").line, `{"jsonrpc":"2.0","method":"notifications/aurora/ack","params":{"message_ids":["a"]}}`+"\n")

		ctx, stop := context.WithCancel(t.Context())
		stop()
		wantKind(t, s.Notify(ctx, "m", nil), Cancelled, false)
		s.Close(nil)
		wantKind(t, s.Notify(t.Context(), "m", nil), Closed, false)
	})
}

// Errors of the server keep their code, message and data, whatever shape they have.
func TestErrorsOfTheServerAreKept(t *testing.T) {
	for _, tc := range []struct {
		err     string
		code    int64
		message string
		data    string
	}{
		{`{"code":-32602,"message":"bad field","data":{"field":"a","n":1.0}}`, -32602, "bad field", `{"field":"a","n":1.0}`},
		{`{"code":-32000.0,"message":"x"}`, -32000, "x", ``},
		{`{"code":"-32001","message":"x","data":null}`, -32001, "x", ``},
		{`{"code":4294967296,"message":"\u4e0a"}`, 4294967296, "上", ``},
		{`{"message":7}`, 0, `the server sent an error without a message: {"message":7}`, `{"message":7}`},
		{`{}`, 0, "the server sent an error without a message", `{}`},
		{`"just\ttext"`, 0, "just\ttext", `"just\ttext"`},
	} {
		t.Run(tc.err, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := connect(t, Options{})
				end := callTool(s, t.Context(), "f", nil)
				p.say(`{"jsonrpc":"2.0","id":%s,"error":%s}`, p.next("tools/call").ID, tc.err)
				var e *RPCError
				if err := (<-end).err; !errors.As(err, &e) {
					t.Fatalf("got %v", err)
				}
				equal(t, "code", e.Code, tc.code)
				equal(t, "message", e.Message, tc.message)
				equal(t, "data", string(e.Data), tc.data)
			})
		})
	}
}

// A server that answers a ping with an error is alive.
func TestPingTakesAnErrorForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		go func() { p.refuse(p.next("ping"), CodeMethodNotFound, "no") }()
		if err := s.Ping(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}
