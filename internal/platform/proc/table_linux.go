package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// bootID tells one boot of the machine from another: start times count from it.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id))
}

// processes returns every living process that can be seen.
func processes() []entry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var table []entry
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := lookup(pid); ok {
				table = append(table, e)
			}
		}
	}
	return table
}

// lookup returns a living process.
func lookup(pid int) (entry, bool) {
	e, zombie, ok := readStat(pid)
	return e, ok && !zombie
}

// readStat reads /proc/PID/stat, proc_pid_stat(5). The name of the program
// stands in parentheses and may hold anything, so fields count from the last one.
func readStat(pid int) (e entry, zombie, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || open < 0 || end < open {
		return entry{}, false, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 20 {
		return entry{}, false, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	e = entry{pid: pid, ppid: number(1), pgid: number(2), sid: number(3), comm: string(stat[open+1 : end])}
	e.start, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	// A killed program shows Z as soon as its first thread is gone, but holds its
	// files, and cannot be reaped, until the last one is.
	state, threads := fields[0][0], number(17)
	return e, (state == 'Z' || state == 'X') && threads <= 1, true
}

// cookieOf returns the cookie a process was started with, or inherited.
func cookieOf(pid int) string {
	env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(CookieVar+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// descendants returns the living descendants of a process.
func descendants(pid int) []entry {
	var found []entry
	threads := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, _ := os.ReadDir(threads)
	for _, task := range tasks {
		for _, child := range childrenOf(threads + task.Name()) {
			if e, ok := lookup(child); ok {
				found = append(found, e)
			}
			found = append(found, descendants(child)...)
		}
	}
	return found
}

// childrenOf returns the children of one thread. It needs a kernel with
// CONFIG_PROC_CHILDREN, which all distributions have; without it orphans are
// found by group and at the next Sweep only.
func childrenOf(task string) []int {
	list, _ := os.ReadFile(task + "/children")
	var pids []int
	for _, field := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
