package importer

import (
	"fmt"
	"strings"
)

// address reads url and headers.
func (e *entry) address() error {
	if v := e.take(urlNames...); v != nil {
		if v.kind != stringKind {
			return fmt.Errorf("its url is %s", v.kind)
		}
		raw := strings.TrimSpace(v.text)
		spans := urlSecrets(raw)
		for _, s := range spans {
			e.example("the url", raw[s.start:s.end])
		}
		var err error
		if e.url, err = e.carve(raw, spans, false); err != nil {
			return fmt.Errorf("url: %w", err)
		}
	}
	v := e.take("headers", "requestHeaders")
	if v == nil {
		return nil
	}
	if v.kind != objectKind {
		return fmt.Errorf("its headers are %s", v.kind)
	}
	for _, m := range v.members {
		if m.value.kind == objectKind || m.value.kind == listKind || m.value.kind == nullKind {
			return fmt.Errorf("the header %s is %s", brief(m.name), m.value.kind)
		}
		value := m.value.text
		var spans []span
		if isSecret(m.name, value) {
			c := credentials(m.name, value)
			spans = []span{c}
			e.example(m.name, value[c.start:])
		}
		p, err := e.carve(value, spans, false)
		if err != nil {
			return fmt.Errorf("header %s: %w", brief(m.name), err)
		}
		e.headers = append(e.headers, named{m.name, p})
	}
	return nil
}

// reach decides how to speak with a remote server.
func (e *entry) reach(transport string) error {
	url := ""
	for _, part := range e.url {
		url += part.literal
	}
	if scheme, _, ok := strings.Cut(e.url[0].literal, ":"); e.url[0].literal != "" && (!ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")) {
		return fmt.Errorf("its url does not begin with https:// or http://")
	}
	path, _, _ := strings.Cut(url, "?")
	switch {
	case transport == "sse":
		e.transport = "sse"
	case transport == "" && strings.HasSuffix(strings.TrimSuffix(path, "/"), "/sse"):
		e.transport = "sse"
		e.note("its url ends with /sse, so it is spoken to in the old way (transport: sse)")
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(url), "http://"); ok && !isLocal(rest) {
		e.insecure = true
		e.note("its url begins with http://, so everybody on the way can read along; write https:// if the server knows it")
	}
	return nil
}

// isLocal tells whether a URL without its scheme is of this machine.
func isLocal(rest string) bool {
	host := rest
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(inner, "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	return host == "" || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
