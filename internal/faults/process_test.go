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

// kill ends a process, and reaps it if it has come to be a child of ours.
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()    // it may have ended by now
		_, _ = p.Wait() // it may be somebody else's child
	}
}
