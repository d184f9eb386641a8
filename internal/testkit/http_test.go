package testkit

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A browser is a client of the tests, as plain as can be.
type browser struct {
	t      *testing.T
	server *HTTPServer
	client *http.Client
}

func browse(t *testing.T, script, how string) *browser {
	t.Helper()
	s := StartHTTP(t, Each(t, MustParse(t, script)), MustParseHTTP(t, how))
	transport := &http.Transport{DialContext: s.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, s, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// ask makes a request with headers as "Name: value" and returns the answer and its body.
func (b *browser) ask(verb, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), verb, b.server.URL, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res, string(text) + " " + err.Error()
	}
	return res, string(text)
}

const (
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	toCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
)

func TestHTTPServesScriptsBySession(t *testing.T) {
	b := browse(t, "tool echo\non tools/call run 2+\n  reply text again", "")
	res, text := b.ask("POST", hello)
	if res.Header.Get("Mcp-Session-Id") != "session-1" || !strings.Contains(text, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("got %v %s", res.Header, text)
	}
	if res, text := b.ask("POST", toCall, "Mcp-Session-Id: session-1"); res.StatusCode != 200 || !strings.Contains(text, `"text":"{}"`) {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
	b.server.Forget()
	if res, text := b.ask("POST", toCall, "Mcp-Session-Id: session-1"); res.StatusCode != 404 || !strings.Contains(text, "Session not found") {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
	b.ask("POST", hello)
	if _, text := b.ask("POST", toCall, "Mcp-Session-Id: session-2"); !strings.Contains(text, "again") {
		t.Errorf("got %s", text)
	}
	if res, _ := b.ask("DELETE", "", "Mcp-Session-Id: session-2"); res.StatusCode != 204 {
		t.Errorf("got %d", res.StatusCode)
	}
	if n := b.server.Sessions(); n != 2 || b.server.Count("POST") != 5 || b.server.Count("tools/call") != 3 {
		t.Errorf("%d sessions, %d POST", n, b.server.Count("POST"))
	}
	b.server.Down()
	if res, text := b.ask("POST", hello); res != nil || !strings.Contains(text, "connection refused") {
		t.Errorf("got %v %s", res, text)
	}
	b.server.Up()
	if res, _ := b.ask("POST", hello); res == nil || res.StatusCode != 200 {
		t.Errorf("got %v", res)
	}
}

func TestHTTPFramesEvents(t *testing.T) {
	b := browse(t, "tool echo", "answers sse\nlines crlf\ncomments\nnumbered\nretry 250ms\nsplit\npieces 3")
	_, text := b.ask("POST", hello)
	if !strings.HasPrefix(text, "id: r1-0\r\nretry: 250\r\ndata: \r\n\r\n: event\r\n\r\nid: r1-1\r\ndata:{") || !strings.HasSuffix(text, "\r\n\r\n") {
		t.Errorf("got %q", text)
	}
	// What was missed comes again.
	res, text := b.ask("GET", "", "Mcp-Session-Id: session-1", "Last-Event-Id: r1-0")
	if res.StatusCode != 200 || !strings.Contains(text, "id: r1-1\r\n") {
		t.Errorf("got %d %q", res.StatusCode, text)
	}
}

func TestHTTPCountsHeaders(t *testing.T) {
	b := browse(t, "tool echo", "strict")
	plain := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}
	if res, text := b.ask("POST", hello, slices.Concat(plain, []string{"Mcp-Session-Id: x"})...); res.StatusCode != 400 {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
	if res, text := b.ask("POST", hello, plain...); res.StatusCode != 200 {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
	session := slices.Concat(plain, []string{"Mcp-Session-Id: session-1"})
	for _, tc := range []struct {
		status  int
		headers []string
	}{
		{200, slices.Concat(session, []string{"Mcp-Protocol-Version: 2025-11-25"})},
		{400, session},
		{400, slices.Concat(session, []string{"Mcp-Protocol-Version: 2025-11-25", "Mcp-Protocol-Version: 2025-11-25"})},
		{400, slices.Concat(session, []string{"Mcp-Protocol-Version: 2025-06-18"})},
		{400, slices.Concat(session, []string{"Mcp-Session-Id: session-1", "Mcp-Protocol-Version: 2025-11-25"})},
		{400, slices.Concat(plain, []string{"Mcp-Protocol-Version: 2025-11-25"})},
		{400, []string{"Content-Type: application/json", "Mcp-Session-Id: session-1", "Mcp-Protocol-Version: 2025-11-25"}},
	} {
		if res, text := b.ask("POST", toCall, tc.headers...); res.StatusCode != tc.status {
			t.Errorf("%v: got %d %s", tc.headers, res.StatusCode, text)
		}
	}
}

func TestHTTPRules(t *testing.T) {
	b := browse(t, "tool echo", `stateless
on tools/call #1
  header Retry-After 3
  status 429 slow down
on tools/call #2
  page text/html "<p>\n"
on tools/call #3
  redirect 307 /x
on tools/call #4
  break
on tools/call #5
  forget`)
	b.ask("POST", hello)
	if res, text := b.ask("POST", toCall); res.StatusCode != 429 || res.Header.Get("Retry-After") != "3" || text != "slow down" {
		t.Errorf("got %v %s", res, text)
	}
	if res, text := b.ask("POST", toCall); res.Header.Get("Content-Type") != "text/html" || text != "<p>\n" {
		t.Errorf("got %v %s", res, text)
	}
	if res, _ := b.ask("POST", toCall); res.StatusCode != 307 || res.Header.Get("Location") != "/x" {
		t.Errorf("got %v", res)
	}
	if res, text := b.ask("POST", toCall); res != nil {
		t.Errorf("got %v %s", res, text)
	}
	if res, _ := b.ask("POST", toCall); res.StatusCode != 404 {
		t.Errorf("got %v", res)
	}
}

func TestHTTPTextsThatAreWrong(t *testing.T) {
	for _, text := range []string{
		"answers xml", "lines tab", "pieces many", "retry soon", "bogus", "on", "on POST\n  shout", "on POST #x\n  break",
		"on POST\n  status ok", "on POST\n  redirect here", "strict\n  break", "  strict", "forgotten never", "on POST\n  cut after all",
	} {
		if _, err := ParseHTTP("file", text, 1); err == nil || !strings.HasPrefix(err.Error(), "file:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
