package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// remote works out URL and headers of a remote server.
func (w *wiring) remote(headers map[string]string) {
	m := &w.app.MCP
	m.Headers = headers
	m.HeaderSources = w.headerSources()
	w.certificates()
	l := first(w.layers, "url")
	if l == nil {
		w.missing("url", "write the address of the server")
		return
	}
	at := l.path("url")
	value, faults := w.expand.expand(l.conn.URL)
	if w.faults(l.src, at, faults) {
		return
	}
	value = strings.TrimSpace(value)
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		hint := "it looks like https://host/mcp"
		if err == nil && u.Scheme == "" && value != "" {
			hint = "it begins with https:// or http://"
		}
		w.problem(l.src, at, "is not an address", hint)
		return
	}
	addURLSecrets(w.config.Redact, u)
	switch strings.ToLower(u.Scheme) {
	case "https":
	case "http":
		if !m.Insecure && !isLoopback(u.Hostname()) {
			w.problem(l.src, at, "http:// to another machine can be read and changed on the way", "write https://, or insecure: true if the way is safe")
		}
	case "ws", "wss":
		w.problem(l.src, at, "MCP is not spoken over WebSocket", "ask for the server's http address")
	default:
		w.problem(l.src, at, fmt.Sprintf("unknown scheme %s://", u.Scheme), "write https:// or http://")
	}
	m.URL = value
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ownHeaders are set by Aurora in each request, by the rules of MCP and HTTP.
var ownHeaders = []string{
	"accept", "connection", "content-length", "content-type", "host", "last-event-id",
	"mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "transfer-encoding",
}

// headers joins and expands the headers of all layers, by canonical spelling.
func (r *reader) headers(d *draft, layers []*layer) map[string]string {
	w := wiring{reader: r, draft: d, layers: layers, silent: !r.runs(d)}
	joined := map[string]string{}
	for _, l := range slices.Backward(layers) {
		spelled := map[string]string{}
		for _, name := range sortedKeys(l.conn.Headers) {
			at := l.path("headers") + "." + name
			folded := strings.ToLower(name)
			if other, twice := spelled[folded]; twice {
				l.src.problemAtKey(at, fmt.Sprintf("is the same header as %q", other), "keep one of the two")
				continue
			}
			spelled[folded] = name
			switch {
			case !isHeaderName(name):
				l.src.problemAtKey(at, "is not the name of a header", "a name has letters, digits and - only")
				continue
			case slices.Contains(ownHeaders, folded):
				l.src.report(l.src.keys[at], at, "is set by Aurora itself; this one is not sent", "", true)
				continue
			}
			value, faults := w.expand.expand(l.conn.Headers[name])
			if w.faults(l.src, at, faults) {
				continue
			}
			addHeaderSecret(r.config.Redact, name, value)
			value = strings.TrimSpace(value)
			if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				w.problem(l.src, at, "the value holds a line end or another control character", "")
				continue
			}
			for present := range joined {
				if strings.EqualFold(present, name) {
					delete(joined, present)
				}
			}
			joined[name] = value
		}
	}
	if len(joined) == 0 {
		return nil
	}
	return joined
}

// headerSources names what the values of headers are put together from.
func (w *wiring) headerSources() map[string][]string {
	var sources map[string][]string
	for name := range w.app.MCP.Headers {
		for _, l := range w.layers {
			text, written := "", false
			for spelled, value := range l.conn.Headers {
				if strings.EqualFold(spelled, name) {
					text, written = value, true
				}
			}
			if !written {
				continue
			}
			if names := expansions(text); names != nil {
				if sources == nil {
					sources = map[string][]string{}
				}
				sources[name] = names
			}
			break
		}
	}
	return sources
}

// isHeaderName knows the tokens of RFC 9110, section 5.6.2.
func isHeaderName(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}
