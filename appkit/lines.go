package appkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// maxLine bounds one message on stdin, in bytes.
const maxLine = 16 << 20

// A lineGuard stands between stdin and the SDK, whose reader ends the whole
// session at the first byte that is not JSON, and which drops what it has not
// answered yet when the input ends. The guard lets through lines that hold a
// message and answers the others with a JSON-RPC error; it holds the end of the
// input back until every request has its answer. It has one reader.
type lineGuard struct {
	in     *bufio.Reader
	out    *answerWriter
	logger *slog.Logger
	onEOF  func()          // called once, when the input has ended
	calls  context.Context // when it is done, nobody waits for answers any more
	tap    *tap            // sees notifications that concern events; nil: nobody

	line []byte // what is left of the line that is being read
	buf  []byte // the memory of line
	eof  error
}

// Read returns bytes of the next good line, newline included.
func (g *lineGuard) Read(p []byte) (int, error) {
	for len(g.line) == 0 {
		if g.eof != nil {
			g.out.wait(g.calls)
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
		g.refuse(idInFront(line), -32600, fmt.Sprintf("a message is longer than %d bytes", maxLine))
	case len(line) == 0:
	case !json.Valid(line):
		g.refuse(noID, -32700, "a line is not valid JSON")
	case line[0] == '[': // a batch, which MCP 2025-03-26 has; its answer is one line too
		g.out.expect()
		g.line = append(line, '\n')
	default:
		method, request, ok := classify(line)
		if ok && !request && g.tap != nil && g.tap.take(method, line) {
			return
		}
		if !ok {
			g.refuse(noID, -32600, "a line is not a JSON-RPC 2.0 message")
			return
		}
		if request {
			g.out.expect()
		}
		g.line = append(line, '\n')
	}
}

// noID is the id in the answer to what has none (JSON-RPC 2.0, section 5).
var noID = json.RawMessage("null")

// refuse answers a line that the SDK does not get.
func (g *lineGuard) refuse(id json.RawMessage, code int, message string) {
	g.logger.Warn("skipped a line on stdin", "reason", message)
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, message)
	if err := g.out.write([]byte(answer)); err != nil {
		g.logger.Warn("could not answer it", "error", err)
	}
}

// idInFront returns the id of a message that is cut off, if it stands where most
// clients write it: before what makes the message long. Whoever sent it would wait
// in vain for any other answer.
func idInFront(line []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(line[:min(len(line), 4<<10)]))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return noID
	}
	for {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return noID
		}
		if name == "id" && (value[0] == '"' || value[0] == '-' || '0' <= value[0] && value[0] <= '9') {
			return value
		}
	}
}

// classify reports whether the SDK can take a line for a message, and whether
// it is a request that wants an answer. method is a JSON string, or nil in a
// response.
func classify(line []byte) (method json.RawMessage, request, ok bool) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id"`
		Method  json.RawMessage `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" {
		return nil, false, false
	}
	switch m.ID.(type) {
	case nil, string, float64:
	default:
		return nil, false, false
	}
	if m.Method == nil {
		return nil, false, m.ID != nil // a response
	}
	return m.Method, m.ID != nil, m.Method[0] == '"'
}
