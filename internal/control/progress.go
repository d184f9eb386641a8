package control

import (
	"net/http"
	"sync"

	"github.com/aurorabot/aurora/internal/call"
)

// A progressWriter writes progress to a client on a goroutine of its own,
// since whoever reports progress must not block on a slow client. When the
// client is slower than the app the oldest unsent report is dropped: the
// newest says all that still matters.
type progressWriter struct {
	w    http.ResponseWriter
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // guards the sending side of news and closed
	news   chan call.Progress
	closed bool
}

// startProgress starts the goroutine; close ends it.
func startProgress(w http.ResponseWriter) *progressWriter {
	p := &progressWriter{w: w, done: make(chan struct{}), news: make(chan call.Progress, 16)}
	go func() {
		defer close(p.done)
		for n := range p.news {
			writeLine(p.w, frame{Progress: &n})
			_ = http.NewResponseController(p.w).Flush() // fails only when the client has gone
		}
	}()
	return p
}

// offer never blocks. After close it does nothing.
func (p *progressWriter) offer(n call.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	for {
		select {
		case p.news <- n:
			return
		default:
		}
		select {
		case <-p.news:
		default:
		}
	}
}

// close waits until what was offered is written.
func (p *progressWriter) close() {
	p.mu.Lock()
	p.closed = true
	close(p.news)
	p.mu.Unlock()
	<-p.done
}
