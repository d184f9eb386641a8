package host

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/testkit"
)

// remote adds a remote app, whose server behaves so on HTTP.
func (h *house) remote(key, script, how string) (*config.App, *testkit.HTTPServer) {
	h.t.Helper()
	c := appConfig(key)
	c.MCP.Transport = config.StreamableHTTP
	if strings.Contains(how, "answers legacy") {
		c.MCP.Transport = config.SSE
	}
	c.MCP.URL = "http://" + key + ".example/mcp"
	h.apps = append(h.apps, c)
	s := testkit.StartHTTP(h.t, testkit.Each(h.t, testkit.MustParse(h.t, script)), testkit.MustParseHTTP(h.t, how))
	if h.far == nil {
		h.far = map[string]*testkit.HTTPServer{}
		h.opt.Dialer = Dialers{Local: h.peers, Remote: &RemoteDialer{Connect: h.connect}}
	}
	h.far[key] = s
	return c, s
}

// connect finds the server of a remote app by its name.
func (h *house) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if h.block != nil {
		if err := h.block(); err != nil {
			return nil, err
		}
	}
	key, _, _ := strings.Cut(address, ".example")
	return h.far[key].Dial(ctx, network, address)
}

// A remote app does what a local one does, whatever its way to answer.
func TestARemoteAppIsAnApp(t *testing.T) {
	script := "tool echo\nresource note://a\nprompt hello\ntool grow\non tools/call grow\n  add tool extra\n  notify notifications/tools/list_changed\n  reply text grown\ntool steps\non tools/call steps\n  progress 1\n  reply text done"
	for _, how := range []string{"", "answers sse", "answers legacy", "stateless\nno stream"} {
		inHouse(t, func(t *testing.T, h *house) {
			_, server := h.remote("demo", script, how+"\nstrict")
			h.open()
			s := h.wantState("demo", Ready)
			if s.PID != 0 || s.ProtocolVersion != "2025-11-25" {
				t.Errorf("pid %d, version %s", s.PID, s.ProtocolVersion)
			}
			h.wantTools("demo.echo", "demo.grow", "demo.steps")
			wantOK(t, h.call("demo.echo", `{"a":1}`), `{\"a\":1}`)
			wantOK(t, h.Read(t.Context(), cli, "note://a", ""), "content of note://a")
			wantOK(t, h.Prompt(t.Context(), cli, "demo.hello", nil), "prompt hello")
			seen := 0
			wantOK(t, h.Call(t.Context(), call.Call{Caller: cli, Name: "demo.steps", OnProgress: func(call.Progress) { seen++ }}), "done")
			if !strings.Contains(how, "no stream") {
				synctest.Wait()
				if seen != 1 && how != "" { // the order of two streams is not known
					t.Errorf("%q: progress was seen %d times", how, seen)
				}
				wantOK(t, h.call("demo.grow", ""), "grown")
				h.pass(time.Second)
				h.wantTools("demo.echo", "demo.extra", "demo.grow", "demo.steps")
			}
			if n := len(h.ofKind(SignalStarted)); n != 1 {
				t.Errorf("%d starts", n)
			}
			if err := h.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if sessions := how == "" || how == "answers sse"; sessions && server.Count("DELETE") != 1 {
				t.Errorf("%q: the server was not told of the end", how)
			}
		})
	}
}

// N01: the server forgets the session, or is restarted: the next call heals it,
// and nobody sees more than that lists are read again.
func TestN01ARemoteAppHealsWithinOneCall(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, answers := range []string{"json", "sse"} {
			inHouse(t, func(t *testing.T, h *house) {
				// The second session has another tool.
				script := "tool a\nresource note://a\nstart run 2+\n  add tool b"
				_, server := h.remote("demo", script, "strict\nanswers "+answers)
				h.open()
				wantOK(t, h.Subscribe(t.Context(), cli, "note://a", ""), "")
				h.wantTools("demo.a")
				if restart {
					server.Down()
					server.Up()
				} else {
					server.Forget()
				}
				var ends []<-chan call.Result
				for range 5 {
					ends = append(ends, h.calling("demo.a", ""))
				}
				for _, end := range ends {
					wantOK(t, <-end, "{}")
				}
				if n := server.Sessions(); n != 2 {
					t.Errorf("%d sessions, want 2", n)
				}
				h.pass(time.Second)
				h.wantTools("demo.a", "demo.b")
				if n := server.Count("resources/subscribe"); n != 2 {
					t.Errorf("subscribed %d times, want 2", n)
				}
				s := h.wantState("demo", Ready)
				if s.Restarts != 0 || len(h.ofKind(SignalCrashed)) > 0 {
					t.Errorf("%d restarts, %d crashes", s.Restarts, len(h.ofKind(SignalCrashed)))
				}
			})
		}
	}
}

// N01: another server at the same place is another session, and the call is
// made with it.
func TestN01AServerThatIsNotTheSameIsStartedAnew(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		script := "tool a\non initialize run 2+\n  reply default {\"serverInfo\":{\"version\":\"2.0.0\"}}"
		_, server := h.remote("demo", script, "strict\nno stream")
		h.open()
		h.wantReason("demo", "1.0.0")
		server.Forget()
		wantOK(t, h.call("demo.a", ""), "{}")
		h.wantReason("demo", "2.0.0")
	})
}

// L10: a call wakes a server that is up again, however long its next turn is away.
func TestL10ACallWakesARemoteServer(t *testing.T) {
	for _, how := range []string{"", "answers legacy"} {
		inHouse(t, func(t *testing.T, h *house) {
			_, server := h.remote("demo", "tool a", how)
			h.open()
			server.Down()
			synctest.Wait() // what was sent on a connection that breaks meanwhile may have arrived
			wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "restarting", "connection refused", "Check that it runs")
			h.pass(20 * time.Minute)
			s := h.wantState("demo", Restarting) // it is never given up
			h.wantReason("demo", "cannot be reached: connect: connection refused", "tried again in")
			if s.PID != 0 {
				t.Errorf("pid %d", s.PID)
			}
			h.wantTools("demo.a") // and stays listed
			server.Up()
			for _, end := range []<-chan call.Result{h.calling("demo.a", ""), h.calling("demo.a", ""), h.calling("demo.a", "")} {
				wantOK(t, <-end, "{}")
			}
			h.wantState("demo", Ready)
			before := server.Count("initialize")
			h.pass(time.Hour)
			if n := server.Count("initialize"); n != before {
				t.Errorf("%d handshakes while it was idle", n-before)
			}
		})
	}
}

// A server that is down at the start comes when it is up, without anybody's help.
func TestARemoteServerThatIsDownAtTheStart(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		_, server := h.remote("demo", "tool a", "")
		server.Down()
		h.app("local", "tool b")
		h.open()
		h.wantState("local", Ready)
		h.wantState("demo", Restarting)
		h.pass(time.Hour)
		tries := h.ofKind(SignalFault)
		if n := len(tries); n < 12 || n > 30 {
			t.Errorf("%d attempts within an hour", n)
		}
		server.Up()
		h.pass(7 * time.Minute)
		h.wantState("demo", Ready)
		h.wantTools("demo.a", "local.b")
	})
}

// An idle app notices that its server is gone.
func TestAnIdleRemoteAppNoticesThatItsServerIsGone(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		_, server := h.remote("demo", "tool a", "no stream")
		h.open()
		server.Down()
		h.pass(31 * time.Second)
		h.wantState("demo", Restarting)
		server.Up()
		h.pass(time.Minute)
		h.wantState("demo", Ready)
	})
}

// With a stream it notices within seconds.
func TestARemoteAppWithAStreamNoticesSoon(t *testing.T) {
	for _, how := range []string{"", "answers legacy"} {
		inHouse(t, func(t *testing.T, h *house) {
			_, server := h.remote("demo", "tool a", how)
			h.open()
			server.Down()
			h.pass(3 * time.Second)
			h.wantState("demo", Restarting)
			server.Up()
			h.pass(10 * time.Second)
			h.wantState("demo", Ready)
			wantOK(t, h.call("demo.a", ""), "{}")
		})
	}
}

// A connection that cannot be opened fails one call; those that are open live.
func TestARefusedConnectionHurtsNobodyElse(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		_, server := h.remote("demo", "tool slow\ntool a\non tools/call slow\n  sleep 10s\n  reply text done", "no stream")
		h.open()
		slow := h.calling("demo.slow", "")
		synctest.Wait()
		full := true
		h.block = func() error {
			if full {
				return fmt.Errorf("connect: too many connections")
			}
			return nil
		}
		h.pass(5 * time.Second) // idle connections are gone
		wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "too many connections", "nothing was done")
		full = false
		wantOK(t, <-slow, "done")
		h.wantState("demo", Ready)
		if server.Sessions() != 1 {
			t.Errorf("%d sessions", server.Sessions())
		}
	})
}

// N09: a server that wants other credentials: the state says what to do, no
// secret is shown, and a new configuration tries again.
func TestN09CredentialsThatAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		headers   map[string]string
		sources   map[string][]string
		says      []string
	}{
		{"none were given", "on POST\n  status 401", nil, nil,
			[]string{"HTTP 401 Unauthorized", "It was sent no credentials", `headers: {Authorization: "Bearer ${TOKEN}"}`, "aurora apps restart demo"}},
		{"a token that is wrong", "on POST\n  header Www-Authenticate Bearer error=\"invalid_token\"\n  status 401 wrong token", map[string]string{"Authorization": "Bearer s3cr3t-s3cr3t"}, map[string][]string{"Authorization": {"${DEMO_TOKEN}"}},
			[]string{"Bearer: invalid_token: wrong token", "It was sent Authorization from ${DEMO_TOKEN}", "aurora apps restart demo"}},
		{"forbidden", "on POST\n  status 403", map[string]string{"X-Key": "s3cr3t-s3cr3t"}, nil,
			[]string{"HTTP 403 Forbidden", "It was sent X-Key"}},
		{"of a stream", "answers legacy\non GET\n  status 401", nil, nil, []string{"HTTP 401 Unauthorized"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				c, server := h.remote("demo", "tool a", tc.how)
				c.MCP.Headers, c.MCP.HeaderSources = tc.headers, tc.sources
				h.open()
				h.wantState("demo", AuthRequired)
				h.wantReason("demo", tc.says...)
				if s, _ := h.AppStatus("demo"); strings.Contains(s.Reason, "s3cr3t") {
					t.Errorf("a secret is shown: %s", s.Reason)
				}
				before := server.Count("POST") + server.Count("GET")
				h.pass(time.Hour)
				if n := server.Count("POST") + server.Count("GET") - before; n > 0 {
					t.Errorf("it was asked %d times more", n)
				}
				wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "auth required", tc.says[0])
			})
		})
	}
}

// A secret that begins in what is shown of an answer and ends behind it.
func TestASecretAtTheEdgeOfAPageIsMasked(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		secret := "correct-horse-" + strings.Repeat("battery-", 20)
		h.opt.Redact = redact.New(secret)
		h.remote("demo", "tool a", "on POST\n  status 401 "+strings.Repeat("x", 100)+secret)
		h.open()
		h.wantReason("demo", "x•••")
		if s, _ := h.AppStatus("demo"); strings.Contains(s.Reason, "correct") {
			t.Errorf("a part of a secret is shown: %s", s.Reason)
		}
	})
}

// N09: credentials that are refused later: the call says so, and so does the
// state when the whole server refuses them, not when it is one tool.
func TestN09CredentialsThatExpire(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		says      string
		state     State
	}{
		{"a session", "on tools/call\n  status 401\non initialize #2+\n  status 401 expired", "HTTP 401 Unauthorized: expired", AuthRequired},
		{"without sessions", "stateless\non tools/call\n  status 401\non ping\n  status 401\non initialize #2+\n  status 401 expired", "HTTP 401", AuthRequired},
		{"forbidden", "on tools/call\n  status 403 not you\non ping\n  status 403 not you", "HTTP 403 Forbidden: not you", AuthRequired},
		{"one tool", "on tools/call\n  status 403 not this", "HTTP 403 Forbidden: not this", Ready},
		{"one tool, without sessions", "stateless\non tools/call\n  status 401 not this", "HTTP 401 Unauthorized: not this", Ready},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.remote("demo", "tool a", "no stream\n"+tc.how)
				h.open()
				h.wantState("demo", Ready)
				wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, tc.says)
				synctest.Wait()
				h.wantState("demo", tc.state)
			})
		})
	}
}

// What HTTP says to one call is the end of that call, in words that help.
func TestStatusOfACall(t *testing.T) {
	for _, tc := range []struct {
		step    string
		outcome call.Outcome
		code    call.Code
		retry   bool
		says    []string
	}{
		{"status 500 oops", call.Unknown, call.OutcomeUnknown, false, []string{"HTTP 500 Internal Server Error: oops", "was not repeated"}},
		{"status 503", call.Unavailable, call.AppUnavailable, true, []string{"HTTP 503", "It may be tried again later"}},
		{"header Retry-After 90\n  status 429", call.Unavailable, call.AppBusy, true, []string{"HTTP 429 Too Many Requests", "tried again in 1m30s"}},
		{"status 400 bad", call.ProtocolError, call.ProtocolFault, false, []string{"HTTP 400 Bad Request: bad"}},
		{"status 413", call.ProtocolError, call.ProtocolFault, false, []string{"HTTP 413"}},
		{"redirect 302 /login?s=1", call.Unavailable, call.AppUnavailable, false, []string{"redirects to http://demo.example/login?…", "write it as url"}},
		{"page text/html <html>login</html>", call.ProtocolError, call.ProtocolFault, false, []string{"<html>login</html>"}},
		{"break", call.Unknown, call.OutcomeUnknown, false, []string{"was lost", "was not repeated"}},
		{"hang", call.Timeout, call.CallTimeout, false, []string{"did not answer within 30s"}},
	} {
		t.Run(tc.step, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				_, server := h.remote("demo", "tool a", "on tools/call #1\n  "+tc.step)
				h.open()
				r := h.call("demo.a", "")
				wantEnd(t, r, tc.outcome, tc.code, tc.says...)
				if r.Err.Retryable != tc.retry {
					t.Errorf("retryable: %v", r.Err.Retryable)
				}
				h.wantState("demo", Ready)
				wantOK(t, h.call("demo.a", ""), "{}")
				if server.Sessions() != 1 || server.Count("tools/call") != 2 {
					t.Errorf("%d sessions, %d calls", server.Sessions(), server.Count("tools/call"))
				}
			})
		})
	}
}

// A server that does not answer the handshake as it should: the reason says what
// and what to do, and it is tried again.
func TestReasonsOfARemoteServer(t *testing.T) {
	for _, tc := range []struct {
		name, how string
		state     State
		says      []string
	}{
		{"not there", "on POST\n  status 404 no such page", Restarting, []string{"HTTP 404 Not Found: no such page", "Check the path of its url", "transport: sse", "tried again in"}},
		{"of another time", "answers legacy\non GET\n  status 405", Restarting, []string{"HTTP 405", "transport: streamable-http"}},
		{"moved", "on POST\n  redirect 301 https://demo.example/mcp", Restarting, []string{"HTTP 301 redirects to https://demo.example/mcp", "write it as url in apps/config.yml"}},
		{"nowhere", "on POST\n  status 307", Restarting, []string{"HTTP 307", "a redirect without a place"}},
		{"a proxy", "on POST\n  status 407", Restarting, []string{"HTTP 407", "HTTPS_PROXY"}},
		{"a page", "on POST\n  page text/html <html>hello</html>", Restarting, []string{"does not speak MCP there", "<html>hello</html>"}},
		{"overloaded", "on POST\n  status 429", Restarting, []string{"HTTP 429", "less often"}},
		{"silent", "on POST\n  hang", Restarting, []string{"initialize timed out after 10s", "its url"}},
		{"silent at its lists", "on tools/list\n  hang", Restarting, []string{"tools/list timed out after 10s"}},
		{"breaks off", "on POST\n  break", Restarting, []string{"broke off", "must begin with https://"}},
		{"another version", "on initialize\n  page application/json {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\"}}", Unavailable, []string{"1999-01-01"}},
		{"an error", "on initialize\n  page application/json {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no database\"}}", Restarting, []string{"refused initialize: no database"}},
		{"not initialized", "on notifications/initialized\n  status 500", Restarting, []string{"HTTP 500"}},
		{"a stream that says nothing", "answers legacy\non GET\n  stay", Restarting, []string{"initialize timed out after 10s: the server's stream has named no endpoint to post to.", "its url"}},
		{"elsewhere", "answers legacy\nendpoint https://evil.example/x", Restarting, []string{"https://evil.example/x?…, which is another origin"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.remote("demo", "tool a", tc.how)
				h.open()
				h.pass(11 * time.Second)
				s, _ := h.AppStatus("demo")
				for s.State == Starting {
					h.pass(time.Second)
					s, _ = h.AppStatus("demo")
				}
				h.wantState("demo", tc.state)
				h.wantReason("demo", tc.says...)
			})
		})
	}
}

// Peers row 20: a stream that breaks again and again leaves the app ready.
func TestABrokenStreamLeavesTheAppReady(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		_, server := h.remote("demo", "tool a", "stream ends after 100ms")
		h.open()
		for range 60 {
			wantOK(t, h.call("demo.a", ""), "{}")
			h.pass(10 * time.Second)
		}
		if n := server.Count("tools/list"); n > 40 {
			t.Errorf("lists were read %d times in ten minutes", n)
		}
		if n := len(h.ofKind(SignalCrashed)); n > 0 {
			t.Errorf("%d crashes", n)
		}
	})
}

// Stopping an app is bounded, also if its server does not take the end.
func TestStoppingARemoteApp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		_, server := h.remote("demo", "tool a", "on DELETE\n  hang")
		h.open()
		began := time.Now()
		if err := h.StopApp(t.Context(), "demo"); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("it took %v", d)
		}
		h.wantState("demo", Stopped)
		if server.Count("DELETE") != 1 {
			t.Error("the server was not told")
		}
		wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "stopped")
	})
}
