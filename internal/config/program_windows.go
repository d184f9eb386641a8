package config

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// programExtensions are what may be added to path to make it a program.
func programExtensions(path string, vars *environment) []string {
	list, set := vars.lookup("PATHEXT")
	if !set {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	extensions := strings.Split(strings.ToLower(list), ";")
	own := strings.ToLower(filepath.Ext(path))
	for _, extension := range extensions {
		if extension != "" && extension == own {
			return []string{""}
		}
	}
	return extensions
}

// isProgram tells whether the file can be one; the extension decides.
func isProgram(info fs.FileInfo) bool { return info.Mode().IsRegular() }
