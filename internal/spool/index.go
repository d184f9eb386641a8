package spool

import (
	"container/heap"
	"slices"
)

// An index knows the names in pending and which comes next. Its owner guards it.
//
// Files stand in lanes. Lanes take turns, so that one with many files delays no
// other; within a lane the order of the files decides.
type index struct {
	exclusive bool // a lane rests until what was taken from it is released
	lanes     map[string]*lane
	turns     []*lane // lanes that may be taken from, in turn
	where     map[string]*waiting
	last      uint64 // highest order given
	count     uint64 // names ever added
}

// A lane is the files that have to keep their order.
type lane struct {
	key   string
	files fileHeap
	busy  bool // a file of it is out, and lanes are exclusive
	queue bool // it stands in turns
}

// A waiting file is one the index knows.
type waiting struct {
	name    string
	order   uint64
	arrival uint64 // decides between equal orders
	lane    *lane
	at      int // place in the lane
}

func (w *waiting) place() Place { return Place{w.order, w.lane.key} }

func (x *index) len() int { return len(x.where) }

func (x *index) has(name string) bool { return x.where[name] != nil }

// add takes in a name, once. A seq of 0 puts it behind everything so far.
func (x *index) add(name, key string, seq uint64) {
	if x.has(name) {
		return
	}
	if x.where == nil {
		x.where, x.lanes = make(map[string]*waiting), make(map[string]*lane)
	}
	if seq == 0 {
		seq = x.last
	}
	x.last = max(x.last, seq)
	x.count++
	l := x.lanes[key]
	if l == nil {
		l = &lane{key: key}
		x.lanes[key] = l
	}
	w := &waiting{name: name, order: seq, arrival: x.count, lane: l}
	x.where[name] = w
	heap.Push(&l.files, w)
	x.offer(l)
}

// offer lets a lane have its turn, if it has something to offer.
func (x *index) offer(l *lane) {
	if len(l.files) > 0 && !l.busy && !l.queue {
		l.queue = true
		x.turns = append(x.turns, l)
	}
}

// take removes and returns the next file, or nil.
func (x *index) take() *waiting {
	for len(x.turns) > 0 {
		l := x.turns[0]
		x.turns = x.turns[1:]
		l.queue = false
		if len(l.files) == 0 {
			x.leave(l)
			continue
		}
		w := heap.Pop(&l.files).(*waiting)
		delete(x.where, w.name)
		l.busy = x.exclusive
		x.offer(l)
		x.leave(l)
		return w
	}
	return nil
}

// release ends the rest of a lane.
func (x *index) release(key string) {
	if l := x.lanes[key]; l != nil {
		l.busy = false
		x.offer(l)
		x.leave(l)
	}
}

// leave forgets a lane that is of no use any more.
func (x *index) leave(l *lane) {
	if len(l.files) == 0 && !l.busy && !l.queue {
		delete(x.lanes, l.key)
	}
}

// drop forgets a name.
func (x *index) drop(name string) {
	if w := x.where[name]; w != nil {
		heap.Remove(&w.lane.files, w.at)
		delete(x.where, name)
	}
}

// prune forgets the lanes that drop has emptied.
func (x *index) prune() {
	x.turns = slices.DeleteFunc(x.turns, func(l *lane) bool {
		if l.queue = len(l.files) > 0; !l.queue {
			x.leave(l)
		}
		return !l.queue
	})
}

// fileHeap is a heap of waiting files by order, then by arrival.
type fileHeap []*waiting

func (h fileHeap) Len() int { return len(h) }
func (h fileHeap) Less(i, j int) bool {
	if h[i].order != h[j].order {
		return h[i].order < h[j].order
	}
	return h[i].arrival < h[j].arrival
}
func (h fileHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *fileHeap) Push(x any) {
	w := x.(*waiting)
	w.at = len(*h)
	*h = append(*h, w)
}
func (h *fileHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}
