package circuit

import (
	"fmt"
	"slices"
	"strings"
)

// A Problem is one fault of a topology.
type Problem struct {
	File         string
	Line, Column int // counted from 1; 0: the whole file
	// Node is the id of the node; empty outside of one.
	Node string
	// Field is the key within the node, such as "config.rules[0].hour".
	Field   string
	Message string
	// Hint says what would be right; it may be empty.
	Hint string
}

// String returns the problem as one line: file:line:column: node: field: message
// (hint).
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Node != "" {
		fmt.Fprintf(&b, "node %q: ", p.Node)
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// An Invalid error lists everything that is wrong with a topology, in the order
// of the file.
type Invalid struct{ Problems []Problem }

// Error returns the problems, one a line.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// source collects the problems of one file.
type source struct {
	file     string
	problems []Problem
}

func (s *source) problem(at place, node, field, message, hint string) {
	s.problems = append(s.problems, Problem{
		File: s.file, Line: at.line, Column: at.column, Node: node, Field: field, Message: message, Hint: hint,
	})
}

func (s *source) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		if d := a.Line - b.Line; d != 0 {
			return d
		}
		return a.Column - b.Column
	})
	return &Invalid{s.problems}
}
