package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	logFileSize = 8 << 20 // bytes of a log file before a new one is begun
	logFileKeep = 3       // older files kept beside it: name.1 is the newest
)

// A logFile is a file that never grows beyond a size: then it becomes name.1,
// name.1 becomes name.2 and so on, and a new one is begun. Files are 0600, the
// folder 0700. The file is made by the first write. It has no goroutine.
//
// A disk that does not take lines loses them; logging never stops the house. A
// file that cannot be renamed goes on, and is tried again when it has grown by
// that size once more.
type logFile struct {
	path string
	size int64 // bytes at which a new file is begun
	keep int

	mu      sync.Mutex // guards the fields below
	f       *os.File   // nil: not open
	written int64      // since it was begun, or could not be renamed
	closed  bool
}

func newLogFile(path string) *logFile {
	return &logFile{path: path, size: logFileSize, keep: logFileKeep}
}

// Write appends b, which should be whole lines, to one file.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, fs.ErrClosed
	}
	if l.f == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	if l.written > 0 && l.written+int64(len(b)) > l.size {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(b)
	l.written += int64(n)
	return n, err
}

// Close closes the file. Later writes fail.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.shut()
}

func (l *logFile) shut() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f, l.written = nil, 0
	return err
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f, l.written = f, st.Size()
	return nil
}

func (l *logFile) rotate() error {
	if err := l.shut(); err != nil {
		return err
	}
	moved := true
	for i := l.keep; i > 0 && moved; i-- {
		err := os.Rename(l.numbered(i-1), l.numbered(i))
		moved = err == nil || errors.Is(err, fs.ErrNotExist)
	}
	if err := l.open(); err != nil {
		return err
	}
	if !moved {
		l.written = 0
	}
	return nil
}

func (l *logFile) numbered(i int) string {
	if i == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, i)
}
