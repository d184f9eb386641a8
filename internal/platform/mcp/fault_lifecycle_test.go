package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The tests of this file are the rows of the area "lifecycle" of the field
// faults that concern one session.

// S14: notifications before the initialize answer.
func TestS14NotificationsBeforeTheAnswerAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		p, tr := newPeer(t)
		s := p.join(tr, Options{OnNotification: func(method string, params []byte) {
			seen = append(seen, method+string(params))
		}}, func() {
			m := p.next("initialize")
			p.say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
			p.say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
			p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"warming up"}}`)
			p.answer(m, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}`)
			p.next("notifications/initialized")
		})
		equal(t, "seen", strings.Join(seen, " "), "notifications/resources/list_changed notifications/resources/list_changed "+
			`notifications/message{"level":"info","data":"warming up"}`)
		equal(t, "version", s.Info().ProtocolVersion, "2025-11-25")
	})
}

// L01: a server that never answers initialize.
func TestL01ASilentServerIsGivenUpAtTheDeadline(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit time.Duration // of the context; 0: none
		soft  time.Duration
		ends  time.Duration
	}{
		{"of the context", 2 * time.Second, 0, 2 * time.Second},
		{"of the context, even a long one", time.Minute, time.Second, time.Minute},
		{"of the session", 0, 10 * time.Second, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, tr := newPeer(t)
				ctx := t.Context()
				if tc.limit > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, tc.limit)
					defer stop()
				}
				began := time.Now()
				_, err := Connect(ctx, tr, Options{SoftTimeout: tc.soft})
				wantKind(t, err, Timeout, true)
				equal(t, "ended after", time.Since(began), tc.ends)

				// initialize must not be cancelled, and the pipe is closed.
				p.next("initialize")
				<-p.deaf
				p.silent()
			})
		})
	}
}

// L01: a server that goes away instead of answering.
func TestL01AServerThatExitsInsteadOfAnsweringIsGivenUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tr := newPeer(t)
		go func() {
			p.next("initialize")
			p.out.Close()
		}()
		_, err := Connect(t.Context(), tr, Options{})
		wantKind(t, err, Closed, true)
		contains(t, err.Error(), "EOF")
	})
}

// L03: the server offers another version.
func TestL03VersionsAreNegotiated(t *testing.T) {
	for _, tc := range []struct {
		name     string
		protocol string // ours
		answer   string // the protocolVersion of the server's answer
		accepted string
		peer     string // in the VersionError
	}{
		{name: "the same", answer: `"2025-11-25"`, accepted: "2025-11-25"},
		{name: "an older one", answer: `"2025-06-18"`, accepted: "2025-06-18"},
		{name: "one with batches", answer: `"2025-03-26"`, accepted: "2025-03-26"},
		{name: "the oldest", answer: `"2024-11-05"`, accepted: "2024-11-05"},
		{name: "an unknown one", answer: `"1999-01-01"`, peer: "1999-01-01"},
		{name: "one of the stateless era", answer: `"2026-07-28"`, peer: "2026-07-28"},
		{name: "none", answer: ``, peer: "no version"},
		{name: "a number", answer: `1`, peer: "1"},
		{name: "forced", protocol: "2025-03-26", answer: `"2025-03-26"`, accepted: "2025-03-26"},
		{name: "forced and refused", protocol: "2025-03-26", answer: `"2025-11-25"`, peer: "2025-11-25"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, tr := newPeer(t)
				played := make(chan string)
				go func() {
					m := p.next("initialize")
					member := ""
					if tc.answer != "" {
						member = `"protocolVersion":` + tc.answer + `,`
					}
					p.answer(m, `{`+member+`"capabilities":{}}`)
					played <- m.line
				}()
				s, err := Connect(t.Context(), tr, Options{Protocol: tc.protocol})
				asked := <-played
				if tc.protocol != "" {
					contains(t, asked, `"protocolVersion":"`+tc.protocol+`"`)
				} else {
					contains(t, asked, `"protocolVersion":"2025-11-25"`)
				}
				if tc.accepted != "" {
					if err != nil {
						t.Fatal(err)
					}
					p.closing(s)
					equal(t, "version", s.Info().ProtocolVersion, tc.accepted)
					equal(t, "era", s.Info().Era, "handshake")
					return
				}
				var wrong *VersionError
				if !errors.As(err, &wrong) {
					t.Fatalf("got %v, want a VersionError", err)
				}
				equal(t, "peer", wrong.Peer, tc.peer)
				equal(t, "permanent", wrong.Permanent(), true)
				contains(t, err.Error(), tc.peer)
				contains(t, err.Error(), wrong.Ours[0])
				<-p.deaf // disconnected
				p.silent()
			})
		})
	}
}

// L03: the server refuses the version with an error.
func TestL03ARefusedVersionIsTriedAgainOnce(t *testing.T) {
	refusal := func(m message, code int, supported string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Unsupported protocol version","data":{"supported":%s,"requested":"2025-11-25"}}}`,
			m.ID, code, supported)
	}
	for name, refused := range map[string]func(message) string{
		"in the data": func(m message) string { return refusal(m, -32602, `["2024-11-05","2025-03-26",7]`) },
		"as one text": func(m message) string { return refusal(m, -32602, `"2025-03-26"`) },
		"for people": func(m message) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Unsupported protocol version: 2025-11-25 (supported: 2025-03-26, 2024-11-05)"}}`, m.ID)
		},
	} {
		t.Run("with a common version "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, tr := newPeer(t)
				s := p.join(tr, Options{}, func() {
					p.say("%s", refused(p.next("initialize")))
					m := p.next("initialize")
					contains(t, m.line, `"protocolVersion":"2025-03-26"`)
					p.answer(m, `{"protocolVersion":"2025-03-26","capabilities":{}}`)
					p.next("notifications/initialized")
				})
				equal(t, "version", s.Info().ProtocolVersion, "2025-03-26")
				p.silent()
			})
		})
	}
	t.Run("only once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, tr := newPeer(t)
			go func() {
				p.say("%s", refusal(p.next("initialize"), -32602, `["2024-11-05"]`))
				p.say("%s", refusal(p.next("initialize"), -32602, `["2025-03-26"]`))
			}()
			_, err := Connect(t.Context(), tr, Options{})
			var refused *RPCError
			if !errors.As(err, &refused) || refused.Code != CodeInvalidParams {
				t.Errorf("got %v, want the refusal", err)
			}
		})
	})
	t.Run("without a common version", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, tr := newPeer(t)
			go func() { p.say("%s", refusal(p.next("initialize"), CodeUnsupportedVersion, `["2026-07-28"]`)) }()
			_, err := Connect(t.Context(), tr, Options{})
			var wrong *VersionError
			if !errors.As(err, &wrong) || wrong.Peer != "2026-07-28" || !wrong.Permanent() {
				t.Errorf("got %v, want a VersionError of 2026-07-28", err)
			}
		})
	})
	t.Run("forced versions are not given up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, tr := newPeer(t)
			go func() { p.say("%s", refusal(p.next("initialize"), -32602, `["2024-11-05"]`)) }()
			_, err := Connect(t.Context(), tr, Options{Protocol: "2025-06-18"})
			var wrong *VersionError
			if !errors.As(err, &wrong) || wrong.Peer != "2024-11-05" || len(wrong.Ours) != 1 {
				t.Errorf("got %v, want a VersionError", err)
			}
		})
	})
}

// L03: a server of the stateless era does not know initialize.
func TestL03AStatelessServerIsRecognised(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply string // to server/discover; "" for silence
		peer  string // "" for the refusal itself
	}{
		{"by its discovery", `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`, "2026-07-28"},
		{"by its error", `"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28","2027-01-01"]}}`, "2026-07-28, 2027-01-01"},
		{"not if it does not know that either", `"error":{"code":-32601,"message":"no"}`, ""},
		{"not if it says it speaks ours", `"result":{"supportedVersions":["2026-07-28","2025-11-25"]}`, ""},
		{"not if it is silent", ``, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, tr := newPeer(t)
				go func() {
					p.refuse(p.next("initialize"), CodeMethodNotFound, "Method not found")
					m := p.next("server/discover")
					contains(t, m.line, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`)
					if tc.reply != "" {
						p.say(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, tc.reply)
					}
				}()
				began := time.Now()
				_, err := Connect(t.Context(), tr, Options{})
				if time.Since(began) > discoverTime {
					t.Errorf("took %v", time.Since(began))
				}
				var wrong *VersionError
				var refused *RPCError
				switch {
				case tc.peer == "" && !errors.As(err, &refused):
					t.Errorf("got %v, want the refusal", err)
				case tc.peer != "" && (!errors.As(err, &wrong) || wrong.Peer != tc.peer):
					t.Errorf("got %v, want a VersionError of %s", err, tc.peer)
				}
			})
		})
	}
}

// L05: a strict server waits for notifications/initialized.
func TestL05InitializedComesOnceAndBeforeAnyRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tr := newPeer(t)
		s := p.join(tr, Options{Client: Implementation{Version: "1.2"}}, func() {
			m := p.next("initialize")
			equal(t, "initialize", m.line, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{},"clientInfo":{"name":"aurora","title":"Aurora","version":"1.2"}}}`+"\n")
			p.answer(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)
			equal(t, "initialized", p.next("notifications/initialized").line, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		})
		go func() { p.answer(p.next("tools/list"), `{"tools":[]}`) }()
		if _, err := s.ListTools(t.Context()); err != nil {
			t.Error(err)
		}
		p.silent()
	})
}

// L06: servers that declare little.
func TestL06OnlyDeclaredCapabilitiesAreUsed(t *testing.T) {
	ctx := context.Background()
	for _, capabilities := range []string{`"capabilities":{}`, `"other":1`, `"capabilities":null`, `"capabilities":[]`, `"capabilities":"all"`,
		`"capabilities":{"tools":null,"resources":false,"prompts":"yes"}`} {
		t.Run(capabilities, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, tr := newPeer(t)
				s := p.join(tr, Options{}, func() {
					p.answer(p.next("initialize"), `{"protocolVersion":"2025-11-25",`+capabilities+`}`)
					p.next("notifications/initialized")
				})
				for _, list := range []func(context.Context) (List, error){s.ListTools, s.ListResources, s.ListResourceTemplates, s.ListPrompts} {
					l, err := list(ctx)
					if err != nil || l.Pages != 0 || l.Items != nil {
						t.Errorf("got %v, %v; want nothing", l, err)
					}
				}
				call := func(_ Result, err error) error { return err }
				for _, err := range []error{
					call(s.CallTool(ctx, "f", nil, nil)),
					call(s.ReadResource(ctx, "file:///a", nil)),
					s.Subscribe(ctx, "file:///a"),
					s.Unsubscribe(ctx, "file:///a"),
					call(s.GetPrompt(ctx, "p", nil, nil)),
					call(s.Complete(ctx, Ref{Prompt: "p"}, "a", "v", nil, nil)),
				} {
					var missing *CapabilityError
					if !errors.As(err, &missing) {
						t.Errorf("got %v, want a CapabilityError", err)
					}
				}
				p.silent()
			})
		})
	}
}

// L06: a declared list that the server does not know.
func TestL06AnUnknownOptionalListIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		go func() { p.refuse(p.next("resources/templates/list"), CodeMethodNotFound, "Method not found") }()
		l, err := s.ListResourceTemplates(t.Context())
		if err != nil || l.Pages != 0 {
			t.Errorf("got %v, %v; want an empty list", l, err)
		}
		go func() { p.refuse(p.next("prompts/list"), CodeInternalError, "oops") }()
		var refused *RPCError
		if _, err := s.ListPrompts(t.Context()); !errors.As(err, &refused) || refused.Message != "oops" {
			t.Errorf("got %v, want the error of the server", err)
		}
	})
}

// L12: a call makes the server change its tools.
func TestL12AListCanBeFetchedWhileACallIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		p, s := connect(t, Options{OnNotification: func(method string, _ []byte) {
			if method == "notifications/tools/list_changed" {
				changed <- struct{}{}
			}
		}})
		call := callTool(s, t.Context(), "grow", nil)
		m := p.next("tools/call")
		p.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		<-changed
		go func() {
			p.answer(p.next("tools/list"), `{"tools":[{"name":"grow"},{"name":"extra"}]}`)
			p.answer(m, "{}")
		}()
		l, err := s.ListTools(t.Context())
		if err != nil || len(l.Items) != 2 {
			t.Errorf("got %v, %v; want two tools", l, err)
		}
		(<-call).want(t, "{}")
	})
}
