package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzHTTPAnswer lets a server answer a call with any status, type and body, in
// pieces of any size, and then break off or not. The call ends once, by its
// limit at the latest, with an answer only if there was one, and the session
// goes on.
func FuzzHTTPAnswer(f *testing.F) {
	answer := `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`
	for _, seed := range []struct {
		status   uint16
		kind     string
		body     string
		location string
	}{
		{200, "application/json", answer, ""},
		{200, "text/event-stream", "id: 1\nretry: 10\ndata: " + answer + "\n\n", ""},
		{200, "text/event-stream", "id: 1\ndata:\n\n", ""},
		{200, "text/event-stream; charset=utf-8", ": x\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":2,\"result\":{}}\r\n\r\n", ""},
		{200, "application/json", `[` + answer + `,{"jsonrpc":"2.0","method":"x"}]`, ""},
		{202, "", "", ""},
		{400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`, ""},
		{404, "text/html", "<html>", ""},
		{401, "", "no", ""},
		{307, "", "", "/mcp/"},
		{302, "", "", "https://elsewhere/"},
		{200, "application/json", strings.Repeat("x", 5000), ""},
		{503, "", "busy", ""},
	} {
		f.Add(seed.status, seed.kind, []byte(seed.body), seed.location, uint8(7), true)
	}
	f.Fuzz(func(t *testing.T, status uint16, kind string, body []byte, location string, piece uint8, whole bool) {
		status = 200 + status%400
		if strings.ContainsAny(kind+location, "\r\n") {
			return // they would be other headers
		}
		synctest.Test(t, func(t *testing.T) {
			s := &oddServer{status: int(status), kind: kind, body: body, location: location, piece: int(piece)%50 + 1, whole: whole}
			tr, err := NewStreamableHTTP(HTTPOptions{URL: "http://peer.example/mcp", Dial: s.dial, MaxMessage: 4000})
			if err != nil {
				t.Fatal(err)
			}
			session, err := Connect(t.Context(), tr, Options{})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			result, err := session.CallTool(t.Context(), "odd", nil, &RequestOptions{Whole: 20 * time.Second})
			if time.Since(began) > 20*time.Second {
				t.Error("it took too long")
			}
			var end *CallError
			var refused *RPCError
			switch {
			case err == nil && len(result.Raw) == 0, err != nil && !errors.As(err, &end) && !errors.As(err, &refused):
				t.Errorf("got %s, %v", result.Raw, err)
			case err == nil && !strings.Contains(string(body), "result") && !strings.Contains(string(body), `\u`):
				t.Errorf("an answer from nowhere: %s", result.Raw)
			}
			if session.Err() == nil {
				if _, err := session.CallTool(t.Context(), "even", nil, nil); err != nil {
					t.Errorf("the next call: %v", err)
				}
			}
			equal(t, "in flight", session.Inflight(), 0)
			session.Close(nil)
			session.Wait()
		})
	})
}

// An oddServer answers calls of the tool "odd" oddly, and everything else right.
type oddServer struct {
	status         int
	kind, location string
	body           []byte
	piece          int
	whole          bool
}

func (s *oddServer) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go s.serve(theirs)
	return ours, nil
}

func (s *oddServer) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		var m splitter
		m.scanner = scanner{b: body}
		m.message()
		answer := func(status int, extra, text string) {
			fmt.Fprintf(c, "HTTP/1.1 %d OK\r\n%sContent-Length: %d\r\n\r\n%s", status, extra, len(text), text)
		}
		switch method := string(m.m.Method); {
		case req.Method != http.MethodPost:
			answer(http.StatusMethodNotAllowed, "", "")
		case method == "initialize":
			answer(200, "Mcp-Session-Id: s\r\n", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`, m.m.ID))
		case m.m.ID == nil:
			answer(202, "", "")
		case !strings.Contains(string(body), `"odd"`):
			answer(200, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.m.ID))
		default:
			length := len(s.body)
			if !s.whole {
				length++ // so that the connection breaks off
			}
			if s.status == 204 || s.status == 304 {
				length, s.body = 0, nil
			}
			head := fmt.Sprintf("HTTP/1.1 %d Odd\r\nContent-Type: %s\r\nContent-Length: %d\r\n", s.status, s.kind, length)
			if s.location != "" {
				head += "Location: " + s.location + "\r\n"
			}
			if _, err := io.WriteString(c, head+"\r\n"); err != nil {
				return
			}
			for rest := s.body; len(rest) > 0; {
				n := min(s.piece, len(rest))
				if _, err := c.Write(rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
			if !s.whole {
				return
			}
		}
	}
}
