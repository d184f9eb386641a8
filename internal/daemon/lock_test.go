package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
)

func TestOneProcessOwnsAHome(t *testing.T) {
	dir := t.TempDir()
	// Given a home that is in use,
	first, err := acquire(t.Context(), dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	// when another wants it, then it is told by whom.
	var held *call.Error
	if _, err := acquire(t.Context(), dir, -1); !errors.As(err, &held) || held.Code != call.HomeLocked || !strings.Contains(held.Message, "pid "+strconv.Itoa(os.Getpid())) {
		t.Fatalf("second acquire: %v", err)
	}
	// When the first gives it back while somebody waits, then that one gets it.
	waited := make(chan error, 1)
	go func() {
		second, err := acquire(t.Context(), dir, lockWait)
		if err == nil {
			err = second.release()
		}
		waited <- err
	}()
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("the one who waited: %v", err)
	}
	// The file stays, and names nobody.
	if b, err := os.ReadFile(filepath.Join(dir, "lock")); err != nil || len(b) > 0 {
		t.Errorf("lock file %q, %v", b, err)
	}
}

func TestWaitingForAHomeCanBeGivenUp(t *testing.T) {
	dir := t.TempDir()
	l, err := acquire(t.Context(), dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.release()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := acquire(ctx, dir, lockWait); !errors.Is(err, enough) {
		t.Errorf("acquire: %v", err)
	}
}
