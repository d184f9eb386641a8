// Package control is the door through which commands and consoles speak with
// a house that runs.
//
// A [House] is everything they may ask. It has two implementations: the daemon
// itself, in the same process, and [Client], which asks a daemon in another
// process over HTTP/1.1 on a unix socket (elsewhere: loopback and a token).
// Both pass the same test suite, so a command does not care which it holds.
//
// # Promises
//
//   - Every failure is a [*call.Error] with a stable code; calls, reads and the
//     like fold it into their [Reply], which always has an outcome.
//   - Raw JSON of an app (a tool's definition, a call's result) passes with its
//     own tokens, key order and number text.
//   - There is no time limit of the transport: a call may take as long as its
//     own deadline. When a client goes away its call is cancelled upstream.
//   - A call that reached the daemon and whose answer was lost is
//     [call.Unknown]; one that surely did not is [call.Unavailable].
//   - A text that a screen could not be told goes back to the house: Listen ends
//     with the error of who is told, and the daemon keeps what is left.
//   - Request bodies are bounded (64 MiB). All methods are safe for concurrent
//     use.
//
// # Wire
//
// Paths begin with the version, /v1/. `data/run/aurora.addr` holds one line
// that names the endpoint: unix:PATH or http://HOST:PORT. GET answers are one
// JSON document; POST /v1/call answers JSON Lines, progress first and the
// reply last; POST /v1/mind/ask does so with news and the answer, and
// /v1/mind/listen answers news until one of both goes away. A failure is {"ok":false,"error":{…}} with a fitting status.
// A request that this version does not know, be it path or field, is answered
// VERSION_INCOMPATIBLE: a newer client learns that the daemon is older.
package control
