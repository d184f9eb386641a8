//go:build unix

package proc

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// readAvailable reads what is in a pipe and does not wait: an empty pipe is an
// ended one.
func readAvailable(f *os.File, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, readErr = unix.Read(int(fd), b)
			if readErr != unix.EINTR {
				return true // false would wait for more
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if readErr != nil || n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}
