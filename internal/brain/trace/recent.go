package trace

import (
	"slices"

	"github.com/aurorabot/aurora/internal/brain/commands"
)

// Recent returns the latest events of the inbox, at most so many, the newest
// first. dataDir is the folder of data. Files that are no events are passed over.
func Recent(dataDir string, most int) []commands.Event {
	h := home{dir: dataDir}
	var out []commands.Event
	for _, f := range list(h.inbox(), "event_") {
		if len(out) == most {
			break
		}
		e, ok := parseEvent(f)
		if !ok {
			continue
		}
		s := h.eventStep(e, f, true)
		out = append(out, commands.Event{At: s.At, Type: e.Payload.Type, App: e.Header.Source.App, Summary: summary(e.Payload.Summary, s.What), State: string(f.state)})
	}
	slices.SortStableFunc(out, func(a, b commands.Event) int { return b.At.Compare(a.At) })
	return out
}

func summary(own, otherwise string) string {
	if own != "" {
		return line(own)
	}
	return otherwise
}
