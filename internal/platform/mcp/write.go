package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// writeSlice is how long a write may block before it looks at its context
// again. The deadline of the pipe is moved at most this often, because moving
// it for every call would cost as much as the write itself.
const writeSlice = 50 * time.Millisecond

// A turnWriter writes whole messages for many callers, one at a time, in the
// order in which they asked.
type turnWriter struct {
	w     io.Writer
	limit func(time.Time) error // SetWriteDeadline of w; nil when it has none

	turn  chan struct{} // holds one token while somebody writes
	ended chan struct{} // closed by close
	close func() error

	// The holder of the turn owns the fields below.
	tail  []byte    // unwritten end of a message that has begun
	armed time.Time // deadline that w has now
}

func (t *turnWriter) init(w io.Writer) {
	t.w = w
	t.turn = make(chan struct{}, 1)
	t.ended = make(chan struct{})
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok && d.SetWriteDeadline(time.Time{}) == nil {
		t.limit = d.SetWriteDeadline
	}
	t.close = sync.OnceValue(func() error {
		close(t.ended)
		if c, ok := w.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
}

// Send writes one line.
func (t *stdio) Send(ctx context.Context, msg []byte) error { return t.out.send(ctx, msg) }

func (t *turnWriter) send(ctx context.Context, msg []byte) error {
	if err := t.take(ctx); err != nil {
		return &NotDeliveredError{err}
	}
	began(ctx)
	if t.limit == nil {
		return t.lend(ctx, bytes.Clone(msg))
	}
	defer t.release()
	if len(t.tail) > 0 {
		n, err := t.write(ctx, t.tail)
		t.tail = t.tail[n:]
		if err != nil {
			return &NotDeliveredError{err}
		}
		t.tail = nil
	}
	n, err := t.write(ctx, msg)
	switch {
	case err == nil:
		return nil
	case n == 0:
		return &NotDeliveredError{err}
	}
	t.tail = bytes.Clone(msg[n:])
	return fmt.Errorf("%d of %d bytes were written: %w", n, len(msg), err)
}

// notReading is the error of a write whose context ended first.
func notReading(ctx context.Context) error {
	return fmt.Errorf("the server does not read its input: %w", context.Cause(ctx))
}

// take waits for the turn.
func (t *turnWriter) take(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
	default:
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return notReading(ctx)
		case <-t.ended:
			return os.ErrClosed
		}
	}
	select {
	case <-t.ended:
		t.release()
		return os.ErrClosed
	default:
		return nil
	}
}

func (t *turnWriter) release() { <-t.turn }

// wait returns when nobody has the turn, also none of those who were lent it.
func (t *turnWriter) wait() {
	t.turn <- struct{}{}
	t.release()
}

// write writes b and returns how much of it went out.
func (t *turnWriter) write(ctx context.Context, b []byte) (n int, err error) {
	for {
		if err := t.arm(ctx); err != nil {
			return n, err
		}
		var k int
		k, err = t.w.Write(b[n:])
		n += k
		switch {
		case err == nil && n < len(b):
			return n, io.ErrShortWrite
		case err == nil || !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case ctx.Err() != nil:
			return n, notReading(ctx)
		}
	}
}

// arm sees to it that w has a deadline that is neither past, nor far, nor
// beyond that of ctx.
func (t *turnWriter) arm(ctx context.Context) error {
	now := time.Now()
	last := now.Add(writeSlice)
	if d, ok := ctx.Deadline(); ok && d.Before(last) {
		last = d
	}
	if t.armed.After(now) && !t.armed.After(last) {
		return nil
	}
	t.armed = last
	return t.limit(last)
}

// lend writes to a w that nobody can interrupt: in a goroutine, which keeps the
// turn until the write is over. It ends when w accepts the bytes or is closed.
func (t *turnWriter) lend(ctx context.Context, msg []byte) error {
	type outcome struct {
		n   int
		err error
	}
	written := make(chan outcome, 1)
	go func() {
		defer t.release()
		if len(t.tail) > 0 {
			n, err := t.w.Write(t.tail)
			t.tail = t.tail[n:]
			if err != nil {
				written <- outcome{err: err}
				return
			}
		}
		n, err := t.w.Write(msg)
		t.tail = msg[n:]
		written <- outcome{n, err}
	}()
	select {
	case o := <-written:
		switch {
		case o.err == nil:
			return nil
		case o.n == 0:
			return &NotDeliveredError{o.err}
		}
		return fmt.Errorf("%d of %d bytes were written: %w", o.n, len(msg), o.err)
	case <-ctx.Done():
		return notReading(ctx)
	}
}
