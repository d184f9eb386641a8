package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// Limits that apply where options leave them zero.
const (
	DefaultSoftTimeout = 30 * time.Second
	DefaultHardTimeout = 600 * time.Second
	DefaultListTimeout = 60 * time.Second
)

// Options describe our side of a session. The zero value offers the newest
// version, grants nothing and keeps quiet.
type Options struct {
	// Name is how logs call the peer; the key of the app.
	Name string
	// Protocol is "auto" (or empty) to offer 2025-11-25 and accept any version
	// that is spoken, or the one version to insist on.
	Protocol string
	// Client is what we say we are. An empty name becomes "aurora", an empty
	// title "Aurora", an empty version "dev".
	Client Implementation
	// Grants are what the server may ask of us; by default nothing.
	Grants Grants
	// OnNotification, if set, gets every notification but progress, in the order
	// of the wire, from the moment Connect begins. It runs on the reader's
	// goroutine and must not block; params is nil, or any JSON, and is valid only
	// during the call.
	OnNotification func(method string, params []byte)
	// OnRefused, if set, is told of every request of the server that was
	// answered "method not found". It runs on the reader's goroutine and must
	// not block.
	OnRefused func(method string)
	// Logger gets warnings (once for each kind of oddity) and debug lines; nil
	// discards them. Bodies are never logged.
	Logger *slog.Logger
	// SoftTimeout is how long a request may stay without answer or progress;
	// 30 s if 0. HardTimeout bounds it in any case; 600 s if 0. ListTimeout
	// bounds a whole list, all pages; 60 s if 0.
	SoftTimeout, HardTimeout, ListTimeout time.Duration
}

// An Implementation names a program (MCP 2025-11-25, schema, Implementation).
type Implementation struct {
	Name, Title, Version string
}

// Grants are the client features that a server may use. What is not granted is
// neither declared nor answered.
type Grants struct {
	// Roots, if not nil, are the folders shown to the server (client/roots).
	Roots []Root
	// Sampling, if set, answers sampling/createMessage (client/sampling).
	Sampling Handler
	// Elicitation, if set, answers elicitation/create in form mode
	// (client/elicitation).
	Elicitation Handler
}

// A Root is one folder or file that a server may see.
type Root struct {
	URI  string // file://…
	Name string // for people; may be empty
}

// A Handler answers a request of the server. It runs on a goroutine of its own;
// ctx ends when the server cancels the request and when the session closes.
// params and the result are JSON. An error that is an *RPCError is sent as it
// is, any other as an internal error without its text.
type Handler func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// RequestOptions tune one request. Nil means the limits of the session.
type RequestOptions struct {
	// Soft and Hard replace the session's limits where positive.
	Soft, Hard time.Duration
	// Whole, if positive, is the whole time the request may take, progress or
	// not; Soft and Hard then do not apply.
	Whole time.Duration
	// OnProgress, if set, gets the progress of this request. It runs on the
	// reader's goroutine, must not block, and is not called any more once the
	// request has returned.
	OnProgress func(call.Progress)
}
