//go:build !windows

package config

import "io/fs"

// programExtensions are what may be added to path to make it a program.
func programExtensions(string, *environment) []string { return []string{""} }

// isProgram tells whether somebody may run the file.
func isProgram(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
