//go:build !windows

package config

// safeNames are the variables that every child gets (DESIGN section 5), beside
// LC_* and the proxies.
var safeNames = []string{"PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"}

// foldVariable makes names equal that mean the same variable.
func foldVariable(name string) string { return name }

// pythonProgram runs the entry of a Python app.
const pythonProgram = "python3"
