package bus

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Target is what a glob of a topology means: queues, or state files.
type Target struct {
	// Glob is the glob as it was written.
	Glob string
	// Queue is the path of a queue, or a pattern for several; empty for state
	// files.
	Queue string
	// State is the path of a state file, or a pattern for several in one folder;
	// empty for queues.
	State string
}

// Inbox is the path of the queue in which events arrive.
const Inbox = "inbox"

var (
	plainName  = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	queueName  = regexp.MustCompile(`^(?:\*|[a-z0-9][a-z0-9_-]*)$`)
	queueFiles = regexp.MustCompile(`^(?:[a-z]+_)?\*\.json$`)
	stateFile  = regexp.MustCompile(`^(?:\*|[A-Za-z0-9][A-Za-z0-9_-]*)\.(?:json|md)$`)
)

// ParseTarget reads a glob relative to data/kernel. "inbox",
// "inbox/pending/event_*.json" and "inbox/*.json" all mean the queue inbox, for a
// queue is taken whole; "pipeline/*/*.json" means every queue under pipeline;
// "heartbeat/tick.json" is a state file.
func ParseTarget(glob string) (Target, error) {
	t := Target{Glob: glob}
	segments := strings.Split(strings.TrimSuffix(glob, "/"), "/")
	switch segments[0] {
	case Inbox:
		t.Queue, segments = Inbox, segments[1:]
	case "pipeline":
		if len(segments) < 2 || !queueName.MatchString(segments[1]) {
			return t, fmt.Errorf("pipeline holds queues; write pipeline/NAME/*.json with a name of small letters, digits, _ and -")
		}
		t.Queue, segments = path.Join("pipeline", segments[1]), segments[2:]
	default:
		return t, t.parseState(segments)
	}
	if len(segments) > 0 && segments[0] == "pending" {
		segments = segments[1:]
	}
	switch {
	case len(segments) == 0, len(segments) == 1 && queueFiles.MatchString(segments[0]):
		return t, nil
	case segments[0] == "processing", segments[0] == "done", segments[0] == "dead":
		return t, fmt.Errorf("%s are files that somebody works on or has worked on; a queue is watched as %s/*.json", segments[0], t.Queue)
	}
	return t, fmt.Errorf("a queue is taken whole; write %s/*.json", t.Queue)
}

func (t *Target) parseState(segments []string) error {
	if len(segments) < 2 {
		return fmt.Errorf("neither a queue (inbox, pipeline/NAME/*.json) nor a state file (FOLDER/NAME.json)")
	}
	last := len(segments) - 1
	for _, folder := range segments[:last] {
		if !plainName.MatchString(folder) {
			return fmt.Errorf("%q is not the name of a folder here; small letters, digits, _ and - make one", folder)
		}
	}
	if !stateFile.MatchString(segments[last]) {
		return fmt.Errorf("%q is not the name of a state file; it ends in .json or .md", segments[last])
	}
	t.State = strings.Join(segments, "/")
	return nil
}

// Many reports whether the target is a pattern, not one place.
func (t Target) Many() bool { return strings.Contains(t.Queue+t.State, "*") }

// HoldsQueue reports whether the target means the queue of this path.
func (t Target) HoldsQueue(queue string) bool { return t.Queue != "" && match(t.Queue, queue) }

// HoldsState reports whether the target means the state file of this path.
func (t Target) HoldsState(file string) bool { return t.State != "" && match(t.State, file) }

// Path returns the path of the one place the target means, or its pattern.
func (t Target) Path() string { return t.Queue + t.State }

// String returns the glob as it was written.
func (t Target) String() string { return t.Glob }

// match is path.Match with patterns that are known to be good.
func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
