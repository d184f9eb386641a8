package cli

import (
	"context"
	"io"
)

// readStdin returns what comes on stdin until its end, at most so many bytes, or
// why ctx ended before.
func (p *program) readStdin(ctx context.Context, most int64) ([]byte, error) {
	type input struct {
		text []byte
		err  error
	}
	read := make(chan input, 1)
	// A read cannot be cut short: where ctx ends first this goroutine ends with the
	// process, which is about to end.
	go func() {
		text, err := io.ReadAll(io.LimitReader(p.stdin, most))
		read <- input{text, err}
	}()
	select {
	case in := <-read:
		return in.text, in.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
