package config

import (
	"fmt"
	"strings"
)

// A Problem is one thing that is wrong in the configuration. It never holds a
// secret: what the home's Redactor knows is masked in it.
type Problem struct {
	// App is the key of the app it belongs to; empty for the file as a whole.
	App string `json:"app,omitempty"`
	// File is the path as people know it: relative to the home where it lies in
	// it, "bundled:KEY/manifest.yaml" for a manifest inside the binary.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters. They are 0 where the
	// whole file is meant.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Field is the path of the setting, such as "mcp.command[1]" in an app or
	// "policy.defaults.low" in aurora.yml; empty for the file as a whole.
	Field string `json:"field,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Hint says what to do about it; sometimes empty.
	Hint string `json:"hint,omitempty"`
	// Warning tells that it may stay so: the app or the house starts all the same.
	Warning bool `json:"warning,omitempty"`

	rank int // order of the file among all files read
}

// String returns the problem on one line:
//
//	apps/config.yml:4:7: app "weather": mcp.comand: unknown key (did you mean "command"?)
func (p Problem) String() string {
	var out strings.Builder
	if p.File != "" {
		out.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&out, ":%d:%d", p.Line, p.Column)
		}
		out.WriteString(": ")
	}
	if p.Warning {
		out.WriteString("warning: ")
	}
	if p.App != "" {
		fmt.Fprintf(&out, "app %q: ", p.App)
	}
	if p.Field != "" {
		out.WriteString(p.Field)
		out.WriteString(": ")
	}
	out.WriteString(p.Message)
	if p.Hint != "" {
		fmt.Fprintf(&out, " (%s)", p.Hint)
	}
	return out.String()
}
