// Package console is the app through which people at this machine talk with the
// bot. What they say in a session becomes message.received events, and the tool
// send_message puts a text on the screens of a session.
//
// It is an ordinary app but for one thing: its screens are in the process that
// serves it, so that Aurora serves it itself and speaks with it over pipes in
// memory.
//
// # Promises
//
//   - [Console.Say] returns nil when what was said is durable at Aurora.
//   - A text is never lost without a word. One that no screen takes is on disk
//     before send_message succeeds, and the next screen of its session gets it.
//     Too many texts push out the oldest, and the screen is told how many.
//   - Texts of a session reach a screen in the order in which they were sent,
//     those that were kept first.
//   - A slow screen holds up nobody: a [Show] must not block, and says whether it
//     took the text.
//
// # Ownership
//
// A Console starts no goroutine of its own. Kept texts lie in the app's data
// folder, a file a session, which one Console at a time may use.
package console
