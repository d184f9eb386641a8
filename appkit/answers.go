package appkit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// An answerWriter is stdout, shared by the guard and the SDK, one message a
// Write. It counts the requests that have no answer yet.
type answerWriter struct {
	mu   sync.Mutex // guards what follows, and the order of writes
	w    io.Writer
	open int           // requests without an answer
	idle chan struct{} // closed when open falls to 0; nil while open is 0
}

// expect counts a request that will be answered.
func (a *answerWriter) expect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == 0 {
		a.idle = make(chan struct{})
	}
	a.open++
}

// wait waits until every request has its answer, or ctx is done.
func (a *answerWriter) wait(ctx context.Context) {
	a.mu.Lock()
	idle := a.idle
	a.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Write writes a message of the SDK.
func (a *answerWriter) Write(message []byte) (int, error) {
	if err := a.write(message); err != nil {
		return 0, err
	}
	if isAnswer(message) {
		a.mu.Lock()
		if a.open > 0 {
			if a.open--; a.open == 0 {
				close(a.idle)
				a.idle = nil
			}
		}
		a.mu.Unlock()
	}
	return len(message), nil
}

// Close does nothing: the stream belongs to somebody else.
func (a *answerWriter) Close() error { return nil }

func (a *answerWriter) write(message []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.w.Write(message)
	return err
}

// isAnswer reports whether a message of the SDK is a response or a batch of
// them. It looks no further than the key behind the id.
func isAnswer(message []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(message))
	for {
		token, err := dec.Token()
		switch token {
		case json.Delim('['), "result", "error":
			return true
		case "method":
			return false
		}
		if err != nil {
			return false
		}
	}
}
