//go:build unix

package audit

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that hangs must not make Aurora keep the arguments of a thousand calls,
// which may be megabytes each.
func TestADiskThatHangsHoldsFewArguments(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	path := filepath.Join(dir, "audit-2026-03-01.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipe can be made here:", err)
	}
	args := make([]byte, 4<<20)
	for range 400 { // more than a pipe holds, so that the writer hangs
		l.Append(Record{Time: noon, Name: string(make([]byte, maxName)), Args: args})
	}
	if n := l.args.Load(); n > queueArgs {
		t.Errorf("%d MiB of arguments are held", n>>20)
	}
	if l.lost.Load() == 0 {
		t.Error("nothing counts as lost")
	}
	disk, err := os.OpenFile(path, os.O_RDWR, 0) // it works again
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, disk)
		read <- err
	}()
	if err := l.Close(); err == nil { // a pipe cannot be synced
		t.Error("closed without an error")
	}
	disk.Close()
	<-read
	if n := l.args.Load(); n != 0 {
		t.Errorf("%d bytes of arguments are held of nobody", n)
	}
}
