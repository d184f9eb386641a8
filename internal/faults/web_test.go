package faults

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/testkit"
)

// webPrefix begins the sections that put a server behind HTTP.
const webPrefix = "http: "

// serve puts a server behind HTTP and returns its entry in apps/config.yml.
func (s *stage) serve(name, text string, line int) string {
	script, err := s.archive.Server(name)
	s.must(err)
	how, err := testkit.ParseHTTP(s.archive.Path, text, line)
	s.must(err)
	if s.web == nil {
		s.web = map[string]*testkit.HTTPServer{}
	}
	s.web[name] = testkit.ListenHTTP(s.t, testkit.Each(s.t, script), how)
	transport := "streamable-http"
	if strings.Contains(text, "answers legacy") {
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
func (s *stage) serverOf(app *config.App) *testkit.HTTPServer {
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
	return events
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
