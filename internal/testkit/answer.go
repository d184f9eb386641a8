package testkit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An rpcError is an answer that says no.
type rpcError struct {
	code    int64
	message string
	data    json.RawMessage
}

func (e *rpcError) Error() string { return e.message }

// versions are the protocol versions a right server of the handshake era speaks.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// answer returns the right result for a request. With asked set, a script asked
// for it, so that a tool which is not offered is no error.
func (s *server) answer(m *message, asked bool) (json.RawMessage, error) {
	switch m.Method {
	case "initialize":
		return s.initialize(m)
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return s.list(m, tools)
	case "resources/list":
		return s.list(m, resources)
	case "resources/templates/list":
		return s.list(m, templates)
	case "prompts/list":
		return s.list(m, prompts)
	case "tools/call":
		if !asked && !s.offers(tools, m.name) {
			return nil, &rpcError{code: -32602, message: "Unknown tool: " + m.name}
		}
		args := dig(m.Params, "arguments")
		if args == nil {
			args = []byte("{}")
		}
		return encode(map[string]any{"content": []any{map[string]string{"type": "text", "text": string(args)}}})
	case "resources/read":
		if !asked && !s.offers(resources, m.name) {
			return nil, &rpcError{code: -32002, message: "Resource not found", data: dig(m.Params, "")}
		}
		return encode(map[string]any{"contents": []any{map[string]string{"uri": m.name, "mimeType": "text/plain", "text": "content of " + m.name}}})
	case "prompts/get":
		if !asked && !s.offers(prompts, m.name) {
			return nil, &rpcError{code: -32602, message: "Unknown prompt: " + m.name}
		}
		return encode(map[string]any{"messages": []any{map[string]any{
			"role": "user", "content": map[string]string{"type": "text", "text": "prompt " + m.name}}}})
	case "completion/complete":
		return json.RawMessage(`{"completion":{"values":[],"total":0,"hasMore":false}}`), nil
	}
	return nil, &rpcError{code: -32601, message: "Method not found: " + m.Method}
}

func (s *server) initialize(m *message) (json.RawMessage, error) {
	version := string(value{json: dig(m.Params, "protocolVersion")}.asText())
	if !slices.Contains(versions, version) {
		version = versions[len(versions)-1]
	}
	return encode(map[string]any{
		"protocolVersion": version,
		"capabilities":    s.capabilities(),
		"serverInfo":      map[string]string{"name": s.script.Name, "version": "1.0.0"},
	})
}

// capabilities declares what the script offers or handles.
func (s *server) capabilities() map[string]any {
	handled := func(prefix string) bool {
		return slices.ContainsFunc(s.script.handlers, func(h *handler) bool {
			return h.on == onMessage && strings.HasPrefix(h.method, prefix)
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	caps := map[string]any{}
	if len(s.items[tools]) > 0 || handled("tools/") {
		caps["tools"] = map[string]bool{"listChanged": true}
	}
	if len(s.items[resources])+len(s.items[templates]) > 0 || handled("resources/") {
		caps["resources"] = map[string]bool{"listChanged": true, "subscribe": true}
	}
	if len(s.items[prompts]) > 0 || handled("prompts/") {
		caps["prompts"] = map[string]bool{"listChanged": true}
	}
	if handled("completion/") {
		caps["completions"] = struct{}{}
	}
	if handled("logging/") {
		caps["logging"] = struct{}{}
	}
	return caps
}

func (s *server) offers(kind itemKind, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.items[kind], func(i item) bool { return i.name == name })
}

// list returns one page.
func (s *server) list(m *message, kind itemKind) (json.RawMessage, error) {
	s.mu.Lock()
	all := slices.Clone(s.items[kind])
	s.mu.Unlock()
	from := 0
	if cursor := string(value{json: dig(m.Params, "cursor")}.asText()); cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n > len(all) {
			return nil, &rpcError{code: -32602, message: fmt.Sprintf("Invalid cursor: %q", cursor)}
		}
		from = n
	}
	to := len(all)
	if s.script.page > 0 {
		to = min(from+s.script.page, len(all))
	}
	// The items go in as they are: some are wrong on purpose, and all are exact.
	b := fmt.Appendf(nil, `{"%s":[`, kind.listKey())
	for i, it := range all[from:to] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, it.json...)
	}
	b = append(b, ']')
	if to < len(all) {
		b = fmt.Appendf(b, `,"nextCursor":"%d"`, to)
	}
	return append(b, '}'), nil
}
