package spool

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// A FileLayer is what a spool needs of a file system. The zero [Options] use
// the real one; tests use one that fails or forgets.
type FileLayer interface {
	MkdirAll(dir string) error
	// Create makes a new file that only its owner may read and write.
	Create(name string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	ReadDir(dir string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	Stat(name string) (fs.FileInfo, error)
	// Touch sets the modification time.
	Touch(name string, at time.Time) error
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
}

// A File is one file being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Disk returns the real file system.
func Disk() FileLayer { return disk{} }

// disk is the real file system.
type disk struct{}

func (disk) MkdirAll(dir string) error                 { return os.MkdirAll(dir, 0o700) }
func (disk) Rename(from, to string) error              { return os.Rename(from, to) }
func (disk) Remove(name string) error                  { return os.Remove(name) }
func (disk) ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }
func (disk) ReadFile(name string) ([]byte, error)      { return os.ReadFile(name) }
func (disk) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (disk) Touch(name string, at time.Time) error     { return os.Chtimes(name, at, at) }
func (disk) Create(name string) (File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
