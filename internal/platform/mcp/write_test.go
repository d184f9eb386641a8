package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sender starts a Send beside the test.
func sender(ctx context.Context, t Transport, line string) <-chan error {
	end := make(chan error, 1)
	go func() { end <- t.Send(ctx, []byte(line+"\n")) }()
	return end
}

// Senders get their turn in the order in which they asked; one that gives up
// lets the others go on.
func TestWritersTakeTurns(t *testing.T) {
	for _, tc := range []struct {
		name string
		wrap func(net.Conn) io.Writer
	}{
		{"with write deadlines", func(c net.Conn) io.Writer { return c }},
		{"without", func(c net.Conn) io.Writer { return struct{ io.WriteCloser }{c} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, w := net.Pipe()
				tr := NewStdio(strings.NewReader(""), tc.wrap(w), StdioOptions{})
				ctx, stop := context.WithCancel(t.Context())
				var ends []<-chan error
				for _, line := range []string{"a", "b", "c", "d"} {
					use := t.Context()
					if line == "c" {
						use = ctx
					}
					ends = append(ends, sender(use, tr, line))
					synctest.Wait()
				}
				stop()
				var not *NotDeliveredError
				if err := <-ends[2]; !errors.As(err, &not) || !errors.Is(err, context.Canceled) {
					t.Errorf("c: %v, want not delivered", err)
				}
				lines := bufio.NewReader(in)
				for _, want := range []string{"a", "b", "d"} {
					line, _ := lines.ReadString('\n')
					equal(t, "line", line, want+"\n")
				}
				for _, i := range []int{0, 1, 3} {
					if err := <-ends[i]; err != nil {
						t.Errorf("%d: %v", i, err)
					}
				}

				last := sender(t.Context(), tr, "e")
				waiting := sender(t.Context(), tr, "f")
				synctest.Wait()
				tr.Close()
				if <-last == nil || <-waiting == nil {
					t.Error("a closed transport took a message")
				}
				if err := tr.Send(t.Context(), []byte("g\n")); !errors.As(err, &not) || !errors.Is(err, os.ErrClosed) {
					t.Errorf("g: %v", err)
				}
				in.Close()
			})
		})
	}
}

// A writer that cannot be interrupted goes on with its message when the caller
// has left, and the next message follows it.
func TestAWriteThatCannotBeInterruptedIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := net.Pipe()
		tr := NewStdio(strings.NewReader(""), struct{ io.WriteCloser }{w}, StdioOptions{})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		var not *NotDeliveredError
		if err := <-sender(ctx, tr, "first"); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &not) {
			t.Errorf("got %v, want a timeout that does not deny delivery", err)
		}
		next := sender(t.Context(), tr, "next")
		lines := bufio.NewReader(in)
		for _, want := range []string{"first\n", "next\n"} {
			line, _ := lines.ReadString('\n')
			equal(t, "line", line, want)
		}
		if err := <-next; err != nil {
			t.Error(err)
		}
		tr.Close()
		in.Close()
	})
}

// A request that went out in part when its time was over is followed by its
// cancellation, not overtaken by it.
func TestACancellationFollowsItsTornRequest(t *testing.T) {
	stdout, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	defer childIn.Close()
	lines := bufio.NewReader(childIn)
	connected := make(chan error)
	var s *Session
	go func() {
		var err error
		s, err = Connect(t.Context(), NewStdio(stdout, stdin, StdioOptions{}), Options{})
		connected <- err
	}()
	lines.ReadString('\n')
	childOut.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}` + "\n")
	lines.ReadString('\n')
	if err := <-connected; err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	torn := make(chan error)
	go func() {
		_, err := s.CallTool(ctx, "big", []byte(`"`+strings.Repeat("x", 300<<10)+`"`), nil)
		torn <- err
	}()
	lines.Peek(1) // some of it has gone out, and the rest does not fit
	stop()
	wantKind(t, <-torn, Cancelled, true)
	_, err = s.CallTool(t.Context(), "small", nil, &RequestOptions{Whole: 20 * time.Millisecond})
	wantKind(t, err, Timeout, false)

	request, _ := lines.ReadString('\n')
	equal(t, "request", request[:len(`{"jsonrpc":"2.0","id":2,"method":"tools/call"`)], `{"jsonrpc":"2.0","id":2,"method":"tools/call"`)
	equal(t, "its end", strings.HasSuffix(request, `"_meta":{"progressToken":2}}}`+"\n"), true)
	cancellation, _ := lines.ReadString('\n')
	contains(t, cancellation, `"notifications/cancelled","params":{"requestId":2,`)

	// The second was never sent, so the third is next.
	end := callTool(s, t.Context(), "third", nil)
	third, _ := lines.ReadString('\n')
	contains(t, third, `"id":4,"method":"tools/call","params":{"name":"third"`)
	childOut.WriteString(`{"jsonrpc":"2.0","id":4,"result":{}}` + "\n")
	(<-end).want(t, "{}")
	s.Close(nil)
	childOut.Close()
	s.Wait()
}

// A slowPipe takes nothing, and a moment to notice that it is closed.
type slowPipe struct {
	closed chan struct{}
	left   atomic.Bool
}

func (w *slowPipe) Write([]byte) (int, error) {
	<-w.closed
	time.Sleep(time.Second)
	w.left.Store(true)
	return 0, os.ErrClosed
}

func (w *slowPipe) Close() error {
	close(w.closed)
	return nil
}

// A write that cannot be interrupted has somebody who waits for it.
func TestWaitWaitsForTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		w := &slowPipe{closed: make(chan struct{})}
		tr := NewStdio(ours, w, StdioOptions{})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := Connect(ctx, tr, Options{}); err == nil {
			t.Fatal("connected to nobody")
		}
		theirs.Close()
		tr.(interface{ Wait() }).Wait()
		if !w.left.Load() {
			t.Error("it still writes")
		}
	})
}

// A bounded context is a context: what it wraps, and a deadline.
func TestBoundedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, stop := context.WithCancelCause(t.Context())
		c := &bounded{Context: parent, due: time.Now().Add(time.Second)}
		d, ok := c.Deadline()
		equal(t, "deadline", ok && d.Equal(c.due), true)
		equal(t, "error", c.Err(), nil)
		time.Sleep(time.Second)
		equal(t, "error without anybody waiting", c.Err(), error(context.DeadlineExceeded))
		c.end()

		c = &bounded{Context: parent, due: time.Now().Add(time.Second)}
		<-c.Done()
		equal(t, "error", c.Err(), error(context.DeadlineExceeded))
		c.end()

		c = &bounded{Context: parent, due: time.Now().Add(time.Hour)}
		why := errors.New("why")
		stop(why)
		<-c.Done()
		equal(t, "cause", context.Cause(c), why)
		c.end()

		early, stopEarly := context.WithTimeout(t.Context(), time.Second)
		defer stopEarly()
		c = &bounded{Context: early, due: time.Now().Add(time.Hour)}
		d, _ = c.Deadline()
		equal(t, "deadline", time.Until(d), time.Second)
		<-c.Done()
		equal(t, "error", c.Err(), error(context.DeadlineExceeded))
		c.end()
	})
}
