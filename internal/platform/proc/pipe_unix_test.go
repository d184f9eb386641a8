//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

func pipeStream(t *testing.T) (*stream, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	s := newStream(r)
	t.Cleanup(s.close)
	return s, w
}

func TestStreamEndsAlthoughSomebodyHoldsThePipe(t *testing.T) {
	s, w := pipeStream(t)
	w.WriteString("all of it")
	s.drain()
	got, err := io.ReadAll(s)
	if err != nil || string(got) != "all of it" {
		t.Errorf("read %q, %v", got, err)
	}
	<-s.ended
}

func TestStreamGivesWhatIsInThePipeHoweverLateItIsRead(t *testing.T) {
	s, w := pipeStream(t)
	full := make([]byte, 60<<10)
	w.Write(full)
	s.drain()
	// A Read that waits, until the deadline has surely passed.
	late, _ := pipeStream(t)
	late.drain()
	if n, err := late.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("late: %d, %v", n, err)
	}
	got, err := io.ReadAll(s)
	if err != nil || len(got) != len(full) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestStreamIsNotKeptOpenByAChatterer(t *testing.T) {
	s, w := pipeStream(t)
	chatter := make(chan struct{})
	go func() {
		defer close(chatter)
		for block := make([]byte, 4<<10); ; {
			if _, err := w.Write(block); err != nil {
				return // the stream is closed
			}
		}
	}()
	s.drain()
	if _, err := io.Copy(io.Discard, s); err != nil {
		t.Error(err)
	}
	<-chatter
}

func TestAReadersOwnDeadlineEndsNothing(t *testing.T) {
	s, w := pipeStream(t)
	past := time.Unix(1, 0)
	if err := s.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	if err := s.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "one")
	if got := readSome(t, s); got != "one" {
		t.Errorf("read %q", got)
	}
	// Once the child is gone only its end counts.
	s.SetReadDeadline(past)
	s.drain()
	if err := s.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "two")
	if got := readSome(t, s); got != "two" {
		t.Errorf("read %q", got)
	}
	if _, err := s.Read(make([]byte, 8)); err != io.EOF {
		t.Errorf("got %v", err)
	}
}

func readSome(t *testing.T, r io.Reader) string {
	t.Helper()
	b := make([]byte, 8)
	n, err := r.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestStreamIsClosedUnderItsReader(t *testing.T) {
	s, _ := pipeStream(t)
	done := make(chan error)
	go func() { _, err := s.Read(make([]byte, 1)); done <- err }()
	s.finish(nil) // the reader may be before or in its Read
	if err := <-done; err != io.EOF {
		t.Errorf("the reader got %v", err)
	}
}
