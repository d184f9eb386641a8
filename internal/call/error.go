package call

import "encoding/json"

// A Code names a kind of failure. Codes are stable: scripts and people may
// rely on them. Each has a section in docs/errors.md.
type Code string

// The error codes.
const (
	ToolUnknown         Code = "TOOL_UNKNOWN"
	ToolAmbiguous       Code = "TOOL_AMBIGUOUS"
	ToolFailed          Code = "TOOL_FAILED"
	ResourceUnknown     Code = "RESOURCE_UNKNOWN"
	PromptUnknown       Code = "PROMPT_UNKNOWN"
	EventUnknown        Code = "EVENT_UNKNOWN"
	EventBusy           Code = "EVENT_BUSY"
	ArgumentsInvalid    Code = "ARGUMENTS_INVALID"
	PolicyDenied        Code = "POLICY_DENIED"
	TaskRequired        Code = "TASK_REQUIRED"
	CapabilityMissing   Code = "CAPABILITY_MISSING"
	AppUnknown          Code = "APP_UNKNOWN"
	AppUnavailable      Code = "APP_UNAVAILABLE"
	AppBusy             Code = "APP_BUSY"
	BrainUnavailable    Code = "BRAIN_UNAVAILABLE"
	TraceUnknown        Code = "TRACE_UNKNOWN"
	CallTimeout         Code = "CALL_TIMEOUT"
	CallCancelled       Code = "CALL_CANCELLED"
	OutcomeUnknown      Code = "OUTCOME_UNKNOWN"
	MessageTooLarge     Code = "MESSAGE_TOO_LARGE"
	ProtocolFault       Code = "PROTOCOL_ERROR"
	ShuttingDown        Code = "SHUTTING_DOWN"
	ConfigInvalid       Code = "CONFIG_INVALID"
	HomeLocked          Code = "HOME_LOCKED"
	HomeUnwritable      Code = "HOME_UNWRITABLE"
	DaemonUnreachable   Code = "DAEMON_UNREACHABLE"
	UsageInvalid        Code = "USAGE_INVALID"
	Internal            Code = "INTERNAL"
	VersionIncompatible Code = "VERSION_INCOMPATIBLE"
)

// An Error is a failure with a stable code. It is what people and programs get
// to see, so Message says what happened and what to do, and holds no secret.
type Error struct {
	Code      Code   `json:"error_code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	// Data is what the server sent beside its own error, or details of ours.
	Data json.RawMessage `json:"data,omitempty"`
	// RPC is the JSON-RPC code of the server's error; 0 when it was not one.
	RPC int64 `json:"-"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
