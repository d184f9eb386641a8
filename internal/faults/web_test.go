package faults

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/testkit"
)

// webPrefix begins the sections that put a server behind HTTP.
const webPrefix = "http: "

// wires are the ways on which a section "steps everywhere" is played, and how
// servers behave on them that have no section of their own.
var wires = []struct{ name, http string }{
	{"", ""},
	{"http", "strict"},
	{"http with events", "strict\nanswers sse\nnumbered\ncomments\nlines crlf"},
	{"http+sse", "answers legacy\nlines crlf"},
}

// A webServer is a server over HTTP. It runs in this process; each session has
// a run of its script.
type webServer struct {
	*testkit.HTTPServer
	legacy bool

	mu    sync.Mutex // guards peers
	peers []*testkit.Peer
}

// serve puts a server behind HTTP and returns its entry in apps/config.yml.
func (s *stage) serve(name, text string, line int) string {
	script, err := s.archive.Server(name)
	s.must(err)
	how, err := testkit.ParseHTTP(s.archive.Path, text, line)
	s.must(err)
	server := &webServer{legacy: strings.Contains(text, "answers legacy")}
	server.HTTPServer = testkit.ListenHTTP(s.t, server.connector(s.t, script), how)
	if s.web == nil {
		s.web = map[string]*webServer{}
	}
	s.web[name] = server
	transport := "streamable-http"
	if server.legacy {
		transport = "sse"
	}
	return fmt.Sprintf("  %q: {mcp: {transport: %s, url: \"${%s}\"}}\n", name, transport, addressOf(name))
}

// addressOf is the variable that holds the URL of a server.
func addressOf(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_URL"
}

func (s *stage) addresses() []string {
	var all []string
	for name, server := range s.web {
		all = append(all, addressOf(name)+"="+server.URL)
	}
	return all
}

// rewire makes apps remote whose command is a server that is served over HTTP on
// this wire.
func (s *stage) rewire() {
	for _, app := range s.conf.Apps {
		if len(app.MCP.Command) == 0 {
			continue
		}
		if server := s.web[filepath.Base(app.MCP.Command[0])]; server != nil {
			app.MCP.Transport, app.MCP.Command, app.MCP.URL = config.StreamableHTTP, nil, server.URL
			if server.legacy {
				app.MCP.Transport = config.SSE
			}
		}
	}
}

// serverStep does what a "server" step says.
func (s *stage) serverStep(args string) error {
	name, verb, _ := strings.Cut(args, " ")
	server := s.web[name]
	if server == nil {
		return fmt.Errorf("no server %q over HTTP", name)
	}
	switch verb {
	case "forget":
		server.Forget()
	case "stop":
		server.Down()
	case "start":
		server.Up()
	default:
		return fmt.Errorf("a server takes forget, stop and start")
	}
	return nil
}

// serverOf returns the server over HTTP that an app is about; nil: none.
func (s *stage) serverOf(app *config.App) *webServer {
	u, err := url.Parse(app.MCP.URL)
	if err != nil {
		return nil
	}
	for _, server := range s.web {
		if at, err := url.Parse(server.URL); err == nil && at.Host == u.Host {
			return server
		}
	}
	return nil
}

// webRecord is what a server over HTTP has seen, as the record of a process has it.
func (s *stage) webRecord(app *config.App) []testkit.Event {
	server := s.serverOf(app)
	if server == nil {
		return nil
	}
	var events []testkit.Event
	for n := range server.Sessions() {
		events = append(events, testkit.Event{Kind: "start", Run: n + 1})
	}
	for _, r := range server.Requests() {
		if r.Verb == "POST" {
			events = append(events, testkit.Event{Kind: "received", Message: []byte(r.Body)})
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, p := range server.peers {
		for _, e := range p.Events() {
			if e.Kind != "start" && e.Kind != "received" {
				events = append(events, e)
			}
		}
	}
	return events
}

// connector runs a script for each session.
func (w *webServer) connector(t *testing.T, script *testkit.Script) testkit.Connector {
	return func(n int) (io.Reader, io.WriteCloser) {
		p := testkit.StartRun(t, script, n)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.peers = append(w.peers, p)
		return p.Out, p.In
	}
}

// release opens a gate in all runs.
func (w *webServer) release(gate string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.peers {
		p.Release(gate)
	}
}

// webField returns what only servers over HTTP have.
func (s *stage) webField(key, what string) (string, bool) {
	server := s.serverOf(s.conf.App(key))
	if server == nil {
		return "", false
	}
	switch what {
	case "sessions":
		return strconv.Itoa(server.Sessions()), true
	case "verbs":
		var verbs []string
		for _, r := range server.Requests() {
			verbs = append(verbs, r.Verb)
		}
		return strings.Join(verbs, ", "), true
	}
	return "", false
}
