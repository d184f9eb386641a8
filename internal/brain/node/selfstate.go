package node

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

const stateFile = "self/state.md"

// newState is the state of a brain that has none.
const newState = "mood: calm\nenergy: full\nfocus:\nupdated:\n"

// selfState keeps self/state.md, lines of "key: value": when something was last
// taken in, and which session has the brain's attention. Every other line is left
// as it is.
type selfState struct {
	bus  *bus.Bus
	zone *time.Location

	mu sync.Mutex // held over a change of the file
}

// update notes that a unit was taken in. What is written already is not written
// again, so that a burst costs one writing a second.
func (s *selfState) update(u *unit.Unit, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := s.bus.ReadState(stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(newState), nil
	}
	if err != nil {
		return err
	}
	text := setLine(string(data), "updated", now.In(s.zone).Format(time.RFC3339))
	if u.Wake && u.Session != "" {
		text = setLine(text, "focus", fmt.Sprintf("%s (%s)", oneLine(u.Session), oneLine(u.Source.App)))
	}
	if text == string(data) {
		return nil
	}
	return s.bus.WriteState(stateFile, []byte(text))
}

// setLine sets the value of a key, in its line or in a new one at the end.
func setLine(text, key, value string) string {
	all := strings.SplitAfter(text, "\n")
	for i, line := range all {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			all[i] = key + ": " + value + "\n"
			return strings.Join(all, "")
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + key + ": " + value + "\n"
}
