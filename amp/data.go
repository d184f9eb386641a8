package amp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The data of the event types that Aurora itself makes or reads. An app's own
// types may hold any JSON value.

// A Message is the data of message.received: somebody said something.
type Message struct {
	// Text is what was said. message_text is read too.
	Text string
	// UserID is who said it, in the words of the app.
	UserID string
	// UserName is how to call the person; empty when the app does not know.
	UserName string
	// GroupID is the group it was said in; empty in private.
	GroupID string
	// IsGroup says whether it was said in a group.
	IsGroup bool
	// Role is the person's role in the group, believed only from apps that may
	// speak for people.
	Role string
}

// UnmarshalJSON reads a message. Ids may be strings or numbers, a missing
// is_group follows from group_id, and unknown fields are passed over.
func (m *Message) UnmarshalJSON(data []byte) error {
	var wire struct {
		Text        *string `json:"text"`
		MessageText string  `json:"message_text"`
		UserID      ident   `json:"user_id"`
		UserName    string  `json:"user_name"`
		GroupID     ident   `json:"group_id"`
		IsGroup     *bool   `json:"is_group"`
		Role        string  `json:"role"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("data of a message: %w", err)
	}
	*m = Message{
		Text:     wire.MessageText,
		UserID:   string(wire.UserID),
		UserName: wire.UserName,
		GroupID:  string(wire.GroupID),
		IsGroup:  wire.GroupID != "",
		Role:     wire.Role,
	}
	if wire.Text != nil {
		m.Text = *wire.Text
	}
	if wire.IsGroup != nil {
		m.IsGroup = *wire.IsGroup
	}
	return nil
}

// MarshalJSON writes a message with text, never message_text.
func (m Message) MarshalJSON() ([]byte, error) {
	return object(nil,
		field{"text", m.Text},
		optional("user_id", m.UserID, m.UserID != ""),
		optional("user_name", m.UserName, m.UserName != ""),
		optional("group_id", m.GroupID, m.GroupID != ""),
		field{"is_group", m.IsGroup},
		optional("role", m.Role, m.Role != ""),
	)
}

// ident is an id that platforms write as a string or as a number.
type ident string

func (id *ident) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		*id = ""
		return nil
	case len(data) > 0 && data[0] == '"':
		return json.Unmarshal(data, (*string)(id))
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("an id must be a string or a number, not %s", excerpt(data))
	}
	*id = ident(n)
	return nil
}

// A ToolEnd is the data of tool.completed and tool.failed: one call ended.
type ToolEnd struct {
	// Tool is the canonical name.
	Tool string `json:"tool"`
	// Caller is the kind of caller: brain, gateway, cli or console.
	Caller string `json:"caller"`
	// Outcome is how the call ended.
	Outcome string `json:"outcome"`
	// DurationMS is how long it took, in milliseconds.
	DurationMS int64 `json:"duration_ms"`
	// Result is the server's own result; absent when there was none.
	Result json.RawMessage `json:"result,omitempty"`
	// Omitted is the size in bytes of a result too large for an event.
	Omitted int `json:"omitted_bytes,omitempty"`
	// ErrorCode and Message say what went wrong.
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message,omitempty"`
	// Retryable says whether the same call may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// CallID names the call; a brain's turn knows its own calls by it.
	CallID string `json:"call_id,omitempty"`
}

// A Lifecycle is the data of the lifecycle types.
type Lifecycle struct {
	// State is the app's state after the change.
	State string `json:"state"`
	// Reason says why, for people.
	Reason string `json:"reason,omitempty"`
	// ProtocolVersion is the MCP version spoken.
	ProtocolVersion string `json:"protocol_version,omitempty"`
	// Server is the serverInfo of the initialize result, as it came.
	Server json.RawMessage `json:"server,omitempty"`
	// Exit is how the process ended; nil for remote apps and running ones.
	Exit *Exit `json:"exit,omitempty"`
	// Stderr holds the last lines a crashed process wrote there, redacted.
	Stderr []string `json:"stderr,omitempty"`
}

// An Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// A CapabilityChange is the data of capability.changed.
type CapabilityChange struct {
	// Kind is tools, resources or prompts.
	Kind string `json:"kind"`
	// Added, Removed and Changed name what differs: canonical tool names,
	// resource URIs, prompt names.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Omitted is how many more names there are, of a very large change.
	Omitted int `json:"omitted,omitempty"`
}

// A Resource is the data of resource.observed.
type Resource struct {
	URI string `json:"uri"`
	// Result is the server's own resources/read result.
	Result json.RawMessage `json:"result,omitempty"`
	// Omitted is the size in bytes of a result too large for an event.
	Omitted int `json:"omitted_bytes,omitempty"`
}

// A Fault is the data of mcp.error: a session failed to begin or broke its
// protocol, or events were lost.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Count says how often, when one event stands for many, and Apps how often
	// by package.
	Count int64            `json:"count,omitempty"`
	Apps  map[string]int64 `json:"apps,omitempty"`
	// Exit and Stderr are those of a process that ended before it was ready.
	Exit   *Exit    `json:"exit,omitempty"`
	Stderr []string `json:"stderr,omitempty"`
}

// A Notification is the data of mcp.notification.*: the notification as it came.
type Notification struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	// Omitted is the size in bytes of params too large for an event.
	Omitted int `json:"omitted_bytes,omitempty"`
}
