package node

import (
	"container/heap"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

// A member is one event that waits to be part of a unit.
type member struct {
	job   *circuit.Job
	event *amp.Envelope
	size  int
}

// A group is the events that become one unit, unless it turns out that some are
// part of one already.
type group struct {
	key     string
	source  amp.Source
	session string
	members []member
	bytes   int
	first   time.Time // when the first came
	due     time.Time // when the group is closed, if nothing more comes
	at      int       // place among the open groups
	hurried bool      // closed to make room; it waits for nothing more

	unit *unit.Unit    // made once, when the group's turn comes
	data []byte        // its file
	salt time.Duration // makes other ids, where the first are taken
}

func (g *group) add(m member) {
	g.members = append(g.members, m)
	g.bytes += m.size
}

func (g *group) events() []*amp.Envelope {
	events := make([]*amp.Envelope, len(g.members))
	for i, m := range g.members {
		events[i] = m.event
	}
	return events
}

// A hall is the groups of one preprocessor: the open ones, which wait for quiet,
// and the closed ones, in the order in which they become units. Its owner guards
// it.
type hall struct {
	open   map[string]*group
	clock  groupHeap // the open ones, by when they close
	closed []*group
	keys   map[eventKey]struct{} // of the events of all groups
	bytes  int
}

func (h *hall) has(e *amp.Envelope) bool {
	_, here := h.keys[keyOf(e)]
	return here
}

func (h *hall) events() int { return len(h.keys) }

// put adds an event to its group, which begins with it if there is none, and
// returns the group.
func (h *hall) put(key string, m member, now time.Time) *group {
	if h.open == nil {
		h.open, h.keys = make(map[string]*group), make(map[eventKey]struct{})
	}
	h.keys[keyOf(m.event)] = struct{}{}
	h.bytes += m.size
	g := h.open[key]
	if g == nil {
		g = &group{key: key, first: now, due: now}
		h.open[key] = g
		heap.Push(&h.clock, g)
	}
	g.add(m)
	return g
}

// wait sets when a group closes.
func (h *hall) wait(g *group, due time.Time) {
	g.due = due
	heap.Fix(&h.clock, g.at)
}

// close closes a group; nil is none.
func (h *hall) close(g *group) {
	if g == nil {
		return
	}
	heap.Remove(&h.clock, g.at)
	delete(h.open, g.key)
	h.closed = append(h.closed, g)
}

// closeDue closes the groups whose time has come, and returns when the next one
// closes; zero if none is open.
func (h *hall) closeDue(now time.Time) time.Time {
	for len(h.clock) > 0 {
		g := h.clock[0]
		if g.due.After(now) {
			return g.due
		}
		h.close(g)
	}
	return time.Time{}
}

// closeNext closes the group whose time comes next, to make room.
func (h *hall) closeNext() {
	if len(h.clock) > 0 {
		h.clock[0].hurried = true
		h.close(h.clock[0])
	}
}

// reopen lets a closed group wait again, before what has come for it meanwhile.
func (h *hall) reopen(g *group, due time.Time) {
	if other := h.open[g.key]; other != nil {
		g.members = append(g.members, other.members...)
		g.bytes += other.bytes
		heap.Remove(&h.clock, other.at)
	}
	g.due = due
	h.open[g.key] = g
	heap.Push(&h.clock, g)
}

// left says that a member is not waiting any more.
func (h *hall) left(m member) {
	delete(h.keys, keyOf(m.event))
	h.bytes -= m.size
}

// groupHeap orders open groups by when they close, then by when they began.
type groupHeap []*group

func (h groupHeap) Len() int { return len(h) }
func (h groupHeap) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].first.Before(h[j].first)
}
func (h groupHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *groupHeap) Push(x any) {
	g := x.(*group)
	g.at = len(*h)
	*h = append(*h, g)
}
func (h *groupHeap) Pop() any {
	old := *h
	g := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return g
}
