package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

const (
	lockWait  = 5 * time.Second       // how long Open waits for the home by default
	lockEvery = 50 * time.Millisecond // between two tries
)

// errHeld is what tryLock returns when another process holds the lock.
var errHeld = errors.New("held by another process")

// A homeLock is the right to write in a home. The system gives it back when
// the process ends, however it ends.
type homeLock struct{ f *os.File }

// acquire takes the lock of the home with this run folder. While another
// process holds it, it tries again for the time wait; a negative wait tries
// once. The error then is HOME_LOCKED and names the other process.
func acquire(ctx context.Context, runDir string, wait time.Duration) (*homeLock, error) {
	path := filepath.Join(runDir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the home: %w", err)
	}
	limit := time.NewTimer(max(wait, 0))
	defer limit.Stop()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		err := tryLock(f)
		if err == nil {
			l := &homeLock{f: f}
			l.sign()
			return l, nil
		}
		if !errors.Is(err, errHeld) {
			f.Close()
			return nil, fmt.Errorf("locking the home (%s): %w", path, err)
		}
		select {
		case <-tick.C:
			if wait >= 0 {
				continue
			}
		case <-limit.C:
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
		err = heldError(f)
		f.Close()
		return nil, err
	}
}

func heldError(f *os.File) error {
	who := "another aurora"
	if pid := readPID(f); pid > 0 {
		who = fmt.Sprintf("another aurora (pid %d)", pid)
	}
	return &call.Error{
		Code:      call.HomeLocked,
		Message:   fmt.Sprintf("%s is using this home; wait until it ends, or stop it", who),
		Retryable: true,
		Data:      pidData(readPID(f)),
	}
}

func pidData(pid int) []byte {
	b, _ := control.Marshal(map[string]int{"pid": pid})
	return b
}

// sign writes our process id into the file, for whoever finds it held. The lock
// holds without it, on a full disk for instance.
func (l *homeLock) sign() {
	if l.f.Truncate(0) == nil {
		_, _ = l.f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

// release gives the lock back. The file stays: to remove it would let two
// processes lock two files of one name.
func (l *homeLock) release() error {
	return errors.Join(l.f.Truncate(0), l.f.Close())
}

func readPID(f *os.File) int {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}
