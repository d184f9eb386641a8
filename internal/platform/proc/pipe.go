package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// drainTime is how long a pipe may stay silent after its child has ended
	// before it counts as ended although somebody holds its other end.
	// It is also how long a reader may do nothing before Stop closes the pipe.
	drainTime = 200 * time.Millisecond
	// drainMost bounds what is read after that: no pipe holds more.
	drainMost = 1 << 20
)

// pipes are the three pipes of a child. All ends are close-on-exec, and the
// parent's are known to the runtime's poller, so they take deadlines (not on
// Windows) and closing one wakes who waits on it.
type pipes struct {
	stdin, stdout, stderr             *os.File // the parent's ends
	childStdin, childStdout, childErr *os.File
}

func openPipes() (p *pipes, err error) {
	p = new(pipes)
	defer func() {
		if err != nil {
			p.closeParentEnds()
			p.closeChildEnds()
		}
	}()
	if p.childStdin, p.stdin, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.stdout, p.childStdout, err = os.Pipe(); err != nil {
		return p, err
	}
	p.stderr, p.childErr, err = os.Pipe()
	return p, err
}

func (p *pipes) childEnds() []*os.File { return []*os.File{p.childStdin, p.childStdout, p.childErr} }

// Closing a nil *os.File is an error and nothing else, so half-made pipes close too.

func (p *pipes) closeChildEnds() {
	p.childStdin.Close()
	p.childStdout.Close()
	p.childErr.Close()
}

func (p *pipes) closeParentEnds() {
	p.stdin.Close()
	p.stdout.Close()
	p.stderr.Close()
}

// A stream is what a child writes. It ends when the last writer has closed the
// pipe, or some time after [stream.drain], but never before what is in the pipe
// has been read. It closes its file when it ends. One goroutine reads it.
type stream struct {
	file  *os.File
	first chan struct{} // closed at the first byte
	ended chan struct{} // closed with the file
	close func()        // closes both, once
	reads atomic.Uint64 // calls of Read

	mu  sync.Mutex // guards end, and the deadline of file
	end time.Time  // when the drain time is over; zero: it has not begun

	// Of the reader alone:
	some bool // a byte has come
	over bool // the drain time is over
	rest int  // how much may still be read then
}

func newStream(f *os.File) *stream {
	s := &stream{file: f, first: make(chan struct{}), ended: make(chan struct{}), rest: drainMost}
	s.close = sync.OnceFunc(func() {
		f.Close()
		close(s.ended)
	})
	return s
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (n int, err error) {
	s.reads.Add(1)
	for !s.over {
		n, err = s.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		end := s.drainEnd()
		if end.IsZero() {
			return 0, err // the reader's own deadline
		}
		// That may have been the reader's own still; else the deadline hides
		// what is in the pipe: look without waiting.
		if s.over = !time.Now().Before(end); s.over {
			s.file.SetReadDeadline(time.Time{})
		}
	}
	if s.over {
		n, err = readAvailable(s.file, b[:min(len(b), s.rest)])
		s.rest -= n
	}
	if n > 0 && !s.some {
		s.some = true
		close(s.first)
	}
	if err != nil {
		s.close()
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF // closed by Stop
		}
	}
	return n, err
}

// drain begins the end: the child is gone, so whoever holds the pipe now
// has no say for it.
func (s *stream) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = time.Now().Add(drainTime)
	s.file.SetReadDeadline(s.end)
}

// SetReadDeadline bounds the reader's patience, as that of an [os.File]. It says
// nothing any more once the child is gone.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.end.IsZero() {
		return nil
	}
	return s.file.SetReadDeadline(t)
}

func (s *stream) drainEnd() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// finish closes the stream of an ended child when its reader has come to the
// end. It waits as long as the reader goes on, and not for one that never began.
func (s *stream) finish(hurry <-chan struct{}) {
	defer s.close()
	for seen := uint64(0); seen != s.reads.Load(); {
		seen = s.reads.Load()
		select {
		case <-s.ended:
			return
		case <-hurry:
			return
		case <-time.After(drainTime):
		}
	}
}
