package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/testkit"
)

// A remote is a session with a scripted server over HTTP, inside a bubble.
type remote struct {
	*Session
	t      *testing.T
	server *testkit.HTTPServer
	tr     Transport
	log    *bytes.Buffer
}

const scriptEcho = "tool echo\non tools/call slow\n  await release go\n  reply text done\non tools/call steps\n  progress 1\n  progress 2\n  reply text done\ntool slow\ntool steps"

// overRemote tells a story about a server that behaves so on HTTP. The session
// is closed when the story ends.
func overRemote(t *testing.T, script, how string, o Options, story func(t *testing.T, r *remote)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRemote(t, script, how, HTTPOptions{})
		if err := r.connect(o); err != nil {
			t.Fatalf("Connect: %v", err)
		}
		t.Cleanup(func() {
			r.Close(nil)
			r.Wait()
		})
		story(t, r)
	})
}

func newRemote(t *testing.T, script, how string, o HTTPOptions) *remote {
	t.Helper()
	r := &remote{t: t, log: &bytes.Buffer{}}
	r.server = testkit.StartHTTP(t, testkit.Each(t, testkit.MustParse(t, script)), testkit.MustParseHTTP(t, how))
	o.URL, o.Dial = r.server.URL, r.server.Dial
	w := wireJSON
	if strings.Contains(how, "answers legacy") {
		w = wireLegacy
	}
	r.tr, _ = dialTest(t, w, o)
	return r
}

func (r *remote) connect(o Options) error {
	o.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := Connect(r.t.Context(), r.tr, o)
	r.Session = s
	return err
}

// call calls the tool echo.
func (r *remote) call() reply {
	result, err := r.CallTool(r.t.Context(), "echo", []byte(`{"a":1}`), nil)
	return reply{result, err}
}

const done = `{"content":[{"type":"text","text":"done"}]}`

const echoed = `{"content":[{"text":"{\"a\":1}","type":"text"}]}`

func (r *remote) ok() {
	r.t.Helper()
	r.call().want(r.t, echoed)
}

// N03: each request has exactly the headers that it must have, whatever the
// server's way to answer and the headers of the configuration.
func TestN03HeadersAreThereExactlyOnce(t *testing.T) {
	for _, how := range []string{"", "answers sse", "stateless", "answers sse\nstateless", "answers legacy"} {
		for _, protocol := range []string{"", "2025-03-26", "2025-06-18", "2024-11-05"} {
			synctest.Test(t, func(t *testing.T) {
				r := newRemote(t, scriptEcho, how+"\nstrict", HTTPOptions{Headers: map[string]string{
					"mcp-protocol-version": "1999-01-01", "MCP-SESSION-ID": "mine", "accept": "text/plain", "Content-type": "text/plain",
					"last-event-id": "7", "Host": "evil.example", "Authorization": "Bearer t1", "X-Custom": "yes",
				}})
				if err := r.connect(Options{Protocol: protocol}); err != nil {
					t.Fatalf("%q %q: %v", how, protocol, err)
				}
				r.ok()
				if _, err := r.ListTools(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				r.Close(nil)
				r.Wait()
				for _, req := range r.server.Requests() {
					equal(t, req.Verb+" "+req.Method+" authorization", fmt.Sprint(req.Header["Authorization"]), "[Bearer t1]")
					equal(t, req.Verb+" "+req.Method+" custom", fmt.Sprint(req.Header["X-Custom"]), "[yes]")
					equal(t, req.Verb+" "+req.Method+" agent", fmt.Sprint(req.Header["User-Agent"]), "[aurora]")
				}
				if r.server.Count("GET") != 1 {
					t.Errorf("%q: %d streams", how, r.server.Count("GET"))
				}
				if sessions := !strings.Contains(how, "stateless") && !strings.Contains(how, "legacy"); r.server.Count("DELETE") != map[bool]int{true: 1}[sessions] {
					t.Errorf("%q: %d DELETE", how, r.server.Count("DELETE"))
				}
			})
		}
	}
}

// N01: the server has forgotten the session. One new session serves all who
// found out, and what was refused is done once.
func TestN01AForgottenSessionIsRenewedOnce(t *testing.T) {
	for _, forgotten := range []string{
		``, // 404 with a JSON-RPC error
		`forgotten 404 {"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`,
		`forgotten 404 Not Found`,
		`forgotten 400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`,
		`forgotten 400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`,
		`forgotten 400 Invalid or missing session ID`,
		`forgotten 410 {"error":"Session 0c5f has expired"}`,
		`forgotten 401 Unauthorized: Session not found`,
		`forgotten 401`,
		// Servers that say it in a way that nobody can know: a ping tells.
		`forgotten 410`,
		`forgotten 400`,
		`forgotten 440 Login Time-out`,
		`forgotten 400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"会话已过期"},"id":null}`,
		`forgotten 500 KeyError: session 0c5f does not exist`,
		`forgotten 500 {"jsonrpc":"2.0","error":{"code":-32603,"message":"Session not found"},"id":null}`,
		`forgotten 200 {"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`,
		`forgotten 200 {"jsonrpc":"2.0","error":{"code":-32002,"message":"Server not initialized"},"id":null}`,
	} {
		for _, answers := range []string{"json", "sse"} {
			overRemote(t, scriptEcho, "answers "+answers+"\nstrict\nno stream\n"+forgotten, Options{}, func(t *testing.T, r *remote) {
				r.ok()
				r.server.Forget()
				ends := make(chan reply, 5)
				for range 5 {
					go func() { ends <- r.call() }()
				}
				for range 5 {
					(<-ends).want(t, echoed)
				}
				equal(t, forgotten+": sessions", r.server.Sessions(), 2)
				equal(t, "initialize", r.server.Count("initialize"), 2)
				equal(t, "initialized", r.server.Count("notifications/initialized"), 2)
				select {
				case <-r.tr.(*streamable).Renewed():
				default:
					t.Error("nobody was told that lists may have changed")
				}
				var order []string
				for _, req := range r.server.Requests() {
					if req.Method == "initialize" || req.Method == "notifications/initialized" {
						order = append(order, fmt.Sprintf("%s[%s]", req.Method, req.Header.Get("Mcp-Session-Id")))
					}
				}
				equal(t, "handshakes", strings.Join(order, " "),
					"initialize[] notifications/initialized[session-1] initialize[] notifications/initialized[session-2]")

				r.server.Forget() // and again
				r.ok()
				equal(t, "sessions", r.server.Sessions(), 3)
			})
		}
	}
}

// N01: a server that gives no ids may have sessions all the same.
func TestN01AServerWithoutIdsWantsInitialize(t *testing.T) {
	for _, forgotten := range []string{
		`forgotten 400 {"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`,
		`forgotten 200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"Received request before initialization was complete"},"id":null}`,
	} {
		overRemote(t, scriptEcho, "stateless\nno stream\n"+forgotten, Options{}, func(t *testing.T, r *remote) {
			r.ok()
			r.server.Forget()
			r.ok()
			equal(t, "initialize", r.server.Count("initialize"), 2)
		})
	}
}

// N01: a server that refuses everything from the beginning has forgotten nothing.
func TestN01WhatNeverWorkedIsNotForgotten(t *testing.T) {
	for _, step := range []string{"status 400 no", `page application/json {"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Server not initialized"}}`} {
		overRemote(t, scriptEcho, "no stream\non tools/call\n  "+step, Options{}, func(t *testing.T, r *remote) {
			if r.call().err == nil {
				t.Error("no error")
			}
			equal(t, step+": calls", r.server.Count("tools/call"), 1)
			equal(t, "initialize", r.server.Count("initialize"), 1)
		})
	}
}

// N01: a server that refuses a call, and knows no pings either, has forgotten
// nothing.
func TestN01ARefusedPingAloneIsNoLostSession(t *testing.T) {
	for _, tc := range []struct{ call, ping string }{
		{"status 400 bad field", "status 400 unknown method"},
		{"status 422", "status 400"},
		{`status 400 {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"bad field"}}`, `status 400 {"jsonrpc":"2.0","id":"aurora-ping","error":{"code":-32601,"message":"unknown method ping"}}`},
	} {
		overRemote(t, scriptEcho, "no stream\non ping\n  "+tc.ping+"\non tools/call #2\n  "+tc.call, Options{}, func(t *testing.T, r *remote) {
			r.ok()
			if r.call().err == nil {
				t.Error("no error")
			}
			equal(t, tc.call+": calls", r.server.Count("tools/call"), 2)
			equal(t, "initialize", r.server.Count("initialize"), 1)
		})
	}
}

// N01: what a tool says of sessions of its own is handed on, once.
func TestN01AnErrorAboutAnotherSessionIsHandedOn(t *testing.T) {
	overRemote(t, scriptEcho, "no stream\non tools/call #2\n"+`  page application/json {"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"browser session not found"}}`, Options{}, func(t *testing.T, r *remote) {
		r.ok()
		var refused *RPCError
		if err := r.call().err; !errors.As(err, &refused) || refused.Message != "browser session not found" {
			t.Errorf("got %v", err)
		}
		equal(t, "calls", r.server.Count("tools/call"), 2)
		equal(t, "initialize", r.server.Count("initialize"), 1)
		equal(t, "pings", r.server.Count("ping"), 1)
	})
}

// N01: a request that was refused for another reason is not repeated.
func TestN01OnlyLostSessionsAreRenewed(t *testing.T) {
	for _, step := range []string{"status 400 the browser session is closed", "status 409 two sessions are busy", "status 422 no", "status 403 not you", "status 429 session not found", "status 500 session not found"} {
		overRemote(t, scriptEcho, "no stream\non tools/call\n  "+step, Options{}, func(t *testing.T, r *remote) {
			got := r.call()
			got.wantKind(t, Refused, strings.HasPrefix(step, "status 500"))
			equal(t, step+": calls", r.server.Count("tools/call"), 1)
			equal(t, step+": sessions", r.server.Sessions(), 1)
		})
	}
}

// N01: when the repeated request is refused again that is its end.
func TestN01ASecondRefusalIsReported(t *testing.T) {
	overRemote(t, scriptEcho, "no stream\non tools/call\n  status 404 gone", Options{}, func(t *testing.T, r *remote) {
		got := r.call()
		got.wantKind(t, Refused, false)
		contains(t, got.err.Error(), "HTTP 404 Not Found: gone")
		equal(t, "calls", r.server.Count("tools/call"), 2)
		equal(t, "initialize", r.server.Count("initialize"), 2)
		if err := r.Ping(t.Context(), nil); err != nil { // the session is good
			t.Error(err)
		}
	})
}

// N01: a server that will not begin a session again ends this one, with its
// reason; one that is away or overloaded does not.
func TestN01ASessionThatCannotBeRenewed(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		kind      Kind
		reason    string
		over      bool
	}{
		{"it wants credentials", "on initialize #2\n  status 401", Closed, "HTTP 401", true},
		{"there is nothing", "on initialize #2\n  status 404", Closed, "HTTP 404", true},
		{"it refuses", "on initialize #2\n  page application/json {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"too many sessions\"}}", Closed, "too many sessions", true},
		{"it moves", "on initialize #2\n  redirect 307 https://elsewhere.example/", Closed, "elsewhere.example", true},
		{"it is overloaded", "on initialize #2\n  status 503", WriteFailed, "HTTP 503", false},
		{"it refuses initialized", "on notifications/initialized #2\n  status 500", WriteFailed, "HTTP 500", false},
		{"it breaks off", "on initialize #2-3\n  break", WriteFailed, "broke", false},
		{"it is another one", "on initialize #2\n  page application/json {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}", Closed, "not the same", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overRemote(t, scriptEcho, "no stream\n"+tc.how, Options{}, func(t *testing.T, r *remote) {
				r.server.Forget()
				got := r.call()
				got.wantKind(t, tc.kind, false)
				contains(t, got.err.Error(), tc.reason)
				synctest.Wait()
				if over := r.Err() != nil; over != tc.over {
					t.Errorf("the session is over: %v (%v)", over, r.Err())
				}
				if !tc.over {
					r.ok() // the next one tries again
				}
			})
		})
	}
}

// N01: a request that was under way when the session was forgotten is not
// repeated: nobody knows what it did.
func TestN01WhatWasUnderWayIsNotRepeated(t *testing.T) {
	overRemote(t, scriptEcho, "answers sse\nnumbered\nretry 10ms", Options{}, func(t *testing.T, r *remote) {
		end := callTool(r.Session, t.Context(), "slow", nil)
		synctest.Wait()
		r.server.Forget()
		got := <-end
		got.wantKind(t, Lost, true)
		contains(t, got.err.Error(), "could not be resumed")
		synctest.Wait()
		equal(t, "calls", r.server.Count("tools/call"), 1)
	})
}

// N01: the stream finds out as well as a request does, when nothing is asked.
func TestN01TheStreamRenewsAForgottenSession(t *testing.T) {
	overRemote(t, scriptEcho, "strict", Options{}, func(t *testing.T, r *remote) {
		synctest.Wait()
		r.server.Forget()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		equal(t, "sessions", r.server.Sessions(), 2)
		r.ok()
		equal(t, "sessions", r.server.Sessions(), 2)
	})
}

// N05: servers that frame events in every way.
func TestN05AnswersInEveryFraming(t *testing.T) {
	for _, framing := range []string{"", "lines crlf", "lines cr", "comments", "split", "pieces 1", "lines crlf\npieces 1\ncomments\nsplit", "lines cr\npieces 1\nnumbered\nsplit"} {
		overRemote(t, scriptEcho, "answers sse\nstrict\n"+framing, Options{}, func(t *testing.T, r *remote) {
			r.ok()
			var seen []call.Progress
			got, err := r.CallTool(t.Context(), "steps", nil, &RequestOptions{OnProgress: func(p call.Progress) { seen = append(seen, p) }})
			reply{got, err}.want(t, done)
			equal(t, framing+": progress", len(seen), 2)
			equal(t, framing+": noise", r.Stats().Noise, 0)
		})
	}
}

// N07: redirects within the origin are followed as they are meant; others are
// errors that say where they lead.
func TestN07Redirects(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		says      string // in the error; "" for none
	}{
		{"307 to a slash", "on initialize #1\n  redirect 307 /mcp/", ""},
		{"308", "on initialize #1\n  redirect 308 /moved/mcp", ""},
		{"307 of a call", "on tools/call #1\n  redirect 307 /mcp/", ""},
		{"307 of a notification", "on notifications/initialized #1\n  redirect 307 /mcp/", ""},
		{"307 of the stream", "on GET #1\n  redirect 302 /mcp/", ""},
		{"an absolute one", "on initialize #1\n  redirect 307 http://PEER.example:80/mcp/", ""},
		{"307 to itself", "on initialize\n  redirect 307 /mcp", "in a circle"},
		{"301", "on initialize\n  redirect 301 /b", "HTTP 301 redirects to http://peer.example/b"},
		{"302 to a login page", "on initialize\n  redirect 302 /login?return=secret", "HTTP 302 redirects to http://peer.example/login?…"},
		{"303", "on initialize\n  redirect 303 /b", "HTTP 303"},
		{"another host", "on initialize\n  redirect 307 http://evil.example/mcp", "HTTP 307 redirects to http://evil.example/mcp, which is another origin, so nothing was sent there"},
		{"another scheme", "on initialize\n  redirect 308 https://peer.example/mcp", "redirects to https://peer.example/mcp"},
		{"another port", "on initialize\n  redirect 307 http://peer.example:8080/mcp", "another origin"},
		{"nowhere", "on initialize\n  redirect 307 http://", "no address"},
		{"without a place", "on initialize\n  status 307", "HTTP 307"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRemote(t, scriptEcho, "strict\n"+tc.how, HTTPOptions{Headers: map[string]string{"Authorization": "Bearer t1"}})
				err := r.connect(Options{})
				if tc.says != "" {
					wantKind(t, err, Refused, false)
					contains(t, err.Error(), tc.says)
					if strings.Contains(err.Error(), "secret") {
						t.Errorf("the query is shown: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				r.ok()
				synctest.Wait()
				r.Close(nil)
				r.Wait()
				for _, req := range r.server.Requests() {
					equal(t, "authorization", req.Header.Get("Authorization"), "Bearer t1")
				}
			})
		})
	}
	t.Run("in a chain", func(t *testing.T) {
		for hops, ok := range map[int]bool{3: true, 4: false} {
			synctest.Test(t, func(t *testing.T) {
				how := ""
				for i := range hops {
					how += fmt.Sprintf("on initialize #%d\n  redirect 307 /%d\n", i+1, i)
				}
				r := newRemote(t, scriptEcho, how, HTTPOptions{})
				err := r.connect(Options{})
				if (err == nil) != ok {
					t.Errorf("%d hops: %v", hops, err)
				}
				if err == nil {
					r.Close(nil)
					r.Wait()
				} else {
					contains(t, err.Error(), "after 3 redirects")
				}
			})
		}
	})
}

// N07: what was moved is asked for where it is, until the session is renewed.
func TestN07ARedirectIsRemembered(t *testing.T) {
	overRemote(t, scriptEcho, "no stream\non initialize #1\n  redirect 307 /mcp/", Options{}, func(t *testing.T, r *remote) {
		r.ok()
		r.server.Forget()
		r.ok()
		var paths []string
		for _, req := range r.server.Requests() {
			if req.Verb == "POST" {
				paths = append(paths, req.Path)
			}
		}
		equal(t, "paths", strings.Join(paths, " "), "/mcp /mcp/ /mcp/ /mcp/ /mcp/ /mcp /mcp /mcp")
	})
}

// N07: where a stream was sent to says nothing of requests.
func TestN07ARedirectOfTheStreamIsItsOwn(t *testing.T) {
	overRemote(t, scriptEcho, "on GET #1\n  redirect 302 /login\non GET #2+\n  page text/html <html>", Options{}, func(t *testing.T, r *remote) {
		synctest.Wait()
		r.ok()
		last := r.server.Requests()[len(r.server.Requests())-1]
		equal(t, "path", last.Path, "/mcp")
	})
}

// N10: notifications may be answered with any status of success.
func TestN10AnyAnswerToANotificationWillDo(t *testing.T) {
	for _, how := range []string{"notified 200", "notified 201", "notified 204", "notified 299",
		"on notifications/initialized\n  page text/html <html>thanks</html>",
		"on notifications/initialized\n  page application/json {\"ok\":true}",
		"on notifications/initialized\n  page text/event-stream \"data: x\\n\\n\"",
		"on notifications/initialized\n  start", // and nothing more
	} {
		overRemote(t, scriptEcho, "no stream\n"+how, Options{}, func(t *testing.T, r *remote) { r.ok() })
	}
}

// N10: JSON is taken for what it is, whatever the type says of its characters.
func TestN10TypesOfContent(t *testing.T) {
	for _, kind := range []string{"application/json; charset=UTF-8", "application/json;charset=utf8", "Application/JSON ; charset=\"utf-8\"; x=y", "application/json-rpc", "text/plain"} {
		overRemote(t, scriptEcho, "content "+kind, Options{}, func(t *testing.T, r *remote) { r.ok() })
	}
	// Its text is one line for us, and a mark at its beginning does not matter.
	overRemote(t, scriptEcho, "on tools/call\n  page application/json \"\\uFEFF{\\r\\n  \\\"jsonrpc\\\": \\\"2.0\\\",\\n  \\\"id\\\": 2,\\n  \\\"result\\\": {\\n    \\\"x\\\": 1.0\\n  }\\n}\\n\"", Options{}, func(t *testing.T, r *remote) {
		r.call().want(t, `{     "x": 1.0   }`)
	})
}

// N10: what is no answer ends the call at once and shows how it begins.
func TestN10AnswersThatAreNone(t *testing.T) {
	for _, tc := range []struct{ name, page, says string }{
		{"a login page", `page text/html "<html>\n<title>Please  log in</title>` + strings.Repeat("x", 500) + `"`, "text/html) is no JSON-RPC; it begins: <html> <title>Please log in</title>xxx"},
		{"nothing", `page application/json ""`, "(application/json) is empty"},
		{"no content", `status 204`, "is empty"},
		{"accepted", `status 202`, "is empty"}, // and there is no other stream
		{"JSON that is no answer", `page application/json {"status":"ok"}`, `{"status":"ok"}`},
		{"another answer", `page application/json {"jsonrpc":"2.0","id":77,"result":{}}`, `its id is 77, not 2`},
		{"an answer without an id", `page application/json {"jsonrpc":"2.0","result":{}}`, `its id is null, not 2`},
		{"half an answer without its id", `page application/json {"result":{"a":`, `{"result"`},
		{"control characters", `page text/plain "a\x00\x1b[31m\u2028b"`, "a [31m b"},
		{"a stream without the answer", `page text/event-stream ": hi\n\n"`, "ended without it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overRemote(t, scriptEcho, "no stream\non tools/call\n  "+tc.page, Options{}, func(t *testing.T, r *remote) {
				began := time.Now()
				got := r.call()
				kind := BadAnswer
				if strings.Contains(tc.name, "stream") {
					kind = Lost
				}
				got.wantKind(t, kind, true)
				contains(t, got.err.Error(), tc.says)
				if len(got.err.Error()) > 1400 {
					t.Errorf("too long: %v", got.err)
				}
				equal(t, "at once", time.Since(began), 0)
				equal(t, "over", r.Err(), nil)
			})
		})
	}
}

// N10: an answer that breaks off inside its JSON is told from one that does not
// come.
func TestABrokenBodyEndsItsCall(t *testing.T) {
	overRemote(t, scriptEcho, `on tools/call`+"\n  "+`page application/json {"jsonrpc":"2.0","id":2,"result":{"a":`, Options{}, func(t *testing.T, r *remote) {
		got := r.call()
		got.wantKind(t, BadAnswer, true)
		contains(t, got.err.Error(), "unexpected end")
	})
}

// N10: some servers only take a request where it is posted, and answer on the
// stream of GET, whichever comes first.
func TestN10AnswersThatComeElsewhere(t *testing.T) {
	for _, taken := range []string{"", "taken 200", "taken 204", "taken 202 Accepted", `taken 202 {"status":"accepted"}`} {
		for _, slow := range []string{"", "\non GET\n  sleep 300ms"} {
			overRemote(t, scriptEcho, "strict\nanswers elsewhere\n"+taken+slow, Options{}, func(t *testing.T, r *remote) {
				r.ok()
				r.ok()
				equal(t, taken+": cancelled", r.server.Count("notifications/cancelled"), 0)
			})
		}
	}
	// An answer that comes where it belongs is one, whatever its status.
	overRemote(t, scriptEcho, `on tools/call`+"\n  "+`status 202 {"jsonrpc":"2.0","id":2,"result":{"a":1}}`, Options{}, func(t *testing.T, r *remote) {
		synctest.Wait() // there is a stream
		r.call().want(t, `{"a":1}`)
	})
}

// N05, N10: an answer is read for what it is, whatever its type says.
func TestN10AnswersOfTheWrongType(t *testing.T) {
	for _, how := range []string{
		"answers json\ncontent text/event-stream",
		"answers sse\nstreams application/json",
		"answers sse\nstreams text/plain; charset=utf-8\ncomments",
		"answers sse\nstreams application/octet-stream\nnumbered\nlines crlf",
		"answers sse\nnamed response",
		"answers sse\nnamed Message\nsplit",
	} {
		overRemote(t, scriptEcho, "no stream\n"+how, Options{}, func(t *testing.T, r *remote) {
			r.ok()
			equal(t, how+": noise", r.Stats().Noise, 0)
		})
	}
	overRemote(t, scriptEcho, "answers legacy\nstreams text/plain", Options{}, func(t *testing.T, r *remote) { r.ok() })
}

// N05: when the answer does not come it is said what came.
func TestN05AStreamWithSomethingElse(t *testing.T) {
	overRemote(t, scriptEcho, "no stream\non tools/call\n  page text/event-stream \"event: error\\ndata: out of memory\\n\\n\"", Options{}, func(t *testing.T, r *remote) {
		got := r.call()
		got.wantKind(t, Lost, true)
		contains(t, got.err.Error(), "the stream of the answer ended without it; the last it said was: error out of memory")
		equal(t, "noise", r.Stats().Noise, 0)
	})
}

// N10: however long a server wants to be left alone, it is not asked at once.
func TestN10RetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "0.5": time.Second / 2, "-1": 0, "NaN": 0,
		"9999999999": maxRetry, "99999999999999999999999": maxRetry, "1e300": maxRetry, "Inf": maxRetry,
		"Wed, 21 Oct 2099 07:28:00 GMT": maxRetry, "Wed, 21 Oct 2015 07:28:00 GMT": 0,
	} {
		equal(t, text, retryAfter(text), want)
	}
	for after, most := range map[string]int{"9999999999": 1, "0.001": 62, "0": 10} {
		overRemote(t, scriptEcho, "on GET\n  header Retry-After "+after+"\n  status 429", Options{}, func(t *testing.T, r *remote) {
			time.Sleep(time.Minute)
			if n := r.server.Count("GET"); n > most {
				t.Errorf("Retry-After %s: asked %d times in a minute", after, n)
			}
		})
	}
}

// N10: a server whose stream ends at once, again and again, is not stormed, even if
// it asks for it.
func TestN10AStreamThatEndsAtOnce(t *testing.T) {
	for _, stream := range []string{`page text/event-stream "retry: 0\n\n"`, `page text/event-stream "retry: 1\nid: 7\ndata:\n\n"`, `page text/event-stream ""`} {
		overRemote(t, scriptEcho, "on GET\n  "+stream, Options{}, func(t *testing.T, r *remote) {
			time.Sleep(time.Minute)
			if n := r.server.Count("GET"); n > 20 {
				t.Errorf("%s: opened %d times in a minute", stream, n)
			}
			r.ok()
		})
	}
}

// N10: a server that never answers ends nothing but the call, at its own limit.
func TestN10ServersThatHang(t *testing.T) {
	for _, step := range []string{"hang", "start", "sleep 1h"} {
		overRemote(t, scriptEcho, "no stream\non tools/call #1\n  "+step, Options{SoftTimeout: 5 * time.Second}, func(t *testing.T, r *remote) {
			began := time.Now()
			got := r.call()
			got.wantKind(t, Timeout, true)
			contains(t, got.err.Error(), "no answer within 5s")
			equal(t, step+": ended after", time.Since(began), 5*time.Second)
			synctest.Wait()
			equal(t, "cancelled", r.server.Count("notifications/cancelled"), 1)
			r.ok()
		})
	}
	t.Run("at the handshake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRemote(t, scriptEcho, "on initialize\n  hang", HTTPOptions{})
			ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
			defer stop()
			_, err := Connect(ctx, r.tr, Options{})
			wantKind(t, err, Timeout, true)
		})
	})
	t.Run("at a notification", func(t *testing.T) {
		overRemote(t, scriptEcho, "no stream\non acme/note\n  hang\non answer\n  hang\non notifications/cancelled\n  hang", Options{}, func(t *testing.T, r *remote) {
			began := time.Now()
			err := r.Notify(t.Context(), "acme/note", nil)
			wantKind(t, err, Lost, true)
			equal(t, "ended after", time.Since(began), tellTime)
			r.ok()
		})
	})
}

// X01, N09: a server that wants credentials says so, without the tokens that its
// challenge may hold.
func TestN09CredentialsThatAreRefused(t *testing.T) {
	for _, tc := range []struct{ how, says string }{
		{"status 401", "HTTP 401 Unauthorized"},
		{"header Www-Authenticate Bearer error=\"invalid_token\", error_description=\"The \\\"access\\\" token expired\", resource_metadata=\"https://x/secret\"\n  status 401 no", "HTTP 401 Unauthorized: Bearer: invalid_token: The \"access\" token expired: no"},
		{"header Www-Authenticate Basic realm=secret\n  status 401", "HTTP 401 Unauthorized: Basic"},
		{"status 403 {\"error\":\"forbidden\"}", "HTTP 403 Forbidden: {\"error\":\"forbidden\"}"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRemote(t, scriptEcho, "on POST\n  "+tc.how, HTTPOptions{})
			err := r.connect(Options{})
			wantKind(t, err, Refused, false)
			contains(t, err.Error(), tc.says)
			var status *StatusError
			if !errors.As(err, &status) || !status.Credentials() {
				t.Errorf("got %v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the challenge is shown whole: %v", err)
			}
		})
	}
}

// A status that refuses one call is the end of that call and of nothing else.
func TestAStatusEndsOnlyItsCall(t *testing.T) {
	for _, tc := range []struct {
		step      string
		kind      Kind
		delivered bool
		says      string
	}{
		{"status 500 oops", Refused, true, "HTTP 500 Internal Server Error: oops"},
		{"status 502", Refused, true, "HTTP 502"},
		{"status 503", Refused, false, "HTTP 503"},
		{"header Retry-After 7\n  status 429", Refused, false, "HTTP 429"},
		{"status 400 bad", Refused, false, "HTTP 400 Bad Request: bad"},
		{"status 403", Refused, false, "HTTP 403"},
		{"status 413", Refused, false, "HTTP 413"},
		{"status 418", Refused, false, "HTTP 418"},
		{"break", Lost, true, "broke"},
	} {
		t.Run(tc.step, func(t *testing.T) {
			overRemote(t, scriptEcho, "on tools/call #1\n  "+tc.step, Options{}, func(t *testing.T, r *remote) {
				slow := callTool(r.Session, t.Context(), "slow", nil) // it has number 1
				got := <-slow
				got.wantKind(t, tc.kind, tc.delivered)
				contains(t, got.err.Error(), tc.says)
				r.ok()
				equal(t, "sessions", r.server.Sessions(), 1)
				synctest.Wait()
				lost := 0
				if tc.kind == Lost {
					lost = 1
				}
				equal(t, "cancelled", r.server.Count("notifications/cancelled"), lost)
			})
		})
	}
	overRemote(t, scriptEcho, "on tools/call #1\n  header Retry-After 7\n  status 429", Options{}, func(t *testing.T, r *remote) {
		var status *StatusError
		if err := r.call().err; !errors.As(err, &status) || status.RetryAfter != 7*time.Second {
			t.Errorf("got %v", err)
		}
	})
}

// A JSON-RPC error is one, whatever the status it comes with and its id.
func TestErrorsWithAStatusAreErrorsOfTheServer(t *testing.T) {
	for _, step := range []string{
		`status 400 {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"bad field"}}`,
		`status 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad field"}}`,
		`status 500 {"jsonrpc":"2.0","id":"server-error","error":{"code":-32602,"message":"bad field"}}`,
		`page application/json {"jsonrpc":"2.0","error":{"code":-32602,"message":"bad field"}}`,
		`page text/event-stream "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32602,\"message\":\"bad field\"}}\n\n"`,
	} {
		overRemote(t, scriptEcho, "on tools/call\n  "+step, Options{}, func(t *testing.T, r *remote) {
			var refused *RPCError
			if err := r.call().err; !errors.As(err, &refused) || refused.Code != CodeInvalidParams || refused.Message != "bad field" {
				t.Errorf("%s: got %v", step, err)
			}
		})
	}
}

// A server that cannot be reached did surely nothing.
func TestAServerThatIsAway(t *testing.T) {
	overRemote(t, scriptEcho, "no stream", Options{}, func(t *testing.T, r *remote) {
		for range 50 {
			r.ok()
			r.server.Down() // and its connections with it
			r.server.Up()
		}
		r.ok()
		r.server.Down()
		got := r.call()
		got.wantKind(t, WriteFailed, false)
		contains(t, got.err.Error(), "connection refused")
		equal(t, "over", r.Err(), nil)
		r.server.Up()
		r.ok() // with a new session
		equal(t, "sessions", r.server.Sessions(), 52)
		r.server.Down() // Close does not wait for a server that is away
		r.call()
		began := time.Now()
		r.Close(nil)
		r.Wait()
		equal(t, "closing", time.Since(began), 0)
	})
}

// A server that dies with a call in its hands may have done it.
func TestAServerThatDiesDuringACall(t *testing.T) {
	for _, answers := range []string{"json", "sse", "legacy"} {
		overRemote(t, scriptEcho, "answers "+answers, Options{}, func(t *testing.T, r *remote) {
			end := callTool(r.Session, t.Context(), "slow", nil)
			synctest.Wait()
			r.server.Down()
			got := <-end
			kind := Lost
			if answers == "legacy" {
				kind = Closed
			}
			got.wantKind(t, kind, true)
		})
	}
}

// A stream that breaks off before its answer is resumed where it was, if the
// server numbers its events.
func TestABrokenAnswerIsResumed(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		calls     int
		resumed   int // GETs with Last-Event-ID, at least
		err       string
	}{
		{"cut before anything", "numbered\non tools/call #1\n  cut after 0", 1, 1, ""},
		{"cut after one event", "numbered\non tools/call #1\n  cut after 1", 1, 1, ""},
		{"ended after one event", "numbered\nretry 250ms\non tools/call #1\n  end after 1", 1, 1, ""},
		{"cut twice", "numbered\non tools/call #1\n  cut after 1\non GET #2\n  cut after 0", 1, 2, ""},
		{"refused for a while", "numbered\non tools/call #1\n  cut after 1\non GET #2-3\n  status 503", 1, 3, ""},
		{"refused for good", "numbered\non tools/call #1\n  cut after 1\non GET #2+\n  status 405", 1, 1, "HTTP 405"},
		{"away for good", "numbered\non tools/call #1\n  cut after 1\non GET #2+\n  break", 1, 5, "could not be resumed"},
		{"not numbered", "on tools/call #1\n  cut after 1", 1, 0, "broke"},
		{"not numbered and ended", "on tools/call #1\n  end after 1", 1, 0, "ended without it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overRemote(t, scriptEcho, "answers sse\nstrict\n"+tc.how, Options{}, func(t *testing.T, r *remote) {
				synctest.Wait() // GET #1 is the stream
				var seen []string
				result, err := r.CallTool(t.Context(), "steps", nil, &RequestOptions{OnProgress: func(p call.Progress) { seen = append(seen, fmt.Sprint(p.Progress)) }})
				got := reply{result, err}
				resumed := 0
				for _, req := range r.server.Requests() {
					if req.Verb == "GET" && req.Header.Get("Last-Event-Id") != "" {
						resumed++
					}
				}
				if resumed != tc.resumed {
					t.Errorf("resumed %d times, want %d", resumed, tc.resumed)
				}
				if tc.err != "" {
					got.wantKind(t, Lost, true)
					contains(t, strings.ReplaceAll(got.err.Error(), "unexpected EOF", "broke"), tc.err)
				} else {
					got.want(t, done)
					equal(t, "progress, each once", strings.Join(seen, " "), "1 2")
				}
				equal(t, "calls", r.server.Count("tools/call"), tc.calls)
			})
		})
	}
}

// The server says how long to wait before a stream is resumed.
func TestRetryIsRespected(t *testing.T) {
	for _, wait := range []time.Duration{0, 30 * time.Millisecond, 7 * time.Second} {
		overRemote(t, scriptEcho, fmt.Sprintf("answers sse\nnumbered\nretry %v\non tools/call #1\n  end after 0", wait), Options{}, func(t *testing.T, r *remote) {
			began := time.Now()
			result, err := r.CallTool(t.Context(), "steps", nil, nil)
			reply{result, err}.want(t, done)
			equal(t, "took", time.Since(began), max(wait, resumeLeast))
		})
	}
}

// A cancelled call is not resumed, and the server is told.
func TestACancelledCallIsNotResumed(t *testing.T) {
	overRemote(t, scriptEcho, "answers sse\nnumbered\nretry 1m\non tools/call #1\n  end after 0", Options{}, func(t *testing.T, r *remote) {
		ctx, stop := context.WithCancel(t.Context())
		end := callTool(r.Session, ctx, "slow", nil)
		synctest.Wait()
		before := r.server.Count("GET")
		stop()
		(<-end).wantKind(t, Cancelled, true)
		time.Sleep(2 * time.Minute)
		equal(t, "GET", r.server.Count("GET"), before)
		equal(t, "cancelled", r.server.Count("notifications/cancelled"), 1)
	})
}

// Peers row 20: whatever happens to the stream of GET, calls go on, and the
// server is not stormed.
func TestABrokenStreamNeverHurtsCalls(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		least     int // GETs within ten minutes
		most      int
	}{
		{"there is none", "no stream", 1, 1},
		{"it is not found", "on GET\n  status 404", 1, 1},
		{"it is forbidden", "on GET\n  status 403", 1, 1},
		{"no content", "on GET\n  status 204", 1, 1},
		{"a page", "on GET\n  page text/html <html>", 1, 1},
		{"it is away for good", "on GET\n  break", 8, 30},
		{"it is overloaded", "on GET\n  status 503", 8, 30},
		{"it is away for as long as it says", "on GET\n  header Retry-After 300\n  status 503", 2, 3},
		{"it closes every 100 ms", "stream ends after 100ms", 8, 30},
		{"another one is open", "on GET #2-3\n  status 409\non GET #1\n  end after 0", 4, 6},
		{"it hangs", "on GET\n  hang", 1, 5},
		{"it is lost", "on GET\n  redirect 307 https://evil.example/", 8, 30},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overRemote(t, scriptEcho, "strict\n"+tc.how, Options{}, func(t *testing.T, r *remote) {
				for range 60 {
					r.ok()
					time.Sleep(10 * time.Second)
				}
				if n := r.server.Count("GET"); n < tc.least || n > tc.most {
					t.Errorf("%d times GET, want %d to %d", n, tc.least, tc.most)
				}
				equal(t, "over", r.Err(), nil)
				equal(t, "sessions", r.server.Sessions(), 1)
			})
		})
	}
}

// What was said while the stream was away is not lost if the server numbers its
// events; if not, whoever keeps lists is told to look again.
func TestTheStreamIsResumed(t *testing.T) {
	script := "tool echo\non acme/tick\n  notify acme/tock {\"n\":${n}}"
	for _, how := range []string{"numbered\nstream ends after 100ms", "stream ends after 100ms"} {
		var seen []string
		overRemote(t, script, how, Options{OnNotification: func(_ string, params []byte) { seen = append(seen, string(params)) }}, func(t *testing.T, r *remote) {
			for range 5 {
				time.Sleep(3 * time.Second)
				if err := r.Notify(t.Context(), "acme/tick", nil); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			equal(t, how, strings.Join(seen, " "), `{"n":1} {"n":2} {"n":3} {"n":4} {"n":5}`)
			told := false
			select {
			case <-r.tr.(*streamable).Renewed():
				told = true
			default:
			}
			equal(t, how+": told", told, !strings.HasPrefix(how, "numbered"))
		})
	}
}

// A request of the server is answered by POST, whatever stream it came on.
func TestRequestsOfTheServerAreAnswered(t *testing.T) {
	script := "tool ask\non tools/call ask\n  request \"srv-1\" ping\n  await reply \"srv-1\"\n  request 7 roots/list\n  await reply 7\n  reply text answered"
	for _, answers := range []string{"json", "sse", "legacy"} {
		overRemote(t, script, "answers "+answers, Options{}, func(t *testing.T, r *remote) {
			result, err := r.CallTool(t.Context(), "ask", nil, nil)
			reply{result, err}.want(t, `{"content":[{"type":"text","text":"answered"}]}`)
			equal(t, "answers", r.server.Count("answer"), 2)
		})
	}
}

// What a server says during a call on the stream of GET is lost with many when
// that is not there yet, so the call comes after it, but does not wait for long.
func TestCallsWaitForTheStream(t *testing.T) {
	for how, after := range map[string]time.Duration{
		"":                        0,
		"no stream":               0,
		"on GET\n  sleep 100ms":   100 * time.Millisecond,
		"on GET\n  break":         0,
		"on GET #1\n  status 503": 0,
		"on GET\n  hang":          placeTime,
		"on GET\n  sleep 1h":      placeTime,
		"answers legacy":          0,
	} {
		overRemote(t, scriptEcho, how, Options{}, func(t *testing.T, r *remote) {
			began := time.Now()
			if _, err := r.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
			equal(t, how+": the list came after", time.Since(began), 0)
			r.ok()
			equal(t, how+": the first call ended after", time.Since(began), after)
			r.ok()
			equal(t, how+": the second call ended after", time.Since(began), after)
		})
	}
	t.Run("given up", func(t *testing.T) {
		overRemote(t, scriptEcho, "on GET\n  hang", Options{}, func(t *testing.T, r *remote) {
			ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer stop()
			_, err := r.CallTool(ctx, "echo", nil, nil)
			wantKind(t, err, Timeout, false)
			synctest.Wait()
			equal(t, "calls", r.server.Count("tools/call"), 0)
		})
	})
	t.Run("closed", func(t *testing.T) {
		overRemote(t, scriptEcho, "on GET\n  hang", Options{}, func(t *testing.T, r *remote) {
			end := callTool(r.Session, t.Context(), "echo", nil)
			synctest.Wait()
			r.Close(nil)
			(<-end).wantKind(t, Closed, false)
		})
	})
}

// Some servers accept a request and answer it on the other stream.
func TestAnAnswerOnTheOtherStream(t *testing.T) {
	overRemote(t, "tool echo\non acme/tick\n  send {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"late\":true}}", "on tools/call\n  status 202", Options{}, func(t *testing.T, r *remote) {
		synctest.Wait()
		end := callTool(r.Session, t.Context(), "echo", nil)
		synctest.Wait()
		if err := r.Notify(t.Context(), "acme/tick", nil); err != nil {
			t.Fatal(err)
		}
		(<-end).want(t, `{"late":true}`)
	})
}

// What is too large fails alone, whether its size is known before or not.
func TestAnswersThatAreTooLarge(t *testing.T) {
	script := "tool echo\non tools/call big\n  reply text ${fill:args.n}\ntool big"
	for _, answers := range []string{"json", "sse", "legacy"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRemote(t, script, "answers "+answers, HTTPOptions{MaxMessage: 1 << 20})
			if err := r.connect(Options{}); err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1 << 16, 1<<20 - 200, 1 << 20, 5 << 20} {
				result, err := r.CallTool(t.Context(), "big", fmt.Appendf(nil, `{"n":%d}`, n), nil)
				if n < 1<<20 {
					if err != nil || len(result.Raw) < n {
						t.Errorf("%s %d: got %d bytes, %v", answers, n, len(result.Raw), err)
					}
					continue
				}
				wantKind(t, err, TooLarge, true)
			}
			r.ok()
			r.Close(nil)
			r.Wait()
		})
	}
}

// DELETE is bounded, and every status of it will do.
func TestCloseEndsTheSessionOfTheServer(t *testing.T) {
	for how, took := range map[string]time.Duration{"": 0, "on DELETE\n  status 405": 0, "on DELETE\n  status 404": 0, "on DELETE\n  hang": farewellTime, "on DELETE\n  break": 0} {
		synctest.Test(t, func(t *testing.T) {
			r := newRemote(t, scriptEcho, how, HTTPOptions{})
			if err := r.connect(Options{}); err != nil {
				t.Fatal(err)
			}
			end := callTool(r.Session, t.Context(), "slow", nil)
			synctest.Wait()
			began := time.Now()
			r.Close(nil)
			equal(t, how+": Close took", time.Since(began), 0)
			(<-end).wantKind(t, Closed, true)
			r.Wait()
			equal(t, how+": Wait took", time.Since(began), took)
			equal(t, how+": DELETE", r.server.Count("DELETE"), 1)
			equal(t, how+": cancelled", r.server.Count("notifications/cancelled"), 1)
			last := r.server.Requests()[len(r.server.Requests())-1]
			equal(t, "the last word", last.Verb, "DELETE")
		})
	}
}

// HTTP+SSE: the endpoint must be of the same origin, and what is no stream says so.
func TestLegacyStreamsThatAreNone(t *testing.T) {
	for _, tc := range []struct{ how, says string }{
		{"endpoint https://evil.example/messages?token=secret", "the server named the endpoint https://evil.example/messages?…, which is another origin"},
		{"endpoint //evil.example/messages", "another origin"},
		{"endpoint http://[", "no address"},
		{"on GET\n  status 404 no such page", "HTTP 404 Not Found: no such page"},
		{"on GET\n  status 401", "HTTP 401 Unauthorized"},
		{"on GET\n  page text/html <html>hello</html>", "it begins: <html>hello</html>"},
		{"on GET\n  page text/event-stream \"data: x\\n\\n\"", "EOF"},
		{"on GET\n  redirect 302 https://evil.example/sse", "evil.example"},
		{"on GET\n  hang", "no answer within 30s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRemote(t, scriptEcho, "answers legacy\n"+tc.how, HTTPOptions{})
			err := r.connect(Options{})
			if err == nil {
				t.Fatalf("%s: connected", tc.how)
			}
			contains(t, err.Error(), tc.says)
			for _, req := range r.server.Requests() {
				if req.Verb != "GET" {
					t.Errorf("%s: %s was sent", tc.how, req.Verb)
				}
			}
		})
	}
}

// HTTP+SSE: an endpoint of any form within the origin.
func TestLegacyEndpoints(t *testing.T) {
	for _, endpoint := range []string{"/messages", "messages", "../x/messages", "http://peer.example/messages", "http://peer.example:80/messages"} {
		overRemote(t, scriptEcho, "answers legacy\nstrict\nendpoint "+endpoint, Options{}, func(t *testing.T, r *remote) { r.ok() })
	}
}

// HTTP+SSE: some servers answer a request where it is posted.
func TestLegacyAnswersToThePost(t *testing.T) {
	overRemote(t, scriptEcho, `answers legacy`+"\non tools/call #1\n  "+`status 200 {"jsonrpc":"2.0","id":2,"result":{"a":1}}`+"\non tools/call #2\n  "+`page application/json {"status":"ok"}`, Options{SoftTimeout: time.Second}, func(t *testing.T, r *remote) {
		r.call().want(t, `{"a":1}`)
		r.call().wantKind(t, Timeout, true) // that was none, and none came
		r.ok()
	})
}

// HTTP+SSE: a status to a POST ends its call; the stream goes on.
func TestLegacyStatusOfAPost(t *testing.T) {
	overRemote(t, scriptEcho, "answers legacy\non tools/call #1\n  status 500 oops\non tools/call #2\n  status 404", Options{}, func(t *testing.T, r *remote) {
		r.call().wantKind(t, Refused, true)
		r.call().wantKind(t, Refused, false)
		r.ok()
	})
}

// HTTP+SSE: whoever takes messages has forgotten the stream, which stays open.
// The session ends, so that another one begins.
func TestN01ALegacyServerHasForgottenTheStream(t *testing.T) {
	for _, status := range []string{"404 Could not find session", "400 Invalid session ID", "410", "500 session not found"} {
		overRemote(t, scriptEcho, "answers legacy\non tools/call #2+\n  status "+status+"\non ping\n  status "+status, Options{}, func(t *testing.T, r *remote) {
			r.ok()
			got := r.call()
			got.wantKind(t, Closed, false)
			contains(t, got.err.Error(), "HTTP "+status[:3])
			synctest.Wait()
			contains(t, fmt.Sprint(r.Err()), "HTTP "+status[:3])
		})
	}
}

// What people write into an address as it is reaches the server escaped: a blank
// would end the address.
func TestAddressesAreEscaped(t *testing.T) {
	for query, want := range map[string]string{
		"a=b&c=%20d+e": "a=b&c=%20d+e", "q=值 1": "q=%E5%80%BC%201", `f={"a":["b"]}`: "f={%22a%22:[%22b%22]}", "": "",
	} {
		o, err := newOrigin(&HTTPOptions{URL: "http://x.example/路/mcp?" + query})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "query", o.url.RawQuery, want)
		equal(t, "path", o.url.EscapedPath(), "/%E8%B7%AF/mcp")
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "://", "ftp://x/", "http://", "/mcp", "http://\x7f/?token=secret"} {
		for _, dial := range []func(HTTPOptions) (Transport, error){NewStreamableHTTP, NewLegacySSE} {
			_, err := dial(HTTPOptions{URL: address})
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v", address, err)
			}
		}
	}
}
