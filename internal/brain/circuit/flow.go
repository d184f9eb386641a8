package circuit

import (
	"fmt"
	"slices"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/names"
)

// An Edge leads from a node to one that it wakes.
type Edge struct {
	// From is empty where the world outside emits.
	From, To string
	// Through is the path of the queue or state file between them.
	Through string
	// Looks says that To only looks at the queue.
	Looks bool
}

// Edges returns the edges between enabled nodes, in the order of the file.
func (t *Topology) Edges() []Edge {
	var edges []Edge
	add := func(from string, target bus.Target) {
		for _, to := range t.enabled() {
			for _, w := range to.Watch {
				if meets(target, w) {
					edges = append(edges, Edge{from, to.ID, target.Path(), to.kind.Looks})
				}
			}
		}
	}
	add("", bus.Target{Queue: bus.Inbox})
	for _, from := range t.enabled() {
		for _, e := range from.Emit {
			add(from.ID, e)
		}
	}
	return edges
}

// meets reports whether a glob that is watched means a place that is emitted.
func meets(emit, watch bus.Target) bool {
	return emit.Queue != "" && watch.HoldsQueue(emit.Queue) || emit.State != "" && watch.HoldsState(emit.State)
}

func (t *Topology) enabled() []*Spec {
	var all []*Spec
	for _, s := range t.Nodes {
		if s.Enabled {
			all = append(all, s)
		}
	}
	return all
}

// checkFlow reports what cannot flow: what is emitted and never taken, what is
// taken twice, what is not what its taker takes, and nodes that nothing wakes.
func (t *Topology) checkFlow(src *source) {
	f := flow{t: t, src: src, takers: make(map[string]*Spec)}
	for _, s := range t.enabled() {
		f.checkWatch(s)
		f.checkEmit(s)
	}
	for _, s := range t.enabled() {
		f.checkEnds(s)
	}
	if f.takers[bus.Inbox] == nil {
		src.problem(place{1, 1}, "", "nodes", "nobody watches inbox/pending/event_*.json, so nothing would happen to events", f.asleep(bus.Target{Queue: bus.Inbox}))
	}
	if len(src.problems) == 0 {
		f.checkReach()
	}
}

type flow struct {
	t      *Topology
	src    *source
	takers map[string]*Spec // by queue
}

func (f *flow) wrong(s *Spec, field string, i int, message, hint string) {
	f.src.problem(s.marks[fmt.Sprintf("%s[%d]", field, i)], s.ID, field, message, hint)
}

// checkWatch looks at what a node watches.
func (f *flow) checkWatch(s *Spec) {
	for i, w := range s.Watch {
		switch {
		case w.State != "" && !s.kind.State:
			f.wrong(s, "watch", i, fmt.Sprintf("%s is a state file, which wakes no %s", w, s.Type), "")
		case w.State != "" || s.kind.Looks:
		case s.kind.Takes == "":
			f.wrong(s, "watch", i, fmt.Sprintf("%s takes no files", s.Type), "")
		case w.Many():
			f.wrong(s, "watch", i, fmt.Sprintf("%s means many queues", w), "name each queue")
		case w.Queue == bus.Inbox && s.kind.Takes != bus.Events:
			f.wrong(s, "watch", i, fmt.Sprintf("%s takes %s, and inbox holds events", s.Type, s.kind.Takes), "")
		case f.takers[w.Queue] != nil:
			f.wrong(s, "watch", i, fmt.Sprintf("%s is watched by %s too, and a file has one taker", w.Queue, f.takers[w.Queue].ID), "let the node before emit into a queue for each")
		default:
			f.takers[w.Queue] = s
		}
	}
}

// checkEmit looks at what a node emits, by itself.
func (f *flow) checkEmit(s *Spec) {
	queues := 0
	for i, e := range s.Emit {
		switch {
		case e.Many():
			f.wrong(s, "emit", i, fmt.Sprintf("%s means many places", e), "name one")
		case e.State != "" && !s.kind.State:
			f.wrong(s, "emit", i, fmt.Sprintf("%s is a state file, and a %s writes none", e, s.Type), "")
		case e.Queue != "" && s.kind.Gives == "":
			f.wrong(s, "emit", i, fmt.Sprintf("%s emits nothing into queues", s.Type), "")
		case e.Queue != "":
			if queues++; queues > 1 && s.kind.Single {
				f.wrong(s, "emit", i, fmt.Sprintf("%s emits into one queue", s.Type), "")
			}
		}
		for _, w := range s.Watch {
			if meets(e, w) && !s.kind.Looks {
				f.wrong(s, "emit", i, fmt.Sprintf("%s is what the node itself watches", e), "it would never come to rest")
			}
		}
	}
	if s.kind.Gives != "" && queues == 0 && !s.kind.Last {
		f.src.problem(s.at, s.ID, "emit", "is empty, so what the node makes is lost", "the usual is "+usual(s.kind.Emit))
	}
}

func usual(globs []string) string {
	if len(globs) == 0 {
		return "a queue"
	}
	return globs[0]
}

// checkEnds looks at where what a node emits arrives.
func (f *flow) checkEnds(s *Spec) {
	for i, e := range s.Emit {
		if e.Queue == "" || e.Many() || s.kind.Gives == "" {
			continue
		}
		taker := f.takers[e.Queue]
		switch {
		case taker == nil:
			f.wrong(s, "emit", i, fmt.Sprintf("nobody watches %s, so its files would pile up", e.Queue), f.asleep(e))
		case taker.kind.Takes != s.kind.Gives && taker != s:
			f.wrong(s, "emit", i, fmt.Sprintf("%s emits %s, and %s, which watches %s, takes %s", s.Type, s.kind.Gives, taker.ID, e.Queue, taker.kind.Takes), "")
		}
	}
}

// asleep says what may have been meant by a queue that nobody watches.
func (f *flow) asleep(e bus.Target) string {
	for _, s := range f.t.Nodes {
		for _, w := range s.Watch {
			if !s.Enabled && !s.kind.Looks && meets(e, w) {
				return fmt.Sprintf("%s does, but is not enabled", s.ID)
			}
		}
	}
	var watched []string
	for queue := range f.takers {
		watched = append(watched, queue)
	}
	slices.Sort(watched)
	if near := names.Near(e.Queue, watched, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %s/*.json?", near[0])
	}
	return ""
}

// checkReach looks for nodes that nothing wakes.
func (f *flow) checkReach() {
	edges := f.t.Edges()
	awake := map[string]bool{"": true}
	for _, s := range f.t.enabled() {
		awake[s.ID] = s.kind.Source
	}
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
			if awake[e.From] && !awake[e.To] {
				awake[e.To], changed = true, true
			}
		}
	}
	var emitted []string
	for _, s := range f.t.enabled() {
		for _, e := range s.Emit {
			emitted = append(emitted, e.Path())
		}
	}
	for _, s := range f.t.enabled() {
		if len(s.Watch) == 0 && !s.kind.Source {
			f.src.problem(s.at, s.ID, "watch", "is empty, so nothing ever wakes the node", "the usual is "+usual(s.kind.Watch))
			continue
		}
		if awake[s.ID] && !s.kind.Looks {
			f.checkWoken(s, edges, awake, emitted)
			continue
		}
		if !awake[s.ID] {
			f.unreached(s, 0, emitted)
		}
	}
}

// checkWoken looks at each thing that a node watches.
func (f *flow) checkWoken(s *Spec, edges []Edge, awake map[string]bool, emitted []string) {
	for i, w := range s.Watch {
		woken := slices.ContainsFunc(edges, func(e Edge) bool {
			return e.To == s.ID && awake[e.From] && (w.HoldsQueue(e.Through) || w.HoldsState(e.Through))
		})
		if !woken {
			f.unreached(s, i, emitted)
		}
	}
}

func (f *flow) unreached(s *Spec, i int, emitted []string) {
	w := s.Watch[i]
	hint := ""
	if near := names.Near(w.Path(), emitted, 1); len(near) > 0 && near[0] != w.Path() {
		hint = fmt.Sprintf("did you mean %s?", near[0])
	}
	message := fmt.Sprintf("nobody emits %s, so it never wakes the node", w.Path())
	if slices.Contains(emitted, w.Path()) {
		message = fmt.Sprintf("who emits %s is never woken itself, so this node is not either", w.Path())
	}
	f.wrong(s, "watch", i, message, hint)
}
