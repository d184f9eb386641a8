package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aurorabot/aurora/internal/short"
)

// An expander replaces ${VAR}, ${VAR:-default} and ${file:PATH} in texts of the
// configuration. What it puts in is not looked at again, so a value may hold $
// and quotes. A $ that is not followed by { stays, and so does $$.
type expander struct {
	// lookup returns the value of a variable and whether it is set.
	lookup func(name string) (string, bool)
	// home is the folder that relative paths of files start from, user the home
	// folder of the user, which "~/" stands for.
	home, user string
	// read returns the text of a file.
	read func(path string) ([]byte, error)
	// met is told of each value that was put in, with the name of its variable, or
	// the path of its file.
	met func(name, value string)
}

// A fault is one thing that is wrong with a text to expand.
type fault struct{ message, hint string }

const expansionForms = "the forms are ${NAME}, ${NAME:-default} and ${file:PATH}"

// expand returns text with its expansions replaced, and what is wrong with them.
// A faulty expansion is replaced by nothing.
func (e *expander) expand(text string) (string, []fault) {
	return e.expandWithin(text, 0)
}

func (e *expander) expandWithin(text string, depth int) (string, []fault) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	if depth > 8 {
		return "", []fault{{"expansions are nested too deeply", ""}}
	}
	var out strings.Builder
	var faults []fault
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			out.WriteString(text)
			return out.String(), faults
		}
		out.WriteString(text[:start])
		length := closingBrace(text[start+2:])
		if length < 0 {
			return out.String(), append(faults, fault{"${ without a closing }", expansionForms})
		}
		value, more := e.value(text[start+2:start+2+length], depth)
		out.WriteString(value)
		faults = append(faults, more...)
		text = text[start+2+length+1:]
	}
}

// closingBrace returns the index of the brace that closes an expansion whose
// inside begins text; expansions within it have braces of their own.
func closingBrace(text string) int {
	open := 1
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			open++
			i++
		case text[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// value returns what the inside of one pair of braces stands for.
func (e *expander) value(inside string, depth int) (string, []fault) {
	if path, ok := strings.CutPrefix(inside, "file:"); ok {
		return e.file(path)
	}
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !isVariable(name) {
		hint := expansionForms
		if _, rest, ok := strings.Cut(name, ":"); ok && isVariable(rest) {
			hint = fmt.Sprintf("write ${%s}", rest)
		}
		return "", []fault{{fmt.Sprintf("${%s} is not understood", brief(name)), hint}}
	}
	if value, set := e.lookup(name); set && (value != "" || !hasFallback) {
		e.met(name, value)
		return value, nil
	}
	if hasFallback {
		return e.expandWithin(fallback, depth+1)
	}
	return "", []fault{{
		fmt.Sprintf("the variable %s is not set", name),
		fmt.Sprintf("set it in .env or in the environment, or write ${%s:-default}", name),
	}}
}

// expansions returns the expansions in a text, without their defaults: "${NAME}",
// "${file:PATH}".
func expansions(text string) []string {
	var all []string
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			return all
		}
		text = text[start+2:]
		length := closingBrace(text)
		if length < 0 {
			return all
		}
		name, _, _ := strings.Cut(text[:length], ":-")
		all = append(all, "${"+name+"}")
		text = text[length+1:]
	}
}

// maxSecretFile bounds what ${file:PATH} reads.
const maxSecretFile = 1 << 20

// file returns the text of a file without its last line end.
func (e *expander) file(path string) (string, []fault) {
	if path == "" {
		return "", []fault{{"${file:} names no file", expansionForms}}
	}
	full := e.path(path, path)
	info, err := os.Stat(full)
	var text []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = e.read(full) // which remembers that it is not there
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() > maxSecretFile:
		err = errors.New("it is larger than 1 MiB")
	default:
		text, err = e.read(full)
	}
	if err != nil {
		return "", []fault{{fmt.Sprintf("the file %s cannot be read: %s", brief(path), reason(err)), "the path is relative to the home folder"}}
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	e.met("file", value)
	return value, nil
}

// word expands one word of a command, or a folder: "~/" at its start, then the
// expansions.
func (e *expander) word(text string) (string, []fault) {
	rest, tilde := cutTilde(text)
	value, faults := e.expand(rest)
	if tilde {
		return filepath.Join(e.user, value), faults
	}
	return value, faults
}

// path makes a path absolute; written is the text as it stands in the file, and
// decides about "~/".
func (e *expander) path(written, value string) string {
	if rest, tilde := cutTilde(written); tilde && written == value {
		return filepath.Join(e.user, rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(e.home, value)
}

// cutTilde removes a leading "~/", or the whole of "~".
func cutTilde(text string) (rest string, tilde bool) {
	if text == "~" {
		return "", true
	}
	if strings.HasPrefix(text, "~/") || os.PathSeparator == '\\' && strings.HasPrefix(text, `~\`) {
		return text[2:], true
	}
	return text, false
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// brief shortens text for a message.
func brief(text string) string { return short.Runes(text, 60) }

// reason returns what went wrong with a file, without its path.
func reason(err error) string {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		err = onPath.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "it does not exist"
	}
	return err.Error()
}
