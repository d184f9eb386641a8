package proc

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LookPath finds the program that a child with environment env and working
// directory dir would run for name, by the one rule that Start uses too:
//
//   - a name with a separator is a path, relative to dir;
//   - a bare name is looked for in the PATH of env. Empty and relative entries
//     of PATH are passed over, as they would let a working directory choose the
//     program. On Windows the extensions of PATHEXT are tried, and only those;
//   - a script whose first line names a missing interpreter is no program,
//     and neither is "#!/usr/bin/env X" when X is not in that PATH.
//
// The result is absolute; symbolic links stay, since virtual environments look
// at them. The error is a [*StartError] and permanent.
func LookPath(name string, env []string, dir string) (string, error) {
	path, failure := find(name, env, dir)
	if failure != nil {
		return "", failure
	}
	if missing := missingInterpreter(path, env, dir); missing != "" {
		failure = newLookError(BadInterpreter, name, env, dir)
		failure.Path, failure.Interpreter = path, missing
		return "", failure
	}
	return path, nil
}

// find is LookPath without a look into the file.
func find(name string, env []string, dir string) (string, *StartError) {
	failure := newLookError(NotFound, name, env, dir)
	if name != "" && filepath.Base(name) != name {
		abs, err := absolute(name, dir)
		if err == nil {
			failure.Path = abs
			abs, failure.Kind, err = probe(abs, env)
		}
		failure.Err = err
		if err == nil {
			return abs, nil
		}
		return "", failure
	}
	for _, folder := range filepath.SplitList(failure.Searched) {
		if name == "" || !filepath.IsAbs(folder) {
			continue
		}
		file := filepath.Join(folder, name)
		path, kind, err := probe(file, env)
		if err == nil {
			return path, nil
		}
		// Like execvp, go on; but a file that may not be run is a better reason.
		if kind == NotExecutable && failure.Kind == NotFound {
			failure.Kind, failure.Path, failure.Err = kind, file, err
		}
	}
	return "", failure
}

// probe returns the program that a path means, or why there is none.
func probe(path string, env []string) (program string, kind StartErrorKind, err error) {
	for _, program := range candidates(path, env) {
		info, statErr := os.Stat(program)
		switch {
		case statErr != nil: // also a folder on the way that is closed to us
			kind, err = NotFound, statErr
		case info.IsDir():
			kind, err = Directory, errIsDirectory
		default:
			if err = executable(program); err == nil {
				return program, "", nil
			}
			return "", NotExecutable, err
		}
	}
	return "", kind, err
}

var errIsDirectory = errors.New("is a directory")

// newLookError keeps of the environment what the texts need, and no secret.
func newLookError(kind StartErrorKind, name string, env []string, dir string) *StartError {
	e := &StartError{Kind: kind, Command: name, Dir: dir}
	e.Searched, e.hasPath = getenv(env, "PATH")
	for _, key := range []string{"PATH", "PATHEXT"} {
		if value, ok := getenv(env, key); ok {
			e.env = append(e.env, key+"="+value)
		}
	}
	e.places = []string{"/usr/local/bin", "/opt/homebrew/bin", "/snap/bin"}
	if home, _ := getenv(env, homeVar); home != "" {
		for _, place := range []string{".local/bin", ".cargo/bin", ".bun/bin", ".deno/bin", "bin"} {
			e.places = append(e.places, filepath.Join(home, place))
		}
	}
	return e
}

// missingInterpreter names the program that the first line of a script asks for
// and that is not there. Whatever is unclear counts as present: the child's own
// error on standard error is then the better one.
func missingInterpreter(path string, env []string, dir string) string {
	// Split at blanks only: a carriage return is part of the name to the kernel.
	words := strings.FieldsFunc(firstLine(path), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	interpreter, words := words[0], words[1:]
	if _, err := os.Stat(interpreter); errors.Is(err, fs.ErrNotExist) {
		return interpreter
	}
	if filepath.Base(interpreter) != "env" {
		return ""
	}
	if len(words) > 1 && words[0] == "-S" {
		words = words[1:2]
	}
	if len(words) != 1 || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") {
		return ""
	}
	if _, failure := find(words[0], env, dir); failure != nil {
		return words[0]
	}
	return ""
}

// firstLine returns what follows "#!" in the first line of a file, else "".
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256) // the kernel reads no more either
	n, _ := io.ReadFull(f, head)
	rest, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	line, _, whole := bytes.Cut(rest, []byte("\n"))
	if !ok || !whole && n == len(head) {
		return ""
	}
	return string(line)
}
