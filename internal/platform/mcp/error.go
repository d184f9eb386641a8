package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is why calls of a session that was closed fail, unless Close was
// given another reason.
var ErrClosed = errors.New("session closed")

// A Kind says why a request has no answer.
type Kind string

// The kinds of a [CallError].
const (
	Timeout     Kind = "timeout"      // the deadline passed
	Cancelled   Kind = "cancelled"    // the caller's context was cancelled
	Closed      Kind = "closed"       // the session is over, or ended meanwhile
	TooLarge    Kind = "too_large"    // the answer was longer than the transport takes
	WriteFailed Kind = "write_failed" // the transport would not take the request
	BadAnswer   Kind = "bad_answer"   // the answer was no answer to this
	Refused     Kind = "refused"      // HTTP said no; Err holds a StatusError or a RedirectError
	Lost        Kind = "lost"         // the connection broke off, of this request alone
	BadRequest  Kind = "bad_request"  // the caller's own JSON is not well-formed
)

// A CallError is the end of a request that got no usable answer.
type CallError struct {
	Kind   Kind
	Method string
	// Delivered is false when surely no byte of the request went out, or the
	// server surely did nothing about it. Only then may it be sent again without
	// doing the work twice.
	Delivered bool
	Err       error // the cause; never nil
}

// Error returns the method and the cause.
func (e *CallError) Error() string { return e.Method + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// An RPCError is a JSON-RPC error, sent by the peer as the answer to a request
// (JSON-RPC 2.0, section 5.1), or returned by a grant's handler for the peer.
type RPCError struct {
	Code    int64 // 0 when the peer sent none that is an integer
	Message string
	Data    json.RawMessage // as sent; nil when absent
}

// Codes of JSON-RPC 2.0, section 5.1, and of MCP.
const (
	CodeInvalidRequest     = -32600
	CodeInvalidParams      = -32602
	CodeMethodNotFound     = -32601
	CodeInternalError      = -32603
	CodeUnsupportedVersion = -32022 // MCP 2026-07-28
)

// Error returns the peer's message and code.
func (e *RPCError) Error() string {
	return fmt.Sprintf("%s (JSON-RPC error %d)", e.Message, e.Code)
}

// parseRPCError reads an error member of any shape.
func parseRPCError(raw []byte) *RPCError {
	e := &RPCError{}
	known := false
	members(raw, func(name, value []byte) {
		switch string(name) {
		case "code":
			e.Code, _, _ = integer(value)
		case "message":
			if value[0] == '"' {
				e.Message, known = unquote(value), true
			}
		case "data":
			if value[0] != 'n' {
				e.Data = bytes.Clone(value)
			}
		}
	})
	if known {
		return e
	}
	if e.Data == nil {
		e.Data = bytes.Clone(raw)
	}
	switch e.Message = "the server sent an error without a message"; {
	case raw[0] == '"':
		e.Message = unquote(raw) // some send nothing but that
	case len(raw) > len("{}"):
		e.Message += ": " + clipString(string(raw))
	}
	return e
}

// A VersionError says that the two sides have no protocol version in common.
// Trying again cannot help before one of them changes.
type VersionError struct {
	Ours []string // what Aurora was ready to speak, newest first
	Peer string   // what the server offered, as it was sent; may name several
}

// Error names both sides.
func (e *VersionError) Error() string {
	return fmt.Sprintf("no common protocol version: the server speaks %s, Aurora speaks %s",
		e.Peer, strings.Join(e.Ours, ", "))
}

// Permanent returns true: a new attempt would end the same way.
func (e *VersionError) Permanent() bool { return true }

// A CapabilityError says that the server did not declare what a method needs,
// so that nothing was sent (MCP 2025-11-25, basic/lifecycle#operation).
type CapabilityError struct {
	Method     string
	Capability string
}

// Error names the method and the capability.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("%s: the server does not declare the capability %q", e.Method, e.Capability)
}
