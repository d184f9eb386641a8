package soak

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

// figures are what must not grow. What cannot be had on a system is 0.
type figures struct {
	heap       uint64 // bytes that live
	resident   uint64 // bytes of memory that the process holds
	goroutines int
	files      int // open descriptors
	children   int // processes, zombies too
}

func (f figures) String() string {
	return fmt.Sprintf("%5.1f MiB of heap, %6.1f MiB resident, %4d goroutines, %4d files, %3d children",
		float64(f.heap)/(1<<20), float64(f.resident)/(1<<20), f.goroutines, f.files, f.children)
}

// measure takes the figures at a moment of rest.
func measure() figures {
	for range 2 { // what has a finalizer goes at the second
		runtime.GC()
	}
	debug.FreeOSMemory()
	return look()
}

// look takes them as they are.
func look() figures {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := figures{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
	f.resident, f.files, f.children = processFigures()
	return f
}

func (f figures) highest(g figures) figures {
	return figures{
		heap: max(f.heap, g.heap), resident: max(f.resident, g.resident), goroutines: max(f.goroutines, g.goroutines),
		files: max(f.files, g.files), children: max(f.children, g.children),
	}
}

// mustHold fails the test if something is more at when than it was. A few
// goroutines and descriptors more are those that happen to be about, such as an
// idle connection; so many bytes are what a runtime keeps.
func (f figures) mustHold(t *testing.T, when string, now figures, few int, bytes uint64) {
	t.Helper()
	for _, c := range []struct {
		what       string
		was, is    uint64
		tolerating uint64
	}{
		{"bytes of heap", f.heap, now.heap, bytes},
		{"resident bytes", f.resident, now.resident, 4*bytes + f.resident/4},
		{"goroutines", uint64(f.goroutines), uint64(now.goroutines), uint64(few)},
		{"open files", uint64(f.files), uint64(now.files), uint64(few)},
		{"children", uint64(f.children), uint64(now.children), 0},
	} {
		if raced && c.what == "resident bytes" {
			continue
		}
		if c.is > c.was+c.tolerating {
			t.Errorf("%s: %d %s, before it were %d", when, c.is, c.what, c.was)
		}
	}
}
