package config

import (
	"reflect"
	"slices"
	"strings"
)

// A source is one file, or the part of a file that belongs to one app, while it
// is read. It remembers where each field stands, so that what is found wrong
// later still gets its place.
type source struct {
	file     string
	rank     int
	app      string
	places   map[string]place // by field path: of the value
	keys     map[string]place // by field path: of the key
	problems *[]Problem
	structs  structs
}

// structs remembers the fields of struct types while one home is read.
type structs map[reflect.Type][]field

func (known structs) fieldsOf(t reflect.Type) []field {
	fields, ok := known[t]
	if !ok {
		fields = fieldsOf(t, nil)
		known[t] = fields
	}
	return fields
}

// part returns a source for the entry of one app in the same file.
func (s *source) part(app string) *source {
	return &source{file: s.file, rank: s.rank, app: app, places: map[string]place{}, keys: map[string]place{}, problems: s.problems, structs: s.structs}
}

// has tells whether the file sets the field.
func (s *source) has(path string) bool {
	_, ok := s.places[path]
	return ok
}

// place returns where the field stands, or else the nearest field around it.
func (s *source) place(path string) place {
	for {
		if at, ok := s.places[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return s.places[""]
		}
		path = path[:cut]
	}
}

// problem reports what is wrong with a field.
func (s *source) problem(path, message, hint string) {
	s.report(s.place(path), path, message, hint, false)
}

// warn reports what is odd about a field and may stay so.
func (s *source) warn(path, message, hint string) {
	s.report(s.place(path), path, message, hint, true)
}

// problemAtKey is problem, but at the key of the field.
func (s *source) problemAtKey(path, message, hint string) {
	at, ok := s.keys[path]
	if !ok {
		at = s.place(path)
	}
	s.report(at, path, message, hint, false)
}

func (s *source) report(at place, path, message, hint string, warning bool) {
	*s.problems = append(*s.problems, Problem{
		App: s.app, File: s.file, Line: at.line, Column: at.column,
		Field: path, Message: message, Hint: hint, Warning: warning, rank: s.rank,
	})
}

// sortProblems puts problems in the order of the files and of their lines, and
// drops repetitions, which aliases in YAML cause.
func sortProblems(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		for _, d := range []int{a.rank - b.rank, a.Line - b.Line, a.Column - b.Column} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return slices.Compact(problems)
}
