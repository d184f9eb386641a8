package control

import (
	"net/http"
	"sync"
)

// A lineWriter writes lines to a client on a goroutine of its own, for whoever
// must not block on a slow client. What a client is too slow for is dropped:
// what comes after it says all that matters.
type lineWriter[Line any] struct {
	w      http.ResponseWriter
	newest bool          // the oldest line gives way to the newest, not the newest to the others
	done   chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // guards the sending side of lines and closed
	lines  chan Line
	closed bool
}

// startLines starts the goroutine; close ends it. So many lines may wait.
func startLines[Line any](w http.ResponseWriter, room int, newest bool) *lineWriter[Line] {
	l := &lineWriter[Line]{w: w, newest: newest, done: make(chan struct{}), lines: make(chan Line, room)}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			writeLine(l.w, line)
			_ = http.NewResponseController(l.w).Flush() // fails only when the client has gone
		}
	}()
	return l
}

// offer never blocks. After close it does nothing.
func (l *lineWriter[Line]) offer(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed {
		select {
		case l.lines <- line:
			return
		default:
		}
		if !l.newest {
			return
		}
		select {
		case <-l.lines:
		default:
		}
	}
}

// close waits until what was offered is written.
func (l *lineWriter[Line]) close() {
	l.mu.Lock()
	l.closed = true
	close(l.lines)
	l.mu.Unlock()
	<-l.done
}
