package control

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

func TestDaemonThatHangsIsNotWaitedForForEver(t *testing.T) {
	// Given a daemon that was stopped: the system still takes connections for
	// it, but nobody answers.
	dir := t.TempDir()
	sock := filepath.Join(dir, sockFile)
	ln, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := writePrivate(filepath.Join(dir, addrFile), "unix:"+sock); err != nil {
		t.Fatal(err)
	}

	// When a command looks for it, then it is told, and not as if there were
	// no daemon.
	var e *call.Error
	_, err = dial(t.Context(), dir, 20*time.Millisecond)
	if !errors.As(err, &e) || e.Code != call.DaemonUnreachable || errors.Is(err, ErrNoDaemon) || !strings.Contains(e.Message, "has not answered") {
		t.Errorf("dial = %v", err)
	}
}

func TestBrokenAddressIsToldInShort(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, addrFile), []byte(strings.Repeat("\xff", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t.Context(), dir, time.Second); err == nil || len(err.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}
