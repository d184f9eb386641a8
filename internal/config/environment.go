package config

import (
	"maps"
	"slices"
	"strings"
)

// An environment is a set of variables. Where the system does not tell letter
// cases of names apart, neither does it.
type environment struct {
	names  map[string]string // by folded name: the name as it was last written
	values map[string]string // by folded name
}

func newEnvironment() *environment {
	return &environment{names: map[string]string{}, values: map[string]string{}}
}

// environmentOf reads "KEY=VALUE" texts. Of a name that stands twice the last
// value counts.
func environmentOf(list []string) *environment {
	e := newEnvironment()
	for _, text := range list {
		// Windows has names such as "=C:" for the folders of drives.
		if i := strings.IndexByte(text[min(1, len(text)):], '='); i >= 0 {
			e.set(text[:i+1], text[i+2:])
		}
	}
	return e
}

func (e *environment) set(name, value string) {
	folded := foldVariable(name)
	e.names[folded] = name
	e.values[folded] = value
}

func (e *environment) lookup(name string) (string, bool) {
	value, ok := e.values[foldVariable(name)]
	return value, ok
}

func (e *environment) clone() *environment {
	return &environment{names: maps.Clone(e.names), values: maps.Clone(e.values)}
}

// list returns the variables as sorted "KEY=VALUE" texts.
func (e *environment) list() []string {
	all := make([]string, 0, len(e.values))
	for folded, value := range e.values {
		all = append(all, e.names[folded]+"="+value)
	}
	slices.Sort(all)
	return all
}

// safe returns the variables of e that every child may see: those that say where
// things are and how text looks, and none of ours.
func (e *environment) safe() *environment {
	kept := newEnvironment()
	for folded, name := range e.names {
		if isSafe(folded) {
			kept.set(name, e.values[folded])
		}
	}
	return kept
}

// isSafe tells whether a child gets this variable without being told so.
func isSafe(folded string) bool {
	upper := strings.ToUpper(folded)
	switch upper {
	case "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY":
		return true
	}
	return slices.Contains(safeNames, folded) || strings.HasPrefix(folded, "LC_")
}
