package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Script is a parsed server script. It is immutable; any number of peers may
// run it at once.
type Script struct {
	Name string // of the server, shown in serverInfo
	File string

	items    map[itemKind][]item
	page     int
	framing  framing
	ids      idStyle
	handlers []*handler
	before   []step
}

// itemKind is a kind of thing a server offers.
type itemKind string

const (
	tools     itemKind = "tool"
	resources itemKind = "resource"
	templates itemKind = "template"
	prompts   itemKind = "prompt"
)

// listKey is the key of the array in the list result of this kind.
func (k itemKind) listKey() string {
	if k == templates {
		return "resourceTemplates"
	}
	return string(k) + "s"
}

type item struct {
	name string
	json []byte
}

type framing struct {
	begin, end string
	piece      int
	pause      time.Duration
}

type idStyle string

const (
	idsExact  idStyle = "exact"
	idsQuoted idStyle = "quoted"
	idsFloat  idStyle = "float"
)

type occasion int

const (
	onStart occasion = iota
	onMessage
	onEOF
	onSignal
)

// A handler is a block with the occasion it runs on.
type handler struct {
	on      occasion
	method  string // or the name of a signal
	name    string
	hasName bool
	when    conditions
	steps   []step
}

// conditions must all hold; the zero value always holds.
type conditions struct {
	nth, run     span
	named        bool // nth counts by method and name
	seen, unseen []string
}

// A span is a range of counts; the zero value holds every count.
type span struct{ from, to int }

func (s span) holds(n int) bool {
	return s == span{} || n >= s.from && (s.to == 0 || n <= s.to)
}

// A step does one thing. Its error ends the block it stands in.
type step struct {
	at position
	do func(*turn) error
}

type position struct {
	file string
	line int
}

// A placedError is a mistake in a script with its place.
type placedError struct {
	at  position
	err error
}

func (e *placedError) Error() string { return fmt.Sprintf("%s:%d: %v", e.at.file, e.at.line, e.err) }

func (e *placedError) Unwrap() error { return e.err }

func (p position) errorf(format string, args ...any) error {
	return &placedError{p, fmt.Errorf(format, args...)}
}

// place says that err happened here, unless it happened in a block within.
func (p position) place(err error) error {
	if placed := (*placedError)(nil); errors.As(err, &placed) {
		return err
	}
	return &placedError{p, err}
}

// newItem returns what a statement like `tool NAME JSON` offers.
func newItem(kind itemKind, name string, patch []byte) (item, error) {
	if name == "raw" {
		var named struct{ Name, URI string }
		_ = json.Unmarshal(patch, &named) // a malformed item may have no name
		return item{named.Name + named.URI, patch}, nil
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return item{}, err
	}
	var base string
	switch kind {
	case tools:
		base = `{"name":%s,"inputSchema":{"type":"object"}}`
	case resources:
		base = `{"uri":%s,"name":%[1]s}`
	case templates:
		base = `{"uriTemplate":%s,"name":%[1]s}`
	case prompts:
		base = `{"name":%s}`
	}
	data := fmt.Appendf(nil, base, quoted)
	if len(patch) > 0 {
		if data, err = merge(data, patch); err != nil {
			return item{}, err
		}
	}
	return item{name, data}, nil
}
