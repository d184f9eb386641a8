package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lookPath finds a program as [Options.LookPath] describes it. It does not look
// in the working directory for a word without a separator.
func lookPath(name string, env []string, dir string) (string, error) {
	vars := environmentOf(env)
	if hasSeparator(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return executable(name, vars)
	}
	path, _ := vars.lookup("PATH")
	var unusable error
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // a relative entry means another folder for us than for the child
		}
		found, err := executable(filepath.Join(folder, name), vars)
		if err == nil {
			return found, nil
		}
		if unusable == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errFolder) {
			unusable = err
		}
	}
	if unusable != nil {
		return "", unusable
	}
	return "", fmt.Errorf("%q was not found in PATH: %w", name, fs.ErrNotExist)
}

var errFolder = errors.New("is a folder")

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// executable returns path if it is a program, on Windows with the extension that
// makes it one.
func executable(path string, vars *environment) (string, error) {
	for _, extension := range programExtensions(path, vars) {
		info, err := os.Stat(path + extension)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("%s cannot be read: %s: %w", path, reason(err), err)
		case info.IsDir():
			return "", fmt.Errorf("%s %w", path, errFolder)
		case !isProgram(info):
			return "", fmt.Errorf("%s is not executable: %w", path, fs.ErrPermission)
		default:
			return path + extension, nil
		}
	}
	return "", fmt.Errorf("%s does not exist: %w", path, fs.ErrNotExist)
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
	case hint != "":
	case hasSeparator(name):
		hint = "relative paths start from the home folder"
	default:
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
			return fmt.Sprintf("write command: [%s, %s]", pythonProgram, name)
		case ".js", ".mjs", ".cjs":
			return fmt.Sprintf("write command: [node, %s]", name)
		}
		return "make it executable with chmod +x"
	}
	if errors.Is(err, errFolder) {
		return "name a program in it"
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
