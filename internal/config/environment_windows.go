package config

import "strings"

// safeNames are the variables that every child gets (DESIGN section 5), beside
// LC_* and the proxies. Without SYSTEMROOT sockets do not work, without PATHEXT
// npx is not found.
var safeNames = []string{
	"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC",
	"TEMP", "TMP", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "HOME",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"PROCESSOR_ARCHITECTURE", "LANG", "TERM", "TZ",
}

// foldVariable makes names equal that mean the same variable.
func foldVariable(name string) string { return strings.ToUpper(name) }

// pythonProgram runs the entry of a Python app. The installer from python.org has
// no python3.exe.
const pythonProgram = "python"
