package control_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func TestADiskThatTakesNothingIsNoFaultOfOurs(t *testing.T) {
	for cause, cure := range map[error]string{
		syscall.ENOSPC: "free space on that disk",
		syscall.EDQUOT: "free space on that disk",
		syscall.EROFS:  "make that file system writable",
	} {
		failed := fmt.Errorf("keep event: %w", &fs.PathError{Op: "write", Path: "/home/bot/data/x", Err: cause})
		e := control.AsError(errors.Join(failed, errors.New("closing failed too")))
		if e.Code != call.HomeUnwritable || !e.Retryable || !strings.Contains(e.Message, "write /home/bot/data/x") ||
			!strings.Contains(e.Message, cure) || strings.Contains(e.Message, "\n") {
			t.Errorf("%v becomes %+v", cause, e)
		}
	}
	closed := control.AsError(&fs.PathError{Op: "open", Path: "/home/bot/data/kernel", Err: syscall.EACCES})
	if closed.Code != call.HomeUnwritable || !strings.Contains(closed.Message, "cannot be used: open /home/bot/data/kernel") {
		t.Errorf("no right to read becomes %+v", closed)
	}
	if e := control.AsError(errors.New("something else")); e.Code != call.Internal {
		t.Errorf("it becomes %v", e)
	}
	if e := control.Unwritable(fs.ErrPermission); !strings.Contains(e.Message, "the right to read and write") {
		t.Errorf("it says %v", e)
	}
}
