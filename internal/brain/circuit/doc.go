// Package circuit runs the graph of the brain: a topology says which nodes there
// are and what wakes them, and the circuit wakes them.
//
// There are no edges to draw: an edge leads from a node to every node that
// watches what it emits. A [Topology] that was parsed has no node of an unknown
// type, no two takers of one queue, no queue that fills and is never emptied, and
// no node that nothing can ever wake.
//
// # Promises
//
//   - At least once: a file is done when the node says that its effect is
//     durable, and not before. What a crash or a stop interrupts waits again.
//   - In order: the files of a session are handled one after the other, also
//     while one of them is tried again; sessions take turns, as many at once as
//     the node's concurrency says.
//   - Nothing is missed that comes while a node runs, and nothing that waits from
//     the last run.
//   - A failure is tried again after 1 s, 2 s, 4 s … at most 30 s. After the last
//     attempt (5 unless configured) the file is dead, with the reason; the files
//     of other sessions do not wait for it. A panic is a failure like any other;
//     a failure of the disk is nobody's fault and is tried until it is over.
//   - No node is ever out of order for good: failing is a state that it leaves
//     with its next success.
//   - What a node fails with reaches log and status redacted and clipped. Files'
//     contents do not.
//
// # Ownership
//
// [Circuit.Run] owns every goroutine of the circuit and returns when all have
// ended. [Parse] and [New] of a topology do no I/O beyond opening its queues.
package circuit
