package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/testkit"
)

// scripts are the local apps. Those whose names begin with healthy are.
var scripts = map[string]string{
	"healthy-one": "tool echo\ntool big\non tools/call big\n  reply text ${fill:2MiB}\n",
	"healthy-two": "tool echo\ntool again\n",
	"slow": `tool slow
on tools/call slow
  background
    repeat 5
      sleep 20ms
      progress ${i}
    reply default
`,
	"crashing": `tool echo
tool die
start
  background
    sleep 700ms
    stderr it is time
    exit 3
on tools/call die
  exit 1
`,
	"dying-early": "tool echo\nstart\n  stderr ERROR: no key\n  exit 2\n",
	"flooding": `tool flood
tool storm
on tools/call flood
  repeat 300
    notify notifications/message {"level":"error","data":"line ${i}"}
  stderr flood 256KiB
  reply text done
on tools/call storm
  repeat 40
    notify notifications/tools/list_changed
  add tool more
  notify notifications/tools/list_changed
  remove tool more
  reply text done
`,
	"babbling": `tool echo
start
  repeat 500
    stdout loading module ${i} …
before answers
  stdout {"level":"info","msg":"about to answer"}
  raw half a line
  raw "\n"
on tools/call echo
  request "q" ping
  request 7 roots/list
  reply default
  reply text twice
  send {"jsonrpc":"2.0","id":999999,"result":{}}
`,
	"late": `tool late
on tools/call late
  background
    await cancel
    reply default
    reply default
`,
	"torn": `tool torn
tool huge
on tools/call torn
  send {"jsonrpc":"2.0","id":${id},"result":{"content":[
on tools/call huge
  reply text ${fill:33MiB}
`,
	"deaf":   "tool eat\non tools/list\n  reply default\n  stop reading\n",
	"mute":   "on initialize\n  ignore\n",
	"parent": "tool echo\ntool die\nstart\n  fork setsid\n  fork daemon hold stdout\non tools/call die\n  exit 5\n",
}

func healthy(key string) bool { return strings.HasPrefix(key, "healthy") }

// newApps makes the apps, the local ones and one behind HTTP.
func newApps(t *testing.T) []*config.App {
	t.Helper()
	dir := t.TempDir()
	var apps []*config.App
	for key, script := range scripts {
		file := filepath.Join(dir, key)
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		argv, env, err := testkit.Child(file, "")
		if err != nil {
			t.Fatal(err)
		}
		app := newApp(key)
		app.MCP.Transport = config.Stdio
		app.MCP.Command, app.MCP.Env = argv, slices.Concat(os.Environ(), env)
		if key == "mute" {
			app.MCP.HealthTimeout = 300 * time.Millisecond
		}
		apps = append(apps, app)
	}
	for _, key := range []string{"healthy-web", "forgetful-web"} {
		server := httptest.NewServer(&web{moody: !healthy(key), sessions: map[string]bool{}})
		t.Cleanup(server.Close)
		app := newApp(key)
		app.MCP.Transport, app.MCP.URL = config.StreamableHTTP, server.URL+"/mcp"
		apps = append(apps, app)
	}
	slices.SortFunc(apps, func(a, b *config.App) int { return strings.Compare(a.Key, b.Key) })
	return apps
}

func newApp(key string) *config.App {
	app := &config.App{Key: key, Package: key, Enabled: true, Trust: config.TrustNormal}
	app.MCP.HealthTimeout = patience
	app.MCP.CallTimeout, app.MCP.CallMax = 5*time.Second, 20*time.Second
	// An app is tried for ever; a call brings its next start forward.
	app.MCP.Restart = config.Restart{Enabled: true, MaxAttempts: 1 << 30, Backoff: 50 * time.Millisecond}
	return app
}

// unknownApp reports whether an order came while its app was out of the
// configuration.
func unknownApp(err error) bool {
	var e *call.Error
	return errors.As(err, &e) && e.Code == call.AppUnknown
}

// A web is an MCP server over HTTP that remembers nothing but its sessions. A
// moody one forgets them, breaks connections off and answers nonsense.
type web struct {
	moody bool
	posts atomic.Int64

	mu       sync.Mutex // guards what follows
	sessions map[string]bool
	opened   int
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	switch r.Method {
	case http.MethodDelete:
		s.mu.Lock()
		delete(s.sessions, id)
		s.mu.Unlock()
		return
	case http.MethodGet:
		s.listen(w, r)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments json.RawMessage }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m.Method != "initialize" {
		s.mu.Lock()
		known := s.sessions[id]
		if n := s.posts.Add(1); s.moody && n%97 == 0 {
			clear(s.sessions)
		}
		s.mu.Unlock()
		if !known {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if s.moody && m.Method == "tools/call" {
		switch s.posts.Load() % 11 {
		case 3:
			panic(http.ErrAbortHandler)
		case 5:
			http.Error(w, "out of memory", http.StatusInternalServerError)
			return
		case 7:
			fmt.Fprint(w, "<html>log in</html>")
			return
		}
	}
	var result string
	switch m.Method {
	case "initialize":
		s.mu.Lock()
		s.opened++
		id = fmt.Sprint("s", s.opened)
		s.sessions[id] = true
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"web","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = fmt.Sprintf(`{"content":[],"structuredContent":%s}`, m.Params.Arguments)
	default:
		result = "{}"
	}
	if s.posts.Load()%2 == 0 {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": hi\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\r\ndata: \"result\":%s}\r\n\r\n", m.ID, result)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// listen is the stream of GET, on which little comes. That of a moody one breaks
// off.
func (s *web) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for range 10 {
		if flush.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		case <-r.Context().Done():
			return
		}
		if s.moody {
			panic(http.ErrAbortHandler)
		}
	}
}
