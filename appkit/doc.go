// Package appkit is for people who write an Aurora app in Go. An app is an MCP
// server that speaks over stdin and stdout; appkit lets its author think of
// tools only.
//
// # Promises
//
//   - Nothing is done before the handshake: an app answers initialize as soon
//     as the process runs. Slow work belongs into the first call.
//   - Stdout carries MCP messages only. While an app is served, os.Stdout is
//     os.Stderr, so that a stray fmt.Println becomes a log line instead of a
//     broken message. Logs go to stderr.
//   - A line on stdin that is no message is answered with a JSON-RPC error and
//     skipped; it does not end the session.
//   - Calls run concurrently, each on its own goroutine. A handler's context
//     ends when the client cancels that call, and when the app is stopped.
//   - A handler that panics fails its own call and nothing else.
//   - Serving ends at end of input, at SIGTERM or SIGINT, and when its context
//     is done, always after the handlers have returned. Calls that run at end
//     of input have one second to finish, so that their answers still go out
//     when the requests came from a file.
//   - Arguments are checked against the tool's schema before the handler runs.
//     What does not fit is the JSON-RPC error -32602 (Invalid params), whose
//     data names each field; a handler sees only arguments that fit.
//   - Every result has the one shape of the Aurora design documents (MCP guide,
//     section 15.4): {ok: true, data} or {ok: false, error_code, message,
//     retryable}, with readable text beside it. The tool's outputSchema
//     describes both.
//
// An App and its Tools are plain values; they are not changed by serving them
// and may be served several times at once, as long as their handlers allow it.
package appkit
