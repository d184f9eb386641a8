// Package bus is the FileEventBus of the design documents: every state of the
// brain is a file under data/kernel, and writing a file is what wakes somebody.
//
// There are two kinds of places. A queue is a spool, named by its path: "inbox"
// or "pipeline/<name>". A state file, such as "heartbeat/tick.json", has one
// content, which each writing replaces.
//
// # Promises
//
//   - Nothing that is written is missed. What waits in a queue when the bus is
//     opened, or comes while its watcher is busy, is there at the next
//     [Watch.Next]; nobody needs another event to look again.
//   - Nobody is woken by a clock: a writer wakes the watchers of a place itself.
//     Only files that another program drops into a queue are found by looking,
//     once a second.
//   - Whole and durable: a reader sees a state file as it was before or after a
//     writing, never half of it, and [Bus.WriteState] returns when the new
//     content survives a crash of the machine.
//   - A watcher of state files learns that a file changed, not how often: it
//     reads the last content. A state file that is there when the watch begins
//     counts as changed.
//   - In a glob, * stands for characters of one name and never for a slash.
//   - A queue of units gives out the files of a session one after the other;
//     sessions take turns. A queue of events gives out many at once.
//
// # Ownership
//
// [Bus.Run] owns the goroutines that look for dropped files; they end with it.
// A queue that was handed to [New] is run by who opened it.
package bus
