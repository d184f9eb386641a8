package host

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aurorabot/aurora/internal/platform/proc"
)

// A dying process has ended, but what it has left behind has not.
type dying struct{}

func (dying) PID() int                       { return 1 }
func (dying) Done() <-chan struct{}          { return make(chan struct{}) }
func (dying) Exit() (proc.Exit, bool)        { return proc.Exit{Code: 7}, true }
func (dying) StderrTail(int) []string        { return nil }
func (dying) Stop(context.Context) proc.Exit { return proc.Exit{Code: 7} }

// Whoever waits for an answer is told how the app ended, also while what the app
// has left behind is still being cleared away.
func TestTheEndIsToldBeforeTheFamilyIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &live{link: &Link{Process: dying{}}}
		if got := l.obituary(); got != " It exited with code 7." {
			t.Errorf("it is said %q", got)
		}
	})
}
