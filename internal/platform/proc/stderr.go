package proc

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// lineRead is how much of a line is looked at, lineKeep how much is kept.
	// The rest of a line is counted and thrown away.
	lineRead = 16 << 10
	lineKeep = 4 << 10
	// lineMargin is dropped from the end of what was looked at of a longer line:
	// a secret that was cut there is not recognised by the redactor.
	lineMargin = 4 << 10
	// promptTime is how long a line must stand without its end to be shown. A
	// shorter time could show the first half of a secret.
	promptTime = 250 * time.Millisecond
)

// A tail keeps the last lines of a child's standard error.
type tail struct {
	keep   int
	redact func(string) string
	done   chan struct{} // closed when the stream has ended and everything is in

	mu      sync.Mutex // guards the fields below
	lines   []string
	size    int       // of lines, with one byte for each line end
	partial []byte    // the line that has no end yet, at most lineRead
	cut     int       // bytes of that line that were thrown away
	grown   time.Time // when partial last grew
}

func newTail(keep int, redact func(string) string) *tail {
	if keep <= 0 {
		keep = stderrKeep
	}
	return &tail{keep: keep, redact: redact, done: make(chan struct{})}
}

// drain reads until the stream ends.
func (t *tail) drain(from io.Reader, each func(string)) {
	defer close(t.done)
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		t.take(buf[:n], each)
		if err != nil {
			t.endLine(each, true)
			return
		}
	}
}

// take splits what was read into lines.
func (t *tail) take(b []byte, each func(string)) {
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		t.mu.Lock()
		room := min(len(line), lineRead-len(t.partial))
		t.partial = append(t.partial, line[:room]...)
		t.cut += len(line) - room
		t.grown = time.Now()
		t.mu.Unlock()
		if ended {
			t.endLine(each, false)
		}
		b = rest
	}
}

// endLine moves the partial line to the lines. At the end of the stream an
// empty one is no line.
func (t *tail) endLine(each func(string), last bool) {
	t.mu.Lock()
	if last && len(t.partial) == 0 {
		t.mu.Unlock()
		return
	}
	line := t.text()
	t.partial, t.cut = t.partial[:0], 0
	t.lines = append(t.lines, line)
	t.size += len(line) + 1
	for t.size > t.keep && len(t.lines) > 1 {
		t.size -= len(t.lines[0]) + 1
		t.lines[0] = "" // the array lives on
		t.lines = t.lines[1:]
	}
	t.mu.Unlock()
	if each != nil {
		each(line)
	}
}

// text is the partial line as it is shown: valid UTF-8, redacted, bounded.
func (t *tail) text() string {
	line := strings.ToValidUTF8(string(bytes.TrimSuffix(t.partial, []byte("\r"))), "\uFFFD")
	line = t.redact(line)
	keep := lineKeep
	if t.cut > 0 {
		keep = min(keep, max(0, len(line)-lineMargin))
	}
	if len(line) <= keep {
		return line
	}
	dropped := len(line) - keep + t.cut
	for keep > 0 && !utf8.RuneStart(line[keep]) {
		keep--
	}
	return line[:keep] + " … (" + strconv.Itoa(dropped) + " bytes more)"
}

// last returns at most n lines, oldest first; n < 1 means all. A line without
// its end counts when it has stood for a while, as a prompt does.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.partial) > 0 && time.Since(t.grown) > promptTime {
		lines = append(lines[:len(lines):len(lines)], t.text())
	}
	if n > 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return append([]string(nil), lines...)
}
