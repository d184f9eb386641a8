package proc

import (
	"context"
	"os"
	"time"
)

// An entry is one living process as the system shows it.
type entry struct {
	pid, ppid, pgid, sid int
	start                uint64 // unique together with pid within one boot
	comm                 string // short name of the program
	adopted              bool   // an orphan that came to this process
	owner                string // set by claim
}

// claim picks the processes that owns accepts, and all their descendants. It
// never picks this process or what it runs in: Aurora may have been started
// from a shell that an app of an earlier run has left behind.
func claim(table []entry, owns func(entry) (owner string, ok bool)) []entry {
	ours := lineage(table)
	owners := make(map[int]string)
	var claimed []entry
	for more := true; more; {
		more = false
		for _, e := range table {
			if _, ok := owners[e.pid]; ok {
				continue
			}
			owner, ok := owners[e.ppid]
			if !ok {
				owner, ok = owns(e)
			}
			if ok && !ours[e.pid] {
				owners[e.pid], e.owner = owner, owner
				claimed = append(claimed, e)
				more = true
			}
		}
	}
	return claimed
}

// lineage returns this process and those of its ancestors that are in the table.
func lineage(table []entry) map[int]bool {
	parents := make(map[int]int, len(table))
	for _, e := range table {
		parents[e.pid] = e.ppid
	}
	ours := make(map[int]bool)
	for pid := os.Getpid(); pid > 0 && !ours[pid]; pid = parents[pid] {
		ours[pid] = true
	}
	return ours
}

// purge kills what find finds until it finds nothing more and all of it is gone,
// or ctx ends. Killing a process may bring its children to light, and one may
// fork while it is killed. A dying process may no longer show whose it is, so
// what was found once is watched to its end.
func purge(ctx context.Context, find func() []entry) (killed, left []entry) {
	seen := make(map[int]bool)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		found := find()
		for _, e := range found {
			e.signal(os.Kill)
			if !seen[e.pid] {
				seen[e.pid] = true
				killed = append(killed, e)
			}
		}
		left = nil
		for _, e := range killed {
			if e.alive() {
				left = append(left, e)
			}
		}
		if len(found) == 0 && len(left) == 0 {
			return killed, nil
		}
		select {
		case <-time.After(pause): // for the kernel to end them
		case <-ctx.Done():
			return killed, left
		}
	}
}

// alive says whether this very process still runs.
func (e entry) alive() bool {
	now, ok := lookup(e.pid)
	return ok && now.start == e.start
}

// signal reaches exactly this process: the handle is taken first and the start
// time compared after, so that a process that got the same pid is safe.
func (e entry) signal(s os.Signal) {
	handle, err := os.FindProcess(e.pid)
	if err != nil {
		return
	}
	defer handle.Release()
	if e.alive() {
		handle.Signal(s)
	}
}
