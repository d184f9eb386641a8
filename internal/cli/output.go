package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// An output is stdout and stderr of one command.
type output struct {
	stdout, stderr *sink
	json           bool // --json
	terminal       bool // stdout is one
	errTerminal    bool // stderr is one
	noColor        bool
	printed        bool // the JSON document is out
}

func newOutput(stdout, stderr io.Writer, getenv func(string) string) *output {
	return &output{
		stdout:      &sink{w: stdout},
		stderr:      &sink{w: stderr},
		terminal:    isTerminal(stdout),
		errTerminal: isTerminal(stderr),
		noColor:     getenv("NO_COLOR") != "" || getenv("TERM") == "dumb",
	}
}

// A sink is a stream that remembers the first error of a write. Safe for
// concurrent use if its writer is.
type sink struct {
	w   io.Writer
	err atomic.Pointer[error]
}

// Write implements [io.Writer].
func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if err != nil {
		s.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// lost returns why something that was written is not there. A reader that has
// gone away wants no more: `aurora tools | head` is fine.
func (s *sink) lost() error {
	if err := s.err.Load(); err != nil && !errors.Is(*err, syscall.EPIPE) {
		return *err
	}
	return nil
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal behind stdout; 0 if there is none.
func (o *output) columns() int {
	w, _ := o.size()
	return w
}

// lines returns the height of the terminal behind stdout; 0 if there is none.
func (o *output) lines() int {
	_, h := o.size()
	return h
}

func (o *output) size() (width, height int) {
	if !o.terminal || o.stdout == nil {
		return 0, 0
	}
	f, ok := o.stdout.w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// style returns the colours of stdout.
func (o *output) style() style { return style(o.terminal && !o.noColor) }

// print writes text for people to stdout; with --json nothing. Errors of writing
// are told at the end.
func (o *output) print(text string) {
	if !o.json {
		_, _ = io.WriteString(o.stdout, text)
	}
}

func (o *output) printf(format string, args ...any) { o.print(fmt.Sprintf(format, args...)) }

// note writes a message to stderr.
func (o *output) note(format string, args ...any) {
	fmt.Fprintf(o.stderr, format+"\n", args...)
}

// none tells people that a list is empty, and not lost on its way to them.
func (o *output) none(what string) {
	if !o.json {
		o.note("aurora: there are no %s", what)
	}
}

// document writes the one JSON document of --json; without --json nothing.
// On a terminal it is indented, which changes white space only.
func (o *output) document(v any) error {
	if !o.json || o.printed {
		return nil
	}
	b, err := control.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the output: %w", err)
	}
	if o.terminal {
		b = indent(b)
	}
	o.printed = true
	_, _ = o.stdout.Write(append(b, '\n'))
	return nil
}

// line writes one line of JSON Lines.
func (o *output) line(v any) error {
	b, err := control.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the output: %w", err)
	}
	o.printed = true
	_, err = o.stdout.Write(append(b, '\n'))
	return err
}

// indent returns raw JSON in lines. Tokens stay as they are.
func indent(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return raw
	}
	return b.Bytes()
}

// fail tells an error: on stderr for people, and as the document of --json
// unless there is one already.
func (o *output) fail(e *call.Error, hint string) {
	s := style(o.errTerminal && !o.noColor)
	o.note("%s %s %s", s.red("error:"), s.dim(string(e.Code)+":"), visible(e.Message))
	if hint != "" {
		o.note("%s", s.dim(hint))
	}
	_ = o.document(control.Failure{Error: e}) // plain data: it always encodes
}
