// Package spooltest holds a disk in memory for tests of what is built on spools:
// it forgets what was not synced when the power goes, fails at a step of one's
// choice, and can be slow.
//
// A rename is one transaction, as in every journaling file system: with the sync
// of either folder it is durable in both.
//
// A step is one operation that changes something: create, write, sync, close,
// rename, remove, the sync of a folder. All methods of a [Disk] may be called
// from many goroutines.
package spooltest
