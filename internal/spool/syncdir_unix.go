//go:build unix

package spool

import "os"

// SyncDir syncs the folder itself, which makes renames in it durable.
func (disk) SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
