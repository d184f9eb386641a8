package toolschema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A Dialect is a family of model providers that take tools in the same form.
type Dialect string

// The dialects.
const (
	// OpenAI is the chat completions form, spoken by nearly everybody: items
	// {"type":"function","function":{"name","description","parameters"}}.
	OpenAI Dialect = "openai"
	// Anthropic is the Messages form: items {"name","description","input_schema"}.
	Anthropic Dialect = "anthropic"
	// Gemini is the generateContent form: one item
	// {"functionDeclarations":[{"name","description","parameters"}]}.
	Gemini Dialect = "gemini"
)

// Dialects returns all dialects, in the order they are documented in.
func Dialects() []Dialect { return []Dialect{OpenAI, Anthropic, Gemini} }

// A Tool is what Convert needs to know of an MCP tool.
type Tool struct {
	Alias       string // what the model calls it; see package names
	Canonical   string // its one name in Aurora
	App         string // key of its app; Options.Own and the limit go by it
	Title       string // the server's title; empty when it has none
	Description string
	// InputSchema is the server's own; nil, null and {} are a tool without
	// parameters.
	InputSchema json.RawMessage
}

// Options tunes Convert. The zero value is right for the public providers.
type Options struct {
	// Max is how many tools one request may carry; 0 means 128, OpenAI's limit.
	Max int
	// Own are the keys of the apps whose tools are kept before all others.
	Own []string
	// Keep are patterns of canonical names kept next: a name, "prefix.*" or "*".
	Keep []string
	// MaxDescription is the length of a tool's description in characters above
	// which it is trimmed; 0 means 1024 for OpenAI, which refuses longer ones,
	// and 8192 for the others. Descriptions inside a schema may have 4096.
	MaxDescription int
	// MaxSchema is the size of one converted schema in bytes; 0 means 64 KiB.
	// A larger one is shown as an object of any shape.
	MaxSchema int
	// Strict marks a tool strict for OpenAI where its schema, unchanged, meets
	// the rules of strict mode: every object closed, every property required.
	// No schema is ever changed to meet them: that would narrow maps to {} and
	// make optional fields required (field fault C08).
	Strict bool
}

// An Export is what a provider gets.
type Export struct {
	// Tools are the items of the request's array of tools, in the order the
	// tools were given. It is empty, not nil, when there are none.
	Tools []json.RawMessage
	// Names are the canonical names of the tools in it, in the same order.
	Names []string
	// Left are the tools that are not in it.
	Left []Left
	// Notes say in words what the model sees otherwise than the server said
	// it, each beginning with the canonical name.
	Notes []string
}

// Left is a tool that a provider does not get, and why.
type Left struct {
	Canonical string `json:"name"`
	Reason    string `json:"reason"`
}

const (
	defaultMax       = 128
	defaultMaxSchema = 64 << 10
	// A schema may grow by this when its references are written out.
	growth = 16 << 10
	// A schema of this many bytes is not read at all.
	maxInput = 1 << 20
)

// accepted is what every provider takes as the name of a function: Gemini wants
// a letter or "_" first, OpenAI and Anthropic no more than 64 characters.
var accepted = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// Convert returns the tools as the providers of dialect d take them. opt may
// be nil. Every schema in the result stands alone: references are written out,
// recursion is cut. Tools that a provider would refuse are left out, so that
// the request can always be sent.
//
// More than Options.Max tools are cut by this rule: first come the tools of
// Options.Own, then those that match Options.Keep, then whole apps in the order
// given, passing over an app that no longer fits; what room is left then goes
// to the first tools of the apps passed over, in order.
func Convert(d Dialect, tools []Tool, opt *Options) Export {
	var o Options
	if opt != nil {
		o = *opt
	}
	if o.Max <= 0 {
		o.Max = defaultMax
	}
	if o.MaxSchema <= 0 {
		o.MaxSchema = defaultMaxSchema
	}
	if o.MaxDescription <= 0 {
		if o.MaxDescription = 8192; d == OpenAI {
			o.MaxDescription = 1024
		}
	}
	c := converter{dialect: d, opt: o}
	return c.convert(tools)
}

type converter struct {
	dialect Dialect
	opt     Options
	out     Export
}

// A function is one tool ready for a provider.
type function struct {
	tool        Tool
	description string
	parameters  *value // nil: none
	strict      bool
}

func (c *converter) convert(tools []Tool) Export {
	owner := make(map[string]int) // how many tools have the alias
	for _, t := range tools {
		owner[t.Alias]++
	}
	var functions []function
	for _, t := range tools {
		switch {
		case !accepted.MatchString(t.Alias):
			c.leave(t, fmt.Sprintf("no provider takes the name %q", t.Alias))
		case owner[t.Alias] > 1:
			c.leave(t, fmt.Sprintf("several tools share the alias %q", t.Alias))
		default:
			if f, ok := c.function(t); ok {
				functions = append(functions, f)
			}
		}
	}
	functions = c.limit(functions)
	c.out.Tools = c.items(functions)
	for _, f := range functions {
		c.out.Names = append(c.out.Names, f.tool.Canonical)
	}
	return c.out
}

func (c *converter) leave(t Tool, reason string) {
	c.out.Left = append(c.out.Left, Left{t.Canonical, reason})
}

func (c *converter) note(t Tool, format string, args ...any) {
	c.out.Notes = append(c.out.Notes, t.Canonical+": "+fmt.Sprintf(format, args...))
}

// function converts one tool. It reports false when it left it out.
func (c *converter) function(t Tool) (function, bool) {
	f := function{tool: t}
	var cut bool
	if f.description, cut = trim(describe(t), c.opt.MaxDescription); cut {
		c.note(t, "its description was cut to %d characters", c.opt.MaxDescription)
	}
	root, reason := readSchema(t.InputSchema)
	if reason != "" {
		c.leave(t, reason)
		return f, false
	}
	var x expander
	s, cut := x.expand(root, min(c.opt.MaxSchema, growth+4*root.size))
	if s == nil {
		c.note(t, "its input schema is over %d bytes; the model sees an object of any shape", c.opt.MaxSchema)
		s = emptyObject()
	} else if cut {
		c.note(t, "its input schema refers to itself or nests too deeply; the model sees it cut")
	}
	if x.missing != "" {
		c.note(t, "its input schema points to %q, which is not in it", clip(x.missing, 100))
	}
	if x.trimmed {
		c.note(t, "a description in its input schema was cut to %d characters", maxInner)
	}
	s, loss := objectRoot(s)
	if loss != "" {
		c.note(t, "%s; the model sees it more loosely", loss)
	}
	switch c.dialect {
	case Anthropic:
		if s, loss = acceptedKeys(s); s == nil {
			c.leave(t, loss)
			return f, false
		} else if loss != "" {
			c.note(t, "%s", loss)
		}
	case Gemini:
		s = geminiSchema(s)
		if len(s.get("properties").entries()) == 0 {
			s = nil // Gemini refuses an object without properties
		}
	case OpenAI:
		f.strict = c.opt.Strict && strictly(s)
	}
	f.parameters = s
	return f, true
}

// readSchema parses an input schema; reason says why it is none.
func readSchema(raw json.RawMessage) (root *value, reason string) {
	if len(raw) > maxInput {
		return nil, fmt.Sprintf("its input schema is over %d bytes", maxInput)
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		raw = json.RawMessage("{}")
	}
	root, err := parse(raw)
	if err != nil {
		return nil, "its input schema cannot be read: " + err.Error()
	}
	switch root.kind {
	case null:
		root = newObject(nil)
	case object, boolean:
	default:
		return nil, "its input schema is no object"
	}
	return root, ""
}

// describe returns what the model is told about a tool. The real name stands
// in it where the alias does not show it (field fault T06), and something
// always stands there.
func describe(t Tool) string {
	text := strings.ToValidUTF8(strings.TrimSpace(t.Description), "\uFFFD")
	name := ""
	if strings.ReplaceAll(t.Canonical, ".", "__") != t.Alias {
		name = strings.ToValidUTF8(t.Canonical, "\uFFFD")
	}
	if title := strings.ToValidUTF8(strings.TrimSpace(t.Title), "\uFFFD"); title != "" && (name != "" || text == "") {
		if name != "" && title != name {
			name = title + " (" + name + ")"
		} else {
			name = title
		}
	}
	switch {
	case name == "" && text == "":
		return strings.ToValidUTF8(t.Canonical, "\uFFFD")
	case name == "":
		return text
	case text == "":
		return name
	}
	return name + ": " + text
}

// clip shortens s for a message.
func clip(s string, most int) string {
	s, _ = trim(s, most)
	return s
}
