// Package node holds the nodes that a brain is built of: the preprocessor, which
// makes units of events; the internalizer, which writes them into the stream of
// consciousness; the externalizer, which lets a turn happen; and those that go by
// the clock: the heartbeat generator, the timer scheduler, the dead-letter router.
//
// # Promises
//
//   - Every event is in exactly one unit, and every unit is in the stream exactly
//     once, whatever step is interrupted by a kill, a failing disk, or the power
//     going, and whatever is tried again. An event's file is done when its unit is
//     durable; a unit's file, when the stream and the file behind it are.
//   - A session's units keep the order of its events.
//   - Only what stands in the preprocessor's list of types wakes, and the end of a
//     tool call of the brain's own only when its turn is over and never had it: the
//     brain is not woken by itself.
//   - No sender speaks with another's authority, and no text can pass for a line
//     of another speaker (see package unit) or for a passage of the stream.
//   - What the clock causes is caused once for each of its times, over restarts,
//     sleep, and a clock set back.
//   - Memory is bounded: events that wait for quiet, by number and size; the ids
//     that are remembered, by number.
//   - Contents of events reach files under data/kernel, which only their owner may
//     read, and never the log.
//
// # Ownership
//
// Nodes start no goroutines; the circuit runs them. Making a registry does no I/O.
package node
