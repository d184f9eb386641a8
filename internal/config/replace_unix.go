//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of the one that it shall replace, which matters
// to whoever edits the files of others as root.
func keepOwner(file *os.File, old fs.FileInfo) {
	if old == nil {
		return
	}
	if owner, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid)) // refused to all but root, for whom it works
	}
}
