package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// Last is the id that means the last unit that woke the brain, or else the last
// event.
const Last = "last"

// ErrNotFound says that no file tells of an id.
var ErrNotFound = errors.New("no event, unit or turn has this id")

// Find returns the way of an event. dataDir is the folder of data. id is a trace
// id, the id of an event, of a unit (and its turn) or of a call, or [Last]. zone
// is the user's time zone, in which the stream is written.
func Find(dataDir, id string, zone *time.Location) (*Trace, error) {
	h := home{dataDir, zone}
	if _, err := os.Stat(h.kernel()); err != nil || id == "" {
		return nil, fmt.Errorf("trace %s: %w", id, ErrNotFound)
	}
	if id == Last {
		return h.last()
	}
	if turn, _, ok := strings.Cut(id, "/"); ok {
		id = turn
	}
	if units := h.units(id); len(units) > 0 {
		return h.trace(units), nil
	}
	if f, e, ok := h.event(id); ok {
		return h.alone(f, e), nil
	}
	return nil, fmt.Errorf("trace %s: %w", id, ErrNotFound)
}

// A found unit is one that lies in some queue.
type found struct {
	file
	*unit.Unit
}

func parseUnit(f file) (found, bool) {
	data, err := f.read()
	if err != nil {
		return found{}, false
	}
	u, err := unit.Parse(data)
	return found{f, u}, err == nil
}

// last returns the trace of the last unit that woke, or of the last event.
func (h home) last() (*Trace, error) {
	var newest, woke *found
	for _, q := range h.pipeline() {
		for _, f := range list(q, "unit_") {
			u, ok := parseUnit(f)
			if !ok {
				continue
			}
			if newest == nil || u.Created.After(newest.Created) {
				newest = &u
			}
			if u.Wake && (woke == nil || u.Created.After(woke.Created)) {
				woke = &u
			}
		}
	}
	if woke == nil {
		woke = newest
	}
	if woke != nil {
		return h.trace([]found{*woke}), nil
	}
	for _, f := range list(h.inbox(), "event_") {
		if e, ok := parseEvent(f); ok {
			return h.alone(f, e), nil
		}
	}
	return nil, fmt.Errorf("trace last: %w", ErrNotFound)
}

// units returns the units that an id is of: the unit with that id, or all with
// that trace id or that event, in their order.
func (h home) units(id string) []found {
	for _, q := range h.pipeline() {
		if f, ok := look(q, unit.FileName(id)); ok {
			if u, ok := parseUnit(f); ok {
				return []found{u}
			}
		}
	}
	var all []found
	seen := map[string]bool{}
	for _, q := range h.pipeline() {
		for _, f := range list(q, "unit_") {
			data, err := f.read()
			if err != nil || !bytes.Contains(data, []byte(id)) {
				continue
			}
			u, err := unit.Parse(data)
			if err != nil || seen[u.ID] || !about(u, id) {
				continue
			}
			seen[u.ID] = true
			all = append(all, found{f, u})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.Created.Compare(b.Created) })
	return all
}

// about reports whether a unit has a trace id or an event.
func about(u *unit.Unit, id string) bool {
	if u.TraceID == id {
		return true
	}
	return slices.ContainsFunc(u.Events, func(e *amp.Envelope) bool {
		return e.Header.MessageID == id || e.Header.Aurora != nil && e.Header.Aurora.TraceID == id
	})
}

func parseEvent(f file) (*amp.Envelope, bool) {
	data, err := f.read()
	if err != nil {
		return nil, false
	}
	e, err := amp.Parse(data)
	return e, err == nil
}

// event finds an event of the inbox that is part of no unit.
func (h home) event(id string) (file, *amp.Envelope, bool) {
	for _, f := range list(h.inbox(), "event_") {
		data, err := f.read()
		if err != nil || !bytes.Contains(data, []byte(id)) {
			continue
		}
		e, err := amp.Parse(data)
		if err == nil && (e.Header.MessageID == id || e.Header.Aurora != nil && e.Header.Aurora.TraceID == id) {
			return f, e, true
		}
	}
	return file{}, nil, false
}

// inboxFile finds the file of an event.
func (h home) inboxFile(e *amp.Envelope) (file, bool) {
	for _, own := range []bool{true, false} {
		if f, ok := look(h.inbox(), e.FileName(own)); ok {
			return f, true
		}
	}
	return file{}, false
}

// passage finds the passage of a unit in the stream: the file and the text
// between its marks.
func (h home) passage(id string) (path, text string, ok bool) {
	dir := h.kernel("self", "stream")
	paths := []string{filepath.Join(dir, "now.md")}
	if archived, err := filepath.Glob(filepath.Join(dir, "archive", "*.md")); err == nil {
		slices.Sort(archived)
		slices.Reverse(archived)
		paths = append(paths, archived...)
	}
	begin, end := "<!-- unit "+id+" -->\n", "<!-- end "+id+" -->"
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if _, after, ok := strings.Cut(string(data), begin); ok {
			if text, _, ok := strings.Cut(after, end); ok {
				return path, text, true
			}
		}
	}
	return "", "", false
}

// marker finds the file that hands a unit on.
func (h home) marker(id string) (file, bool) {
	for _, q := range h.pipeline() {
		if f, ok := look(q, unit.MarkerName(id)); ok {
			return f, true
		}
	}
	return file{}, false
}

// dead reports whether a file was given up.
func dead(f file) bool { return f.state == spool.Dead }
