package call

import (
	"encoding/json"
	"time"
)

// A CallerKind says through which door a call came in.
type CallerKind string

// The kinds of callers.
const (
	Brain   CallerKind = "brain"
	Gateway CallerKind = "gateway"
	CLI     CallerKind = "cli"
	Console CallerKind = "console"
)

// A Caller is who asks for a call. The zero value is nobody and is refused.
type Caller struct {
	Kind CallerKind `json:"kind"`
	// Session is the conversation the call belongs to; empty outside one.
	Session string `json:"session,omitempty"`
	// Sender is the person who first asked, written "package:user_id".
	// It stays the same through a whole turn and through timers made in it.
	Sender string `json:"sender,omitempty"`
}

// A Call asks for one tool call.
type Call struct {
	Caller Caller
	// ID names the call, in the words of whoever makes it, who can so tell the
	// event of its end from others; empty: nobody asks. It is not sent to the
	// app and need not be unique.
	ID string
	// Name is a canonical name, an alias, or an upstream name that is unique
	// among all apps.
	Name string
	// Args is the raw JSON object of arguments; empty means {}. It reaches the
	// server with the same tokens, key order and number text.
	Args json.RawMessage
	// Timeout, if positive, is the whole time this call may take. It replaces
	// the app's soft and hard limits.
	Timeout time.Duration
	// OnProgress, if set, is told of each progress notification of this call.
	// It runs on the session's reader and must not block.
	OnProgress func(Progress)
}

// Progress is one progress notification (MCP 2025-11-25, basic/utilities/progress).
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"` // 0: unknown
	Message  string  `json:"message,omitempty"`
}

// An Outcome is how a call ended. Every call has exactly one.
type Outcome string

// The outcomes of a call.
const (
	OK            Outcome = "ok"
	ToolError     Outcome = "tool_error"     // the result says isError
	Denied        Outcome = "denied"         // policy refused it
	Waiting       Outcome = "waiting"        // an approval is pending
	Expired       Outcome = "expired"        // the approval was not given in time
	Timeout       Outcome = "timeout"        // delivered, no answer before the deadline
	Cancelled     Outcome = "cancelled"      // the caller gave up
	Unknown       Outcome = "unknown"        // delivered, then the peer died
	ProtocolError Outcome = "protocol_error" // a JSON-RPC error, a broken answer, an unknown name, bad arguments
	Unavailable   Outcome = "unavailable"    // the app could not be reached, surely not delivered
)

// A Result is the end of one call.
type Result struct {
	Tool     string        // canonical name; as given when it could not be resolved
	App      string        // key of the app; empty when the name was not resolved
	Outcome  Outcome       // never empty
	Raw      []byte        // the server's own result object, set for OK and ToolError
	Err      *Error        // set for every outcome but OK
	Duration time.Duration // from the entry into host.Call to its end
}
