// Package mcp is one client session with one MCP server: JSON-RPC framing, the
// transports (stdio, Streamable HTTP, HTTP+SSE), version negotiation, requests,
// notifications, progress and cancellation. JSON passes through it raw; nothing of an argument, a result or
// a definition is decoded on the way.
//
// # Promises
//
// Order. Notifications reach Options.OnNotification in the order of the wire,
// and before the answer that follows them on it. Requests go out whole, one
// after the other, in the order in which their callers got the turn. A
// cancellation never overtakes its request.
//
// Blocking. The reader waits for nobody: not for a writer, a caller or a
// handler. Callbacks named On… run on it, one at a time, and must not block:
// while one runs nothing is read. Callers write on their own goroutine and wait
// no longer than their context and limits allow, also when the pipe is full.
// (A caller that reads for itself, see lead.go, notices the end of its context
// up to 5 ms late.) Close waits 100 ms for the server to take the last
// cancellations.
//
// Ends. Every request ends exactly once: with its own answer, an error of the
// server, or a CallError that says whether the request may have been delivered.
// Ids are never used twice, so that a late answer finds nobody. A session is
// over when its transport's source ends or Close is called, never because of
// what a server says.
//
// Ownership. Bytes in a Message and params of a notification are valid only
// during the call that hands them over; a Result belongs to the caller. Bytes
// given to a method are not kept. Connect takes over the transport. A session
// owns a reader goroutine, and others only while there are answers to send, a
// granted request to serve, or a writer that cannot be interrupted; Wait waits
// for all of them.
//
// HTTP. A request is one exchange on its caller's goroutine, for itself: a status,
// an answer that is lost and a stream that breaks end that request and no other.
// Messages come on many streams, one after the other; the order is that of each
// stream. Answers to the server and cancellations are posted on goroutines of
// the transport. What the configuration gives for one origin goes to no other. A
// session that the server has forgotten is begun again, once for all who found
// out; whoever holds lists is told by Renewed.
//
// Fidelity. Tokens, key order and the text of numbers are kept. White space
// around a value goes, and line feeds in what is sent become blanks. Bytes that
// are not UTF-8 become U+FFFD; escapes of lone surrogates stay as they are.
//
// # Seams
//
// Transport is the wire. An era (initialize.go) is the way a
// session begins: the handshake of 2024-11-05 to 2025-11-25 here.
package mcp
