package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxRead bounds what is read of any file: what is larger is none of ours, or
// has no end.
const maxRead = 16 << 20

// readFile returns the text of a file. A pipe is refused: whoever reads it may
// wait for ever, and what it gave is not there a second time.
func readFile(path string) ([]byte, error) {
	refuse := func(err error) ([]byte, error) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		return refuse(errors.New("it is a pipe or a socket, not a file"))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	if len(text) > maxRead {
		return refuse(errors.New("it is larger than 16 MiB"))
	}
	return text, err
}
