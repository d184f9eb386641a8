//go:build !unix

package spool

// SyncDir does nothing: the system has no way to sync a folder, and its file
// system journals names.
func (disk) SyncDir(string) error { return nil }
