// Package spool is a durable queue of JSON files in a folder.
//
// A file's folder is its state: pending, processing, done or dead. Other
// programs may take part with nothing but rename: a claim is a rename from
// pending to processing, an end is a rename to done or dead, and a file dropped
// into pending by hand is found by a rescan.
//
// # Promises
//
//   - Durable: when [Spool.Put] returns, the files it counts survive a crash of
//     the machine. They are written under a name that begins with a dot, synced,
//     renamed into pending, and the folder is synced once a batch. That a file
//     which moves on is not lost needs a file system whose renames are atomic
//     over two folders, as those of all journaling ones are.
//   - Whole: nobody ever sees half a file under its real name.
//   - At least once: a file is delivered until it is in done or dead. What a
//     crash left in processing is pending again after [Open], unless another
//     program is the consumer, which then does this itself. Consumers
//     deduplicate by the id inside.
//   - Ordered and fair: the files of a lane are claimed in the order of their
//     numbers, those without one in the order they were seen; lanes take turns.
//   - Bounded: a full spool refuses with [ErrFull] and loses nothing it has.
//
// # Concurrency
//
// A spool has one owner, who opened it. Everybody else looks at it through a
// [View], which needs no lock and changes nothing.
//
// All methods may be called from many goroutines. One lock guards the index in
// memory and is never held over I/O. Opening starts no goroutine; whoever opens
// a spool that is to see dropped files and forget old ones calls [Spool.Run].
package spool
