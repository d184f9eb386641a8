package turn

import (
	"bytes"
	"iter"
	"os"

	"github.com/aurorabot/aurora/internal/spool"
)

// A FileLayer is what turns need of a file system. The zero [Options] use the
// real one; tests use one that fails or forgets.
type FileLayer interface {
	spool.FileLayer
	// Append opens a file that only its owner may read and write, cuts it to size
	// bytes and writes behind them. It makes a file that is missing.
	Append(name string, size int64) (spool.File, error)
}

// disk is the real file system.
type disk struct{ spool.FileLayer }

// Append implements [FileLayer].
func (disk) Append(name string, size int64) (spool.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := f.Seek(size, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// lines yields the lines of data, each with its end.
func lines(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			end := bytes.IndexByte(data, '\n') + 1
			if end == 0 {
				end = len(data)
			}
			if !yield(data[:end]) {
				return
			}
			data = data[end:]
		}
	}
}
