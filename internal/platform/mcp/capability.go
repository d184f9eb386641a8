package mcp

import "encoding/json"

// Info is what a server said of itself in the handshake.
type Info struct {
	// ProtocolVersion is the version in use, Era the family it belongs to:
	// "handshake".
	ProtocolVersion, Era string
	Capabilities         Capabilities
	Server               Implementation
	Instructions         string
	// Raw is the result of initialize as it was sent.
	Raw json.RawMessage
}

// Capabilities are what a server declared (MCP 2025-11-25, basic/lifecycle).
// One that is null, false or of a wrong type is not declared.
type Capabilities struct {
	Tools, ToolsListChanged                             bool
	Resources, ResourcesListChanged, ResourcesSubscribe bool
	Prompts, PromptsListChanged                         bool
	Logging, Completions                                bool
	// Experimental holds the entries of that name as they were sent.
	Experimental map[string]json.RawMessage
	// Raw is the whole object as it was sent; nil when absent.
	Raw json.RawMessage
}

// parseCapabilities reads what it can of raw.
func parseCapabilities(raw json.RawMessage) Capabilities {
	c := Capabilities{Raw: raw}
	all := object(raw)
	c.Tools, c.ToolsListChanged = declared(all["tools"]), flag(all["tools"], "listChanged")
	c.Resources, c.ResourcesListChanged = declared(all["resources"]), flag(all["resources"], "listChanged")
	c.ResourcesSubscribe = flag(all["resources"], "subscribe")
	c.Prompts, c.PromptsListChanged = declared(all["prompts"]), flag(all["prompts"], "listChanged")
	c.Logging, c.Completions = declared(all["logging"]), declared(all["completions"])
	c.Experimental = object(all["experimental"])
	return c
}

// object splits a JSON object into its members; nil for anything else.
func object(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	members(raw, func(name, value []byte) {
		if m == nil {
			m = map[string]json.RawMessage{}
		}
		m[string(name)] = value
	})
	return m
}

// declared tells whether a capability is there: an object, or true.
func declared(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == 't')
}

func flag(raw []byte, name string) bool {
	return string(object(raw)[name]) == "true"
}

// text reads a string member; "" for anything else.
func stringOf(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return ""
}
