package faults

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// openFiles returns how many file descriptors this process has.
func openFiles() (int, error) {
	fds, err := os.ReadDir("/proc/self/fd")
	return len(fds), err
}

// children returns the processes whose parent this one is, zombies too.
func children() ([]string, error) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// pid (name) state ppid …; a name may hold anything.
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, fmt.Sprintf("%s (%s)", p.Name(), fields[0]))
		}
	}
	return found, nil
}
