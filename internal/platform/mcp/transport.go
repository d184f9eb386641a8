package mcp

import (
	"context"
	"time"
)

// A Transport carries JSON-RPC messages to one peer and back. It is the seam
// between a session and its wire: stdio, and the two over HTTP.
//
// A transport that also has a method Noise() int64 is asked by
// [Session.Stats] how much it could not read. One that has goroutines of its own
// has a method Wait(), for which [Session.Wait] waits.
type Transport interface {
	// Run reads until the peer ends and calls deliver for every message in the
	// order of the wire, one after the other. Deliver does not block; the message
	// is valid only while it runs. Run returns nil when the peer ended or the
	// transport was closed, and then deliver is not called any more. The session
	// calls it once.
	Run(deliver func(*Message)) error

	// Send writes one message on the caller's goroutine. msg is JSON that ends
	// with its only line feed, and belongs to the caller again when Send
	// returns. ctx bounds the write, waiting for a turn included. The error is a
	// *NotDeliveredError when surely no byte of msg reached the peer; after any
	// other error the peer may get msg. Send is safe for concurrent use.
	Send(ctx context.Context, msg []byte) error

	// Close ends sending at once, blocked sends included, and lets Run come to
	// its end. It may be called more than once.
	Close() error
}

// A leader is a transport that lets a caller who waits for an answer do the
// reading. Pair comes before Run, lead after Send.
type leader interface {
	pair(inflight func() int)
	lead(done <-chan struct{}, due time.Time)
}

// An exchanger is a transport on which a request and its answer belong together,
// as in HTTP. Its requests go by exchange and not by Send. Exchange returns nil
// when the answer has been delivered, or will be by Run; an error when none can
// come, as Send does. ctx ends when nobody waits for the answer any more; it has
// no deadline of ours, since progress moves that.
type exchanger interface {
	exchange(ctx context.Context, method string, id int64, msg []byte) error
}

// A NotDeliveredError wraps the error of a Send of which no byte went out.
type NotDeliveredError struct{ Err error }

// Error returns the text of the cause.
func (e *NotDeliveredError) Error() string { return "not delivered: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NotDeliveredError) Unwrap() error { return e.Err }
