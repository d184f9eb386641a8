// Package bridge is the AMP Compatibility Bridge of the design documents: it
// turns the signals of all sessions into envelopes and puts them into spools.
//
// The bridge only converts. It never calls a model, never decides, and never
// touches an app's state.
//
// # Promises
//
//   - [Bridge.Observe] never blocks and does no I/O: a slow or full disk never
//     delays a session's reader or a caller. What finds no room in the bounded
//     queue is dropped, counted by app, and reported in one mcp.error event. Apps
//     take turns, and what one sends by itself leaves room to the others.
//   - Signals of one app become events in the order in which they arose, and
//     header.aurora.seq rises with every event, over restarts and a clock set
//     back.
//   - An event that an app gave an id is delivered to each spool once, over
//     restarts, and whatever becomes of the other spools or the disk: later ones
//     of the same (package, message_id) are acknowledged and dropped.
//   - An acknowledgement is sent only when the event is durable in every spool
//     that wants it, or will never be accepted.
//   - An envelope is built only if a spool or a follower wants it.
//   - Who follows changes nothing: what only a follower wants is not routed.
//   - Secrets known to the redactor do not reach an envelope, but for type and
//     message id, which stay as the app wrote them.
//
// # Ownership
//
// One goroutine, [Bridge.Run], converts and writes. Acknowledgements are written
// by one goroutine an app, which exists only while there is something to write,
// so an app that reads nothing holds up no other. Run waits for them.
package bridge
