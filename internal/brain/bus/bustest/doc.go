// Package bustest holds the file system that the tests of the brain share.
//
// A [Disk] lives in memory. It counts its steps and fails at one of the tester's
// choice, once or from then on. After [Disk.Kill] it holds what programs saw;
// after [Disk.PowerLoss] only what was synced: the names of a folder as of its
// last SyncDir, the content of a file as of its last Sync.
package bustest
