package config

import (
	"fmt"
	"slices"
	"strings"
)

// readTransport knows every spelling of a transport.
func readTransport(text string) (Transport, bool) {
	switch fold(text) {
	case "stdio":
		return Stdio, true
	case "http", "streamablehttp":
		return StreamableHTTP, true
	case "sse":
		return SSE, true
	}
	return "", false
}

// transport decides how to speak with the app. The entry's own transport counts
// first, then what its command or url implies, then the manifest.
func (r *reader) transport(d *draft, layers []*layer) (Transport, bool) {
	entry, all := layers[:2], layers
	if l := first(entry, "transport"); l != nil {
		return d.named(l, layers)
	}
	command, address := first(entry, "command"), first(entry, "url")
	switch {
	case command != nil && address != nil:
		address.src.problemAtKey(address.path("url"), "the app has a command and a url", "remove one, or say which counts with transport: stdio or transport: streamable-http")
		return "", false
	case command != nil:
		return Stdio, true
	case address != nil:
		if l := first(all, "transport"); l != nil {
			if t, ok := readTransport(l.conn.Transport); ok && t != Stdio {
				return t, true
			}
		}
		return StreamableHTTP, true
	}
	if l := first(all, "transport"); l != nil {
		return d.named(l, layers)
	}
	command, address = first(all, "command"), first(all, "url")
	hasEntry := d.manifest != nil && d.manifest.file.MCP.Entry != ""
	switch {
	case command != nil || hasEntry:
		return Stdio, true
	case address != nil:
		return StreamableHTTP, true
	}
	if !d.misspelled() {
		d.src.report(d.at, "mcp.command", "the app has neither a command nor a url", r.nothingHint(d), false)
	}
	return "", false
}

// misspelled tells whether something is wrong with the app already that may be
// the reason why it has no command or url.
func (d *draft) misspelled() bool {
	return slices.ContainsFunc(*d.src.problems, func(p Problem) bool {
		if p.App != d.key || p.Warning {
			return false
		}
		first, _, _ := strings.Cut(p.Field, ".")
		return p.Message == unknownKey || slices.Contains([]string{"", "mcp", "command", "url", "manifest"}, first)
	})
}

// named reads the transport that a layer names, and warns of what it makes void.
func (d *draft) named(l *layer, layers []*layer) (Transport, bool) {
	t, ok := readTransport(l.conn.Transport)
	if !ok {
		hint := choices(l.conn.Transport, []string{string(Stdio), string(StreamableHTTP), string(SSE)})
		l.src.problem(l.path("transport"), fmt.Sprintf("unknown transport %q", brief(l.conn.Transport)), hint)
		return "", false
	}
	void := "command"
	if t == Stdio {
		void = "url"
	}
	if other := first(layers[:2], void); other != nil {
		at := other.src.keys[other.path(void)]
		other.src.report(at, other.path(void), fmt.Sprintf("has no meaning with transport: %s", l.conn.Transport), "", true)
	}
	return t, true
}

// nothingHint says what to do about an app that says nothing about itself.
func (r *reader) nothingHint(d *draft) string {
	if d.manifest != nil && d.manifest.file.Type == "legacy" {
		return "its manifest says type: legacy, which speaks no MCP"
	}
	var bundled []string
	for _, b := range r.options.Bundled {
		bundled = append(bundled, b.Key)
	}
	if near := nearest(d.key, bundled); near != "" {
		return fmt.Sprintf("did you mean the bundled app %q?", near)
	}
	for _, b := range bundled {
		if strings.HasSuffix(b, "-"+d.key) {
			return fmt.Sprintf("did you mean the bundled app %q?", b)
		}
	}
	return fmt.Sprintf("write mcp.command or mcp.url, or put a manifest at apps/%s/manifest.yaml", d.key)
}
