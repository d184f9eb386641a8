package peers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// processesOf returns the processes in whose environment a home is named: every
// app is told of its data folder there, and what it starts inherits that. The
// second result says that this system can tell.
func processesOf(home string) ([]string, bool) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	var found []string
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + p.Name() + "/environ")
		if err != nil || !bytes.Contains(env, []byte(home)) {
			continue // it ended just now, or is not ours
		}
		line, _ := os.ReadFile("/proc/" + p.Name() + "/cmdline")
		found = append(found, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return found, true
}
