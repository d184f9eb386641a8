package mcp

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"unicode/utf8"
)

// StdioOptions tune a stdio transport. The zero value is ready for use.
type StdioOptions struct {
	// MaxMessage is the longest message that is read, in bytes; 32 MiB if 0.
	// The rest of a longer one is discarded and only its request fails.
	MaxMessage int
	// OnNoise, if set, is shown the first 4 KiB of every line, or rest of a
	// line, that is no JSON-RPC message: more than one wants to see, so that a
	// secret in what is seen can be told whole. It runs on the reader's goroutine, must
	// not block, and must not keep the bytes.
	OnNoise func(line []byte)
}

const (
	defaultMaxMessage = 32 << 20
	noiseOffered      = 4 << 10 // to OnNoise
	noiseShown        = 200     // in logs and errors of our own
)

var byteOrderMark = []byte("\uFEFF")

// stdio is the transport of MCP 2025-11-25, basic/transports#stdio: messages
// are lines. The peer is untrusted, so that nothing it prints ends the reading.
type stdio struct {
	o       StdioOptions
	lines   lines
	split   splitter
	pool    buffers
	out     turnWriter
	deliver func(*Message)
	noise   atomic.Int64
	baton   baton
}

// NewStdio returns a transport that reads lines from r and writes lines to w,
// which are the stdout and the stdin of a child process.
//
// The reader bears noise, blank lines, CRLF, progress bars, byte order marks,
// messages that share a line, batches, bytes that are not UTF-8 and a last line
// without an end. Its memory is bounded by about twice MaxMessage, and goes back when the
// large message has been delivered.
//
// If w has a SetWriteDeadline that works, as pipes have, a blocked write ends
// with its context; what was not written of a message then goes out before the
// next one. Writing to any other w takes a goroutine while a write lasts.
//
// If r has a SetReadDeadline that works, calls that follow each other closely
// read their answers themselves, which saves waking two goroutines for each.
//
// Close closes w if it is an [io.Closer]. It leaves r alone: a child may still
// be flushing. Run ends when r does, so whoever owns the process ends r.
func NewStdio(r io.Reader, w io.Writer, o StdioOptions) Transport {
	if o.MaxMessage <= 0 {
		o.MaxMessage = defaultMaxMessage
	}
	t := &stdio{o: o}
	t.lines = lines{r: r, max: o.MaxMessage, pool: &t.pool}
	t.out.init(w)
	t.baton.init(r)
	return t
}

// Run reads until r ends.
func (t *stdio) Run(deliver func(*Message)) error {
	t.deliver = deliver
	for {
		line, long, err := t.lines.next()
		noise := t.noise.Load()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, fs.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return nil
		case err != nil:
			return err
		case long != nil:
			t.tooLarge(long)
		default:
			if t.lines.cut {
				t.deliver = whole(deliver)
			}
			t.read(line)
			if t.split.last == response && t.lines.start == t.lines.end {
				t.baton.offer()
			}
		}
		if noise == t.noise.Load() {
			t.lines.useless = 0
		}
	}
}

// Unfinished returns how many bytes the peer has written of a line that has not
// come to its end yet.
func (t *stdio) Unfinished() int64 { return t.lines.open.Load() }

// whole leaves out the answer that the end of the peer has cut off: who dies in
// the middle of an answer has given none, and has said nothing wrong.
func whole(deliver func(*Message)) func(*Message) {
	return func(m *Message) {
		if m.Err == nil {
			deliver(m)
		}
	}
}

// read delivers the messages of one line. What is no message is noise. An
// answer that noise stands before on its line may be quoted there, so it is
// delivered with that noise, for the session to judge; any other message there
// is noise too. After a carriage return a line begins anew, which is how
// progress bars are drawn.
func (t *stdio) read(line []byte) {
	line = trimMarks(line)
	err := t.split.split(line, t.deliver)
	if err == nil {
		return
	}
	var fault *SyntaxError
	rest := line
	if errors.As(err, &fault) {
		rest = line[t.split.from:]
	}
	if t.lines.cut && bytes.HasPrefix(rest, []byte("{")) {
		return // half a message; its content is nobody's to see
	}
	var anew []byte
	if k := bytes.LastIndex(rest, []byte("\r{")); k >= 0 {
		rest, anew = rest[:k], rest[k+1:]
	}
	t.noted(rest[:t.behind(rest)])
	if anew != nil {
		t.read(anew)
	}
}

// behind delivers the answer that a line of noise ends with, and returns how
// much of the line is noise: all of it, if nobody takes the answer.
func (t *stdio) behind(line []byte) int {
	const tries = 8
	noise := len(line)
	for at, n := 1, 0; n < tries && at < len(line); n++ {
		k := bytes.Index(line[at:], []byte(`{"`))
		if k < 0 {
			break
		}
		at += k
		if t.split.answer(line[at:], func(m *Message) {
			m.behind = line[:at]
			t.deliver(m)
			if m.behind == nil {
				noise = at
			}
		}) {
			break
		}
		at++
	}
	return noise
}

// noted counts noise and shows it.
func (t *stdio) noted(noise []byte) {
	t.noise.Add(1)
	if t.o.OnNoise != nil {
		t.o.OnNoise(clip(bytes.TrimRight(noise, "\r"), noiseOffered))
	}
}

func (t *stdio) tooLarge(long *longLine) {
	head := trimMarks(long.head)
	id := idOf(head, long.tail)
	if id == nil && !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r"), []byte("{")) {
		t.noted(head)
		return
	}
	t.deliver(&Message{ID: id, Err: &TooLargeError{Size: long.size, Max: int64(t.o.MaxMessage)}})
}

// trimMarks returns a line without the byte order marks and zero bytes that it
// begins with. Zero bytes are what a line end in UTF-16 leaves behind.
func trimMarks(line []byte) []byte {
	for {
		rest := bytes.TrimLeft(bytes.TrimPrefix(line, byteOrderMark), "\x00")
		if len(rest) == len(line) {
			return line
		}
		line = rest
	}
}

// Close closes the writer, which ends blocked writes, and lets the reader go on
// to the end of what it reads.
func (t *stdio) Close() error {
	defer t.baton.recall()
	return t.out.close()
}

// Wait returns when nothing is being written any more. Call it after Close.
func (t *stdio) Wait() { t.out.wait() }

// Noise returns how many lines, or rests of lines, were no message.
func (t *stdio) Noise() int64 { return t.noise.Load() }

// clip returns the first max bytes of b, less a character that is cut.
func clip(b []byte, max int) []byte {
	if len(b) <= max {
		return b
	}
	for n := max; n > max-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			return b[:n]
		}
	}
	return b[:max]
}
