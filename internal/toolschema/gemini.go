package toolschema

import (
	"slices"
	"strconv"
	"strings"
)

// maxInherited is how many characters of a description go into each branch of a
// choice: without a bound, many branches under a long description would make
// far more text than the schema had.
const maxInherited = 200

// geminiSchema returns s in the subset of OpenAPI 3.0 that Gemini's function
// declarations take: one type per schema, "nullable" instead of the type null,
// enums of strings only, items on every array, anyOf as the only combination,
// and no keyword outside the list (field fault C06). Where s says more, the
// result says less, never something else; a word in the description makes up
// for it where that helps a model.
func geminiSchema(s *value) *value {
	if s.kind != object {
		return newObject(nil)
	}
	var g geminiShape
	g.absorb(s)
	return g.schema()
}

// A geminiShape gathers what one schema says, with its allOf taken in.
type geminiShape struct {
	types    []string // without null, none twice
	typed    bool     // a type was given
	nullable bool
	title    *value
	about    string // the description
	hints    []string
	format   string
	fallback *value // default
	enum     []*value
	limits   []member // keywords that Gemini has too, in order
	props    propertyUnion
	required []string
	items    *value
	anyOf    []*value
}

func (g *geminiShape) absorb(s *value) {
	for _, m := range s.members {
		switch m.name {
		case "type":
			g.setTypes(m.value.texts())
		case "nullable":
			g.nullable = g.nullable || m.value.token == "true"
		case "title":
			g.title = m.value
		case "description":
			g.about = m.value.str()
		case "default":
			if finite(m.value) {
				g.fallback = m.value
			}
		case "format":
			g.format = m.value.str()
		case "enum":
			if g.enum == nil {
				g.enum = m.value.items
			}
		case "const":
			g.enum = []*value{m.value}
		case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "pattern":
			if m.value.kind == text || fits(m.value.token) {
				g.limits = set(g.limits, len(g.limits), m.name, m.value)
			}
		case "exclusiveMinimum", "exclusiveMaximum":
			// Gemini has only the inclusive bounds, which allow one value more.
			name := "minimum"
			if m.name == "exclusiveMaximum" {
				name = "maximum"
			}
			if m.value.kind == number && fits(m.value.token) && indexOf(g.limits, name) < 0 {
				g.limits = append(g.limits, member{name, m.value})
			}
		case "properties":
			g.props.add(m.value, "allOf")
		case "required":
			g.required = unique(append(g.required, m.value.texts()...))
		case "items":
			switch {
			case m.value.kind != array:
				g.items = m.value
			case len(m.value.items) > 0:
				g.items = newObject([]member{{"anyOf", m.value}})
			}
		case "prefixItems":
			if g.items == nil {
				g.items = newObject([]member{{"anyOf", m.value}})
			}
		case "allOf":
			for _, branch := range m.value.items {
				about := g.about
				g.absorb(branch)
				if about != "" {
					g.about = about
				}
			}
		case "anyOf", "oneOf":
			if g.anyOf == nil {
				g.anyOf = m.value.items
			}
		}
	}
}

// setTypes narrows the types to those given.
func (g *geminiShape) setTypes(types []string) {
	var out []string
	for _, t := range types {
		switch {
		case t == "null":
			g.nullable = true
		case !g.typed || slices.Contains(g.types, t):
			out = append(out, t)
		}
	}
	g.typed = true
	g.types = out
}

// schema builds Gemini's form of what was gathered.
func (g *geminiShape) schema() *value {
	if g.anyOf != nil {
		branches := make([]*value, 0, len(g.anyOf))
		for _, b := range g.anyOf {
			switch {
			case onlyNull(b):
				g.nullable = true
			case b.kind == object && !slices.ContainsFunc(branches, func(v *value) bool { return same(v, b) }):
				branches = append(branches, b)
			}
		}
		g.anyOf = nil
		switch {
		case len(branches) == 1:
			// A choice of one is no choice.
			about := g.about
			g.absorb(branches[0])
			if about != "" {
				g.about = about
			}
			return g.schema()
		case len(branches) > 1 && g.shaped():
			// Both say something: the branches only add properties.
			for _, b := range branches {
				var in geminiShape
				in.absorb(b)
				g.props.add(in.props.value(), "anyOf")
			}
		case len(branches) > 1:
			return g.choice(branches)
		}
	}
	if g.enum != nil {
		if groups := g.enumTypes(); len(groups) > 1 {
			return g.choice(groups)
		}
	}
	if len(g.types) > 1 {
		var branches []*value
		for _, t := range g.types {
			one := *g
			one.types, one.about, one.hints, one.title, one.fallback = []string{t}, "", nil, nil, nil
			branches = append(branches, one.schema())
		}
		return g.emit(branches)
	}
	return g.single()
}

// shaped reports whether the schema says of itself what its values look like.
func (g *geminiShape) shaped() bool {
	return len(g.types) > 0 || len(g.props.members) > 0 || g.items != nil || g.enum != nil
}

// choice builds an anyOf of JSON schemas.
func (g *geminiShape) choice(branches []*value) *value {
	out := make([]*value, len(branches))
	for i, b := range branches {
		out[i] = geminiSchema(b)
	}
	return g.emit(out)
}

// emit builds an anyOf of finished branches. Vertex AI takes nothing beside an
// anyOf, so what belongs to all of them goes into each.
func (g *geminiShape) emit(branches []*value) *value {
	about := clip(g.description(), maxInherited)
	var out []*value
	for _, b := range branches {
		if inner := b.get("anyOf"); inner != nil {
			out = append(out, inner.items...)
		} else {
			out = append(out, b)
		}
	}
	for i, b := range out {
		members := slices.Clone(b.members)
		if about != "" && b.get("description") == nil {
			members = append(members, member{"description", newString(about)})
		}
		if g.nullable && b.get("nullable") == nil {
			members = append(members, member{"nullable", newTrue()})
		}
		out[i] = newObject(members)
	}
	return newObject([]member{{"anyOf", newArray(out)}})
}

// enumTypes splits an enum that mixes types into one schema for each type, and
// keeps an enum of one type as it is. The value null only makes it nullable.
func (g *geminiShape) enumTypes() []*value {
	groups := map[string][]*value{}
	var order []string
	var rest []*value
	for _, v := range g.enum {
		t := typeOf(v)
		if t == "null" {
			g.nullable = true
			continue
		}
		if g.typed && !slices.Contains(g.types, t) && !(t == "integer" && slices.Contains(g.types, "number")) {
			continue
		}
		if t == "integer" && g.typed && !slices.Contains(g.types, "integer") {
			t = "number"
		}
		if groups[t] == nil {
			order = append(order, t)
		}
		groups[t] = append(groups[t], v)
		rest = append(rest, v)
	}
	g.enum = rest
	if len(order) == 1 {
		g.types, g.typed = order, true
	}
	var out []*value
	for _, t := range order {
		out = append(out, newObject([]member{{"type", newString(t)}, {"enum", newArray(groups[t])}}))
	}
	return out
}

// single builds a schema of one type, or of none when nothing is known.
func (g *geminiShape) single() *value {
	t := ""
	switch {
	case len(g.types) == 1:
		t = g.types[0]
	case g.typed:
		// Only null, or nothing at all: no type says that.
	case len(g.props.members) > 0:
		t = "object"
	case g.items != nil:
		t = "array"
	}
	var out []member
	if t != "" {
		out = append(out, member{"type", newString(t)})
	}
	if g.nullable {
		out = append(out, member{"nullable", newTrue()})
	}
	if g.title != nil {
		out = append(out, member{"title", g.title})
	}
	switch t {
	case "string":
		if f := g.format; f == "date-time" || f == "enum" {
			out = append(out, member{"format", newString(f)})
		} else if f != "" {
			g.hints = append(g.hints, "format: "+f)
		}
	case "integer", "number":
		switch g.format {
		case "int32", "int64":
			if t == "integer" {
				out = append(out, member{"format", newString(g.format)})
			}
		case "float", "double":
			if t == "number" {
				out = append(out, member{"format", newString(g.format)})
			}
		}
	}
	if g.enum != nil {
		if e := g.enumOf(t); e != nil {
			out = append(out, member{"enum", e})
		}
	}
	if about := g.description(); about != "" {
		out = append(out, member{"description", newString(about)})
	}
	if g.fallback != nil {
		out = append(out, member{"default", g.fallback})
	}
	for _, m := range g.limits {
		if limitOf(m.name) == t || limitOf(m.name) == "number" && t == "integer" {
			out = append(out, m)
		}
	}
	switch t {
	case "array":
		items := newObject(nil)
		if g.items != nil {
			items = geminiSchema(g.items)
		}
		out = append(out, member{"items", items})
	case "object":
		var props []member
		for _, m := range g.props.members {
			if m.value.kind == object || m.value.token == "true" {
				props = append(props, member{m.name, geminiSchema(m.value)})
			}
		}
		if len(props) == 0 {
			break // Gemini refuses empty properties
		}
		out = append(out, member{"properties", newObject(props)})
		shown := map[string]bool{}
		for _, m := range props {
			shown[m.name] = true
		}
		required := slices.DeleteFunc(slices.Clone(g.required), func(n string) bool { return !shown[n] })
		if len(required) > 0 {
			out = append(out, member{"required", newStrings(required)})
		}
	}
	return newObject(out)
}

// enumOf returns the enum for a schema of type t. Gemini has enums of strings
// that are not empty; the values of other types go into the description.
func (g *geminiShape) enumOf(t string) *value {
	var out []*value
	var words []string
	for _, v := range g.enum {
		if v.kind != text {
			words = append(words, clip(string(v.json()), 100))
		} else if v.str() != "" && !slices.ContainsFunc(out, func(o *value) bool { return same(o, v) }) {
			out = append(out, v)
		}
	}
	if t == "string" && len(out) > 0 {
		return newArray(out)
	}
	if len(words) > 0 && len(words) <= 50 {
		g.hints = append(g.hints, "one of: "+strings.Join(words, ", "))
	}
	return nil
}

// description returns the description with the hints after it.
func (g *geminiShape) description() string {
	about := g.about
	for _, h := range g.hints {
		if about != "" {
			about += " "
		}
		about += "(" + h + ")"
	}
	return about
}

// onlyNull reports whether a schema allows null and nothing else.
func onlyNull(s *value) bool {
	if c := s.get("const"); c != nil {
		return c.kind == null
	}
	if types := s.get("type").texts(); len(types) > 0 {
		return len(types) == 1 && types[0] == "null"
	}
	e := s.get("enum")
	return e != nil && !slices.ContainsFunc(e.items, func(v *value) bool { return v.kind != null })
}

// typeOf returns the name that JSON Schema has for the type of v.
func typeOf(v *value) string {
	switch v.kind {
	case null:
		return "null"
	case boolean:
		return "boolean"
	case number:
		if strings.ContainsAny(v.token, ".eE") {
			return "number"
		}
		return "integer"
	case text:
		return "string"
	case array:
		return "array"
	}
	return "object"
}

// limitOf returns the type that a limiting keyword belongs to.
func limitOf(keyword string) string {
	switch keyword {
	case "minimum", "maximum":
		return "number"
	case "minLength", "maxLength", "pattern":
		return "string"
	case "minItems", "maxItems":
		return "array"
	}
	return "object"
}

// fits reports whether a number is within float64, which Gemini reads.
func fits(token string) bool {
	_, err := strconv.ParseFloat(token, 64)
	return err == nil
}

// finite reports whether all numbers in v are within float64.
func finite(v *value) bool {
	return (v.kind != number || fits(v.token)) &&
		!slices.ContainsFunc(v.items, func(i *value) bool { return !finite(i) }) &&
		!slices.ContainsFunc(v.members, func(m member) bool { return !finite(m.value) })
}
