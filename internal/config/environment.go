package config

import (
	"maps"
	"slices"
	"strings"
)

// An environment is a set of variables. Where the system does not tell letter
// cases of names apart, neither does it.
type environment struct {
	rules  *variableRules
	names  map[string]string // by key: the name as it was last written
	values map[string]string // by key
}

func newEnvironment(rules *variableRules) *environment {
	return &environment{rules: rules, names: map[string]string{}, values: map[string]string{}}
}

// environmentOf reads "KEY=VALUE" texts. Of a name that stands twice the last
// value counts.
func environmentOf(rules *variableRules, list []string) *environment {
	e := newEnvironment(rules)
	for _, text := range list {
		// Windows has names such as "=C:" for the folders of drives.
		if i := strings.IndexByte(text[min(1, len(text)):], '='); i >= 0 {
			e.set(text[:i+1], text[i+2:])
		}
	}
	return e
}

func (e *environment) set(name, value string) {
	key := e.rules.key(name)
	e.names[key] = name
	e.values[key] = value
}

func (e *environment) lookup(name string) (string, bool) {
	value, ok := e.values[e.rules.key(name)]
	return value, ok
}

func (e *environment) clone() *environment {
	return &environment{rules: e.rules, names: maps.Clone(e.names), values: maps.Clone(e.values)}
}

// list returns the variables as sorted "KEY=VALUE" texts.
func (e *environment) list() []string {
	all := make([]string, 0, len(e.values))
	for key, value := range e.values {
		all = append(all, e.names[key]+"="+value)
	}
	slices.Sort(all)
	return all
}

// safe returns the variables of e that every child may see: those that say where
// things are and how text looks, and none of ours.
func (e *environment) safe() *environment {
	kept := newEnvironment(e.rules)
	for key, name := range e.names {
		if e.rules.isSafe(key) {
			kept.set(name, e.values[key])
		}
	}
	return kept
}
