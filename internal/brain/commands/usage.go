package commands

import (
	"encoding/json"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/short"
)

// Schema returns the input schema of a tool, or one that says what a prompt
// takes: every argument is text.
func (t Target) Schema() json.RawMessage {
	if t.Tool != nil {
		return t.Tool.Schema
	}
	if t.Prompt == nil {
		return nil
	}
	// Written by hand, since the order of the arguments counts.
	var properties, required []string
	for _, a := range t.Prompt.Arguments {
		name := text(a.Name)
		properties = append(properties, name+`:{"type":"string","description":`+text(a.Description)+`}`)
		if a.Required {
			required = append(required, name)
		}
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`)
}

// text returns s as a JSON string.
func text(s string) string {
	raw, _ := json.Marshal(s) // a string always encodes
	return string(raw)
}

// Usage returns how the command of a target is written.
func (x *Index) Usage(t Target) string {
	if t.Kind == KindBuiltin {
		if b, ok := lookup(t.Name); ok && b.args != "" {
			return "/" + b.name + " " + b.args
		}
		return "/" + t.Name
	}
	return arguments.Usage(x.Short(t), arguments.Properties(t.Schema()))
}

// maxListed is how many targets a list names.
const maxListed = 12

// List returns targets with their usage, one a line, no more than a person reads.
func (x *Index) List(targets []Target) string {
	var b strings.Builder
	for i, t := range targets {
		if i == maxListed {
			b.WriteString("\n  …")
			break
		}
		b.WriteString("\n  " + x.Usage(t))
		if d := t.describe(); d != "" {
			b.WriteString("  " + d)
		}
	}
	return b.String()
}

// Explain returns what a tool or prompt does and how its command is written.
func (x *Index) Explain(t Target, l brain.Language) string {
	if t.Kind == KindBuiltin {
		b, _ := lookup(t.Name)
		return x.Usage(t) + "\n" + b.does(l)
	}
	lines := []string{l.Pick("用法：", "Usage: ") + x.Usage(t)}
	if d := t.describe(); d != "" {
		lines = append(lines, d)
	}
	if t.Tool != nil && t.Tool.Description != "" && firstLine(t.Tool.Description) != t.describe() {
		lines = append(lines, short.Runes(strings.TrimSpace(t.Tool.Description), 600))
	}
	if t.Prompt != nil && t.Prompt.Description != "" && firstLine(t.Prompt.Description) != t.describe() {
		lines = append(lines, short.Runes(strings.TrimSpace(t.Prompt.Description), 600))
	}
	for _, p := range arguments.Properties(t.Schema()) {
		line := "  " + p.Name
		if about := aboutProperty(p, l); about != "" {
			line += "  " + about
		}
		lines = append(lines, line)
	}
	if !t.enabled() {
		lines = append(lines, l.Pick("（已关闭）", "(switched off)"))
	}
	return strings.Join(append(lines, l.Pick("全名：", "Full name: ")+t.Name), "\n")
}

func aboutProperty(p arguments.Property, l brain.Language) string {
	var parts []string
	if p.Required {
		parts = append(parts, l.Pick("必填", "required"))
	}
	switch {
	case p.Words != nil:
		parts = append(parts, short.Runes(strings.Join(p.Words, " | "), 80))
	case p.Types != nil && !p.Text():
		parts = append(parts, strings.Join(p.Types, " | "))
	}
	if d := firstLine(p.Description); d != "" {
		parts = append(parts, d)
	}
	return strings.Join(parts, l.Pick("，", ", "))
}
