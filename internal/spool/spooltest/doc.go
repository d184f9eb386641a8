// Package spooltest holds a disk in memory for tests of what is built on spools
// and of what else lies on a disk: it forgets what was not synced when the power
// goes, fails at a step of one's choice, once or from then on, and can be slow.
//
// After [Disk.Kill] it holds what programs saw; after [Disk.PowerLoss] only what
// was synced: the names of a folder as of its last SyncDir, the content of a file
// as of its last Sync. A rename is one transaction, as in every journaling file
// system: with the sync of either folder it is durable in both.
//
// A step is one operation that changes something: create, append, write, sync,
// close, rename, remove, truncate, touch, the sync of a folder. All methods of a
// [Disk] may be called from many goroutines.
package spooltest
