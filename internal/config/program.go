package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// An explained error says in two parts what happened and what may help. That of
// platform/proc does.
type explained interface {
	Message() string
	Hint() string
}

// explainProgram returns why a program cannot be run, and how to get or run it.
func explainProgram(name string, err error) (message, hint string) {
	message = strings.TrimSuffix(err.Error(), ": "+fs.ErrNotExist.Error())
	message = strings.TrimSuffix(message, ": "+fs.ErrPermission.Error())
	hint = programHint(name, err)
	var own explained
	if errors.As(err, &own) {
		message = own.Message()
		if hint == "" {
			hint = own.Hint()
		}
	}
	switch {
	case lineHint(name) != "":
		hint = lineHint(name)
	case hint == "":
		hint = "install it, write its whole path, or set PATH in env"
	}
	return message, hint
}

// programHint knows what helps with scripts and with well-known programs.
func programHint(name string, err error) string {
	base := strings.TrimSuffix(filepath.Base(name), ".exe")
	if errors.Is(err, fs.ErrPermission) {
		switch filepath.Ext(base) {
		case ".py":
			return fmt.Sprintf("write command: [%s, %s]", variables.python, name)
		case ".js", ".mjs", ".cjs":
			return fmt.Sprintf("write command: [node, %s]", name)
		}
		return "make it executable with chmod +x"
	}
	switch base {
	case "npx", "npm", "node":
		return "install Node.js from https://nodejs.org"
	case "uvx", "uv":
		return "install uv from https://docs.astral.sh/uv"
	case "python3", "python":
		return "install Python from https://www.python.org"
	case "docker":
		return "install Docker from https://docs.docker.com"
	case "bunx", "bun":
		return "install Bun from https://bun.sh"
	}
	return ""
}
