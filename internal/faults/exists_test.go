package faults

import (
	"os"
	"syscall"
)

// exists says whether there is such a process, be it a zombie.
func exists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return p.Signal(syscall.Signal(0)) == nil
}
