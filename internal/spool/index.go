package spool

import "container/heap"

// An index knows the names in pending and which comes first. Its owner guards it.
type index struct {
	heap  names
	where map[string]*waiting
	last  uint64 // highest order given
	count uint64 // names ever added
}

// A waiting file is one the index knows.
type waiting struct {
	name    string
	order   uint64
	arrival uint64 // decides between equal orders
	at      int    // place in the heap
}

func (x *index) len() int { return len(x.heap) }

func (x *index) has(name string) bool { return x.where[name] != nil }

// add takes in a name, once. A seq of 0 puts it behind everything so far.
func (x *index) add(name string, seq uint64) {
	if x.has(name) {
		return
	}
	if x.where == nil {
		x.where = make(map[string]*waiting)
	}
	if seq == 0 {
		seq = x.last
	}
	x.last = max(x.last, seq)
	x.count++
	w := &waiting{name: name, order: seq, arrival: x.count}
	x.where[name] = w
	heap.Push(&x.heap, w)
}

// take removes and returns the first file, or nil.
func (x *index) take() *waiting {
	if len(x.heap) == 0 {
		return nil
	}
	w := heap.Pop(&x.heap).(*waiting)
	delete(x.where, w.name)
	return w
}

// drop forgets a name.
func (x *index) drop(name string) {
	if w := x.where[name]; w != nil {
		heap.Remove(&x.heap, w.at)
		delete(x.where, name)
	}
}

// names is a heap of waiting files by order, then by arrival.
type names []*waiting

func (h names) Len() int { return len(h) }
func (h names) Less(i, j int) bool {
	if h[i].order != h[j].order {
		return h[i].order < h[j].order
	}
	return h[i].arrival < h[j].arrival
}
func (h names) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *names) Push(x any) {
	w := x.(*waiting)
	w.at = len(*h)
	*h = append(*h, w)
}
func (h *names) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}
