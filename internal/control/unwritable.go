package control

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/aurorabot/aurora/internal/call"
)

// Unwritable is the error of a home that cannot be written to, or be read: what
// failed, where, and what helps.
func Unwritable(err error) *call.Error {
	what, cure := "written to", "look after its disk, or name another home with --home"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		cure = "free space on that disk, or name another home with --home"
	case errors.Is(err, syscall.EROFS):
		cure = "make that file system writable, or name another home with --home"
	case errors.Is(err, fs.ErrPermission):
		what, cure = "used", "give the user who runs Aurora the right to read and write there, or name another home with --home"
	}
	said := err.Error()
	// Where one write fails many do; the first says enough.
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		said = at.Error()
	}
	return &call.Error{Code: call.HomeUnwritable, Message: "the home cannot be " + what + ": " + said + "; " + cure, Retryable: true}
}

// cannotUse reports whether an error comes from a disk that takes nothing, or does
// not let us in.
func cannotUse(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}
