package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A StartErrorKind says why a child could not be started.
type StartErrorKind string

// The kinds of start errors.
const (
	NotFound       StartErrorKind = "not_found"       // no such program
	NotExecutable  StartErrorKind = "not_executable"  // a file that cannot be run
	Directory      StartErrorKind = "directory"       // the command is a folder
	BadInterpreter StartErrorKind = "bad_interpreter" // the script's interpreter is missing
	BadDir         StartErrorKind = "bad_dir"         // the working directory is missing or no folder
	Other          StartErrorKind = "other"           // anything else, mostly a shortage
)

// A StartError says why a child could not be started and what may help. It
// holds no argument and, of the environment, only PATH.
type StartError struct {
	Kind StartErrorKind
	// Name is the app's, empty from LookPath.
	Name string
	// Command is the first word as written, Path the file it led to, if any.
	Command, Path string
	// Searched is the PATH of the child, in which bare names are looked for.
	Searched string
	// Interpreter is what a script asked for in vain, for BadInterpreter.
	Interpreter string
	// Dir is the working directory.
	Dir string
	// Err is the system's own error, if there is one.
	Err error

	hasPath bool     // PATH was set at all
	env     []string // PATH and PATHEXT
	places  []string // where people install programs that daemons do not find
}

// Error says what happened, where it was searched, and the hint.
func (e *StartError) Error() string {
	if hint := e.Hint(); hint != "" {
		return e.Message() + "; " + hint
	}
	return e.Message()
}

// Unwrap returns the system's own error.
func (e *StartError) Unwrap() error { return e.Err }

// Permanent says that trying again without a change is useless.
func (e *StartError) Permanent() bool {
	if e.Kind != Other {
		return true
	}
	for _, passing := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY, syscall.EINTR, syscall.EIO} {
		if errors.Is(e.Err, passing) {
			return false
		}
	}
	return true
}

// Message says what happened, and for a bare command where it was searched.
func (e *StartError) Message() string {
	command := fmt.Sprintf("command %q", e.Command)
	if e.Path != "" && e.Path != e.Command {
		command += fmt.Sprintf(" (%s)", e.Path)
	}
	switch e.Kind {
	case NotFound:
		switch {
		case e.Command == "":
			return "no command is given"
		case e.Path != "" && errors.Is(e.Err, fs.ErrPermission):
			return command + " cannot be reached: permission denied"
		case e.Path != "":
			return command + " does not exist"
		}
		return command + " was not found in " + e.searched()
	case NotExecutable:
		if errors.Is(e.Err, errBadFormat) {
			return command + " is not a program for this system"
		}
		return command + " is not executable"
	case Directory:
		return command + " is a directory"
	case BadInterpreter:
		if e.Interpreter == "" {
			return command + " needs a program loader that does not exist"
		}
		if !filepath.IsAbs(e.Interpreter) {
			return fmt.Sprintf("%s needs %q, which was not found in %s", command, e.Interpreter, e.searched())
		}
		return fmt.Sprintf("%s needs %q, which does not exist", command, e.Interpreter)
	case BadDir:
		if e.Err == nil {
			return fmt.Sprintf("working directory %q is not a directory", e.Dir)
		}
		if errors.Is(e.Err, fs.ErrNotExist) {
			return fmt.Sprintf("working directory %q does not exist", e.Dir)
		}
		return fmt.Sprintf("working directory %q cannot be used: %v", e.Dir, plain(e.Err))
	}
	return fmt.Sprintf("%s could not be started: %v", command, plain(e.Err))
}

func (e *StartError) searched() string {
	if !e.hasPath {
		return "PATH, which is not set for the app"
	}
	return "PATH (" + e.Searched + ")"
}

// Hint says what may help, or nothing.
func (e *StartError) Hint() string {
	switch e.Kind {
	case NotFound:
		switch {
		case e.Command == "":
			return "name a program"
		case e.Path != "" && errors.Is(e.Err, fs.ErrPermission):
			return "correct the permissions of its folders"
		case e.Path != "":
			return "correct the path"
		case strings.ContainsAny(e.Command, " \t"):
			return "write the command as a list, each argument a word of its own"
		}
		return e.missingHint(e.Command, "write its absolute path")
	case NotExecutable:
		if errors.Is(e.Err, errBadFormat) {
			return "a script needs a first line such as #!/bin/sh, a binary must be built for this system"
		}
		switch filepath.Ext(e.Path) {
		case ".py":
			return fmt.Sprintf("put python3 before it, or run: chmod +x %s", e.Path)
		case ".js", ".mjs", ".cjs":
			return fmt.Sprintf("put node before it, or run: chmod +x %s", e.Path)
		}
		return fmt.Sprintf("run: chmod +x %s", e.Path)
	case Directory:
		return "name the program inside it"
	case BadInterpreter:
		switch {
		case e.Interpreter == "":
			return "it was built for another system, such as glibc on a musl system"
		case strings.HasSuffix(e.Interpreter, "\r"):
			return "the file has Windows line ends: save it with Unix ones"
		case filepath.IsAbs(e.Interpreter):
			return "correct the first line of the file, or put an interpreter before it"
		}
		return e.missingHint(e.Interpreter, "write its absolute path before the command")
	case BadDir:
		return "make it, or correct the working directory"
	}
	switch {
	case errors.Is(e.Err, syscall.E2BIG):
		return "arguments and environment are too long for this system"
	case errors.Is(e.Err, syscall.EINVAL):
		return "is there a NUL byte in the arguments or the environment?"
	case errors.Is(e.Err, syscall.ETXTBSY):
		return "somebody is writing the file; it may pass"
	case !e.Permanent():
		return "the system is short of processes, memory or files; it may pass"
	}
	return ""
}

// missingHint knows the programs that MCP servers are mostly started with, and
// looks for the missing one where people install them.
func (e *StartError) missingHint(name, way string) string {
	for _, place := range e.places {
		if path, _, err := probe(filepath.Join(place, name), e.env); err == nil {
			return fmt.Sprintf("there is %s: %s, or add its folder to PATH", path, way)
		}
	}
	if name == "python" {
		if path, failure := find("python3", e.env, e.Dir); failure == nil {
			return fmt.Sprintf("there is %s: write python3", path)
		}
	}
	product := "it"
	switch name {
	case "npx", "npm", "node":
		product = "Node.js (https://nodejs.org)"
	case "uvx", "uv":
		product = "uv (https://docs.astral.sh/uv)"
	}
	return fmt.Sprintf("install %s, or %s", product, way)
}

// classify turns the error of a fork or exec into a kind. What LookPath has seen
// is settled by then, so a missing file is not the program but what it needs.
func (e *StartError) classify() {
	switch {
	case errors.Is(e.Err, errBadFormat), errors.Is(e.Err, fs.ErrPermission):
		e.Kind = NotExecutable
	case errors.Is(e.Err, fs.ErrNotExist):
		if _, err := os.Stat(e.Path); err == nil {
			e.Kind = BadInterpreter
		} else {
			e.Kind = NotFound
		}
	}
}

// plain takes the operation and the path off a system error: the message has
// them already.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
