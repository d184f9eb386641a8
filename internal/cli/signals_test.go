package cli

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestASignalThatComesTwiceIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Given timeout(1), which sends its signal to the process and its group.
		s := &signals{}
		s.ctx, s.cancel = context.WithCancelCause(t.Context())
		s.take(syscall.SIGTERM)
		s.take(syscall.SIGTERM) // would end this test at once

		if err := context.Cause(s.ctx); !errors.Is(err, errInterrupted) {
			t.Errorf("the cause is %v", err)
		}
	})
}
