package config

import "io/fs"

// readableByOthers tells whether users other than the owner can read the file.
// Windows has no mode bits that say so; a profile folder is private by itself.
func readableByOthers(fs.FileInfo) bool { return false }
