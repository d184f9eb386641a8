//go:build !unix

package console

// syncDir does nothing: the system has no way to sync a folder.
func syncDir(string) error { return nil }
