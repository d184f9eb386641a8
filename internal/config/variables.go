package config

import (
	"slices"
	"strings"
)

// variableRules say how a system treats the variables of a process. They are
// plain text work, so those of all systems stand here and are tested everywhere.
type variableRules struct {
	// safe are the variables that every child gets (DESIGN section 5), beside LC_*
	// and the proxies.
	safe []string
	// fold says that names which differ in letter case alone mean the same variable.
	fold bool
	// python runs the entry of a Python app.
	python string
}

var unixVariables = variableRules{
	safe:   []string{"PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"},
	python: "python3",
}

// Without SYSTEMROOT sockets do not work, without PATHEXT npx is not found. The
// installer from python.org has no python3.exe.
var windowsVariables = variableRules{
	safe: []string{
		"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC",
		"TEMP", "TMP", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "HOME",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
		"PROCESSOR_ARCHITECTURE", "LANG", "TERM", "TZ",
	},
	fold:   true,
	python: "python",
}

// key makes names equal that mean the same variable.
func (r *variableRules) key(name string) string {
	if r.fold {
		return strings.ToUpper(name)
	}
	return name
}

// isSafe tells whether a child gets the variable of this key without being told so.
func (r *variableRules) isSafe(key string) bool {
	switch strings.ToUpper(key) {
	case "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY":
		return true
	}
	return slices.Contains(r.safe, key) || strings.HasPrefix(key, "LC_")
}
