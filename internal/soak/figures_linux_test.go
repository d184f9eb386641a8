package soak

import (
	"os"
	"strconv"
	"strings"
)

// processFigures reads /proc.
func processFigures() (resident uint64, files, children int) {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseUint(fields[1], 10, 64)
			resident = pages * uint64(os.Getpagesize())
		}
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		files = len(entries)
	}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return resident, files, 0
	}
	self := strconv.Itoa(os.Getpid())
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state ppid …; a name may hold anything.
		rest := string(stat)[strings.LastIndexByte(string(stat), ')')+1:]
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == self {
			children++
		}
	}
	return resident, files, children
}
