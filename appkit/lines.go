package appkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// maxLine bounds one message on stdin, in bytes.
const maxLine = 16 << 20

// A lineGuard stands between stdin and the SDK, whose reader ends the whole
// session at the first byte that is not JSON. It lets through lines that hold
// a message and answers the others with a JSON-RPC error. It has one reader.
type lineGuard struct {
	in     *bufio.Reader
	out    io.Writer
	logger *slog.Logger
	onEOF  func() // called once, when the input has ended

	line []byte // what is left of the line that is being read
	buf  []byte // the memory of line
	eof  error
}

func newLineGuard(in io.Reader, out io.Writer, logger *slog.Logger, onEOF func()) *lineGuard {
	return &lineGuard{in: bufio.NewReaderSize(in, 64<<10), out: out, logger: logger, onEOF: onEOF}
}

// Read returns bytes of the next good line, newline included.
func (g *lineGuard) Read(p []byte) (int, error) {
	for len(g.line) == 0 {
		if g.eof != nil {
			return 0, g.eof
		}
		g.next()
	}
	n := copy(p, g.line)
	g.line = g.line[n:]
	return n, nil
}

// next reads one line and keeps it if it is a message.
func (g *lineGuard) next() {
	tooLong := false
	g.buf = g.buf[:0]
	for {
		part, err := g.in.ReadSlice('\n')
		if len(g.buf)+len(part) > maxLine {
			tooLong = true
		} else {
			g.buf = append(g.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			g.eof = err
			g.onEOF()
		}
		break
	}
	line := bytes.TrimSpace(bytes.TrimPrefix(g.buf, []byte("\xef\xbb\xbf")))
	switch {
	case tooLong:
		g.refuse(-32600, fmt.Sprintf("a message is longer than %d bytes", maxLine))
	case len(line) == 0:
	case !json.Valid(line):
		g.refuse(-32700, "a line is not valid JSON")
	case line[0] != '[' && !isMessage(line):
		g.refuse(-32600, "a line is not a JSON-RPC 2.0 message")
	default:
		g.line = append(line, '\n')
	}
}

// refuse answers a line that is no message. Its id is unknown, hence null
// (JSON-RPC 2.0, section 5).
func (g *lineGuard) refuse(code int, message string) {
	g.logger.Warn("skipped a line on stdin", "reason", message)
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, message)
	if _, err := io.WriteString(g.out, answer); err != nil {
		g.logger.Warn("could not answer it", "error", err)
	}
}

// isMessage reports whether the SDK can take a line for a message.
func isMessage(line []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id"`
		Method  json.RawMessage `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" {
		return false
	}
	switch m.ID.(type) {
	case nil, string, float64:
	default:
		return false
	}
	if m.Method == nil {
		return m.ID != nil // a response
	}
	return m.Method[0] == '"'
}

// A lockedWriter lets the guard and the SDK share stdout, one message at a
// time.
type lockedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
