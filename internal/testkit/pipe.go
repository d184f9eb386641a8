package testkit

import (
	"io"
	"os"
	"sync"
	"time"
)

// pipeCapacity is that of a pipe on Linux.
const pipeCapacity = 64 << 10

// A pipe is a bounded byte pipe in memory. Unlike io.Pipe it buffers, as a
// pipe between processes does, and its writes have a deadline.
type pipe struct {
	mu       sync.Mutex // guards the following
	changed  sync.Cond
	data     []byte
	closed   bool // no more reading and writing; what is buffered can be read
	broken   bool // the reader is gone
	deadline time.Time
	alarm    *time.Timer
}

func newPipe() (*pipeReader, *pipeWriter) {
	p := &pipe{}
	p.changed.L = &p.mu
	return &pipeReader{p}, &pipeWriter{p}
}

type pipeReader struct{ p *pipe }
type pipeWriter struct{ p *pipe }

// Read blocks until there are bytes or the writer has closed.
func (r *pipeReader) Read(b []byte) (int, error) {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.data) == 0 {
		if p.broken {
			return 0, io.ErrClosedPipe
		}
		if p.closed {
			return 0, io.EOF
		}
		p.changed.Wait()
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	p.changed.Broadcast()
	return n, nil
}

// Close makes writes fail.
func (r *pipeReader) Close() error {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken, p.data = true, nil
	p.changed.Broadcast()
	return nil
}

// Write blocks while the pipe is full. It fails when the reader is gone, and
// with os.ErrDeadlineExceeded at the deadline; n bytes are then on their way.
func (w *pipeWriter) Write(b []byte) (n int, err error) {
	p := w.p
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		switch {
		case p.closed || p.broken:
			return n, io.ErrClosedPipe
		case !p.deadline.IsZero() && !time.Now().Before(p.deadline):
			return n, os.ErrDeadlineExceeded
		}
		room := min(pipeCapacity-len(p.data), len(b))
		if room == 0 {
			p.changed.Wait()
			continue
		}
		p.data = append(p.data, b[:room]...)
		b, n = b[room:], n+room
		p.changed.Broadcast()
	}
	return n, nil
}

// SetWriteDeadline is that of net.Conn.
func (w *pipeWriter) SetWriteDeadline(t time.Time) error {
	p := w.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm != nil {
		p.alarm.Stop()
		p.alarm = nil
	}
	p.deadline = t
	if !t.IsZero() && !p.closed {
		p.alarm = time.AfterFunc(time.Until(t), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changed.Broadcast()
		})
	}
	p.changed.Broadcast()
	return nil
}

// Close lets the reader see the end once it has read what is buffered.
func (w *pipeWriter) Close() error {
	p := w.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.alarm != nil {
		p.alarm.Stop()
		p.alarm = nil
	}
	p.changed.Broadcast()
	return nil
}
