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
		name, rest, _ := cutLast(string(stat), ")")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, fmt.Sprintf("%s) in state %s", name, fields[0]))
		}
	}
	return found, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
