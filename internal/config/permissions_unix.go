//go:build !windows

package config

import "io/fs"

// readableByOthers tells whether users other than the owner can read the file.
func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o004 != 0 }
