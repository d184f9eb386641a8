package events

import (
	"os"
	"path/filepath"
	"strings"
)

// processes returns the command lines of processes whose program lies in dir.
func processes(dir string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && filepath.Dir(strings.TrimSuffix(exe, " (deleted)")) == dir {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
