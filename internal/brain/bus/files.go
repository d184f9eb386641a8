package bus

import (
	"os"

	"github.com/aurorabot/aurora/internal/spool"
)

// Files is what the brain needs of a file system. The zero [Options] use the
// real one; tests use one that fails or forgets.
type Files interface {
	spool.FileLayer
	// Append opens a file for writing at its end, and makes it if it is missing,
	// for its owner only.
	Append(name string) (spool.File, error)
	// Truncate cuts a file to size bytes.
	Truncate(name string, size int64) error
}

// disk is the real file system.
type disk struct{ spool.FileLayer }

func (disk) Truncate(name string, size int64) error { return os.Truncate(name, size) }
func (disk) Append(name string) (spool.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
