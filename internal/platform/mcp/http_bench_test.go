package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// echoHandler answers tools/call with its arguments, as echoChild does.
func echoHandler(sse bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		at := bytes.Index(body, []byte(`"id":`))
		if at < 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		id := body[at+5:]
		id = id[:bytes.IndexByte(id, ',')]
		out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
		if bytes.Contains(body[:min(len(body), 100)], []byte(`"initialize"`)) {
			w.Header().Set("Mcp-Session-Id", "bench")
			out = append(out, `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`...)
		} else {
			args := body[bytes.Index(body, []byte(`"arguments":`))+12:]
			args = args[:bytes.LastIndex(args, []byte(`,"_meta":`))]
			out = append(out, `,"result":{"content":[],"structuredContent":`...)
			out = append(append(out, args...), `,"isError":false}}`...)
		}
		if sse {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: message\ndata: ")
			w.Write(out)
			io.WriteString(w, "\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(out)
	}
}

// BenchmarkCallHTTP compares a call of ours over Streamable HTTP with the least
// that can be done with net/http: one POST, its body read and the result cut
// out of it.
func BenchmarkCallHTTP(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"100B", 80}, {"64KiB", 64 << 10}} {
		args := []byte(`{"text":"` + strings.Repeat("a", size.n) + `"}`)
		b.Run(size.name+"/loop", func(b *testing.B) {
			server := httptest.NewServer(echoHandler(false))
			defer server.Close()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			id := int64(0)
			measure(b, func() {
				id++
				msg := appendCall(nil, id, args)
				res, err := client.Post(server.URL, "application/json", bytes.NewReader(msg))
				if err != nil {
					b.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil {
					b.Fatal(err)
				}
				at := bytes.Index(body, []byte(`"result":`)) + 9
				_ = bytes.Clone(body[at : len(body)-1])
			})
		})
		for _, sse := range []bool{false, true} {
			b.Run(size.name+"/session, "+map[bool]string{false: "json", true: "sse"}[sse], func(b *testing.B) {
				server := httptest.NewServer(echoHandler(sse))
				defer server.Close()
				t, err := NewStreamableHTTP(HTTPOptions{URL: server.URL})
				if err != nil {
					b.Fatal(err)
				}
				s, err := Connect(context.Background(), t, Options{})
				if err != nil {
					b.Fatal(err)
				}
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				measure(b, func() {
					if _, err := s.CallTool(ctx, "echo", args, nil); err != nil {
						b.Fatal(err)
					}
				})
				s.Close(nil)
				s.Wait()
			})
		}
	}
}
