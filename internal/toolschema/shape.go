package toolschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// A shape is what of a schema can be seen at one look: kinds of values, names
// of members, lists of words. Most schemas of tools are no more than that, and
// most arguments fit, so that one pass over the bytes, without a copy, replaces
// the validator. A shape only ever says that a value surely fits. Where it is
// not sure it says nothing, and the validator finds out and explains.
//
// The nil shape is never sure. Shapes never change once made.
type shape struct {
	kinds   kind            // of other kinds nothing is sure
	whole   bool            // of numbers only those written as integers
	words   map[string]bool // the strings that fit; nil: all
	free    bool            // whatever an object holds
	members map[string]slot // what an object holds
	rest    *shape          // what else it holds
	needed  uint64          // the bits of slots that must be there
	items   *shape          // what an array holds
}

// A slot is a member that a shape names.
type slot struct {
	shape *shape
	bit   uint64 // in needed; 0: it may be missing
}

// maxWord is how many bytes a name or a word of an enum may have to be seen at
// one look.
const maxWord = 1 << 10

const anyKind = null | boolean | number | text | array | object

// whatever asks for nothing: every value fits.
var whatever = func() *shape {
	s := &shape{kinds: anyKind, free: true}
	s.items = s
	return s
}()

// shapeOf returns the shape of a schema that was prepared by forValidation; nil
// if nothing about it can be seen at one look. It leaves out kinds of values on
// which the schema has more to say.
func shapeOf(v *value) *shape {
	if v.kind == boolean && v.token == "true" {
		return whatever
	}
	if v.kind != object {
		return nil
	}
	s := &shape{kinds: anyKind, rest: whatever, items: whatever}
	free := true
	for _, m := range v.members {
		switch m.name {
		case "type":
			s.limit(m.value.texts())
		case "enum":
			s.choose(m.value.list())
		case "properties":
			free = false
			s.members = make(map[string]slot, len(m.value.members))
			for _, p := range m.value.members {
				s.members[p.name] = slot{shape: shapeOf(p.value)}
			}
		case "additionalProperties":
			s.rest = shapeOf(m.value)
			free = free && s.rest == whatever
		case "items":
			s.items = shapeOf(m.value)
		case "required":
			free = free && len(m.value.list()) == 0
		case "anyOf":
			// Where every kind of value has one branch at most, the branch
			// alone says what fits.
			joined := union(m.value.list())
			if joined == nil || !bare(v) {
				return nil
			}
			return joined
		case "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum":
			s.kinds &^= number
		case "maxLength", "minLength", "pattern":
			s.kinds &^= text
		case "prefixItems", "additionalItems", "maxItems", "minItems", "uniqueItems",
			"contains", "maxContains", "minContains", "unevaluatedItems":
			s.kinds &^= array
		case "maxProperties", "minProperties", "patternProperties", "propertyNames", "dependencies",
			"dependentRequired", "dependentSchemas", "unevaluatedProperties":
			s.kinds &^= object
		case "const", "allOf", "oneOf", "not", "if", "then", "else",
			"$ref", "$dynamicRef", "$recursiveRef":
			return nil
		}
	}
	if s.free = free; !free {
		s.need(v.get("required").texts())
	}
	return s
}

// limit leaves only the kinds with these names.
func (s *shape) limit(types []string) {
	var kinds kind
	whole := false
	for _, t := range types {
		switch t {
		case "null":
			kinds |= null
		case "boolean":
			kinds |= boolean
		case "number":
			kinds |= number
		case "integer":
			kinds |= number
			whole = true
		case "string":
			kinds |= text
		case "array":
			kinds |= array
		case "object":
			kinds |= object
		}
	}
	s.kinds &= kinds
	s.whole = whole && !slices.Contains(types, "number")
}

// choose leaves only values that an enum names. Of those only strings, booleans
// and null can be told by their text; numbers are written in many ways.
func (s *shape) choose(values []*value) {
	var kinds kind
	var yes, no bool
	s.words = map[string]bool{}
	for _, v := range values {
		switch v.kind {
		case text:
			kinds |= text
			s.words[v.str()] = true
		case null:
			kinds |= null
		case boolean:
			yes, no = yes || v.token == "true", no || v.token == "false"
		}
	}
	if yes && no {
		kinds |= boolean
	}
	s.kinds &= kinds
}

// need makes members be there that required names.
func (s *shape) need(names []string) {
	bit := uint64(1)
	for _, name := range names {
		known, ok := s.members[name]
		if known.bit != 0 {
			continue
		}
		if bit == 0 { // more than 64
			s.kinds &^= object
			return
		}
		if !ok {
			known.shape = s.rest
		}
		if s.members == nil {
			s.members = map[string]slot{}
		}
		known.bit = bit
		s.members[name] = known
		s.needed |= bit
		bit <<= 1
	}
}

// bare reports whether a schema with anyOf constrains nothing beside it.
func bare(v *value) bool {
	for _, m := range v.members {
		switch r, kinds := keyword(m.name); {
		case m.name == "anyOf", annotation(m.name), r == identity, r == definitions:
		case m.name == "const", kinds != anyKind: // a keyword that asserts
			return false
		}
	}
	return true
}

// union returns the shape of values that fit one of the schemas, if no kind of
// value may be that of two of them; else nil.
func union(schemas []*value) *shape {
	joined := &shape{}
	for _, v := range schemas {
		s := shapeOf(v)
		if s == nil || s.kinds&joined.kinds != 0 {
			return nil
		}
		joined.kinds |= s.kinds
		if s.kinds&number != 0 {
			joined.whole = s.whole
		}
		if s.kinds&text != 0 {
			joined.words = s.words
		}
		if s.kinds&array != 0 {
			joined.items = s.items
		}
		if s.kinds&object != 0 {
			joined.free, joined.members, joined.rest, joined.needed = s.free, s.members, s.rest, s.needed
		}
	}
	return joined
}

// fits reports whether args are well-formed and surely fit.
func (s *shape) fits(args []byte) bool {
	if s == nil || !json.Valid(args) {
		return false
	}
	g := glance{b: args}
	return g.value(s, 0)
}

// A glance walks over JSON that is known to be valid.
type glance struct {
	b []byte
	i int
}

// next returns the next byte that is not white space, without taking it.
func (g *glance) next() byte {
	for {
		switch c := g.b[g.i]; c {
		case ' ', '\t', '\r', '\n':
			g.i++
		default:
			return c
		}
	}
}

// value takes one value and reports whether it surely fits. When it does not,
// the rest is left.
func (g *glance) value(s *shape, depth int) bool {
	if s == nil || depth >= maxDepth {
		return false
	}
	switch c := g.next(); c {
	case '{':
		return s.kinds&object != 0 && g.object(s, depth)
	case '[':
		return s.kinds&array != 0 && g.array(s, depth)
	case '"':
		word, plain := g.text()
		return s.kinds&text != 0 && (s.words == nil || plain && s.words[string(word)])
	case 'n':
		g.i += len("null")
		return s.kinds&null != 0
	case 't':
		g.i += len("true")
		return s.kinds&boolean != 0
	case 'f':
		g.i += len("false")
		return s.kinds&boolean != 0
	}
	return s.kinds&number != 0 && (g.number() || !s.whole)
}

func (g *glance) object(s *shape, depth int) bool {
	g.i++
	var found uint64
	for g.next() != '}' {
		if g.b[g.i] == ',' {
			g.i++
			g.next()
		}
		name, plain := g.text()
		g.next()
		g.i++ // the colon
		inside := whatever
		if !s.free {
			if !plain {
				return false
			}
			inside = s.rest
			if known, ok := s.members[string(name)]; ok {
				inside = known.shape
				found |= known.bit
			}
		}
		if !g.value(inside, depth+1) {
			return false
		}
	}
	g.i++
	return found&s.needed == s.needed
}

func (g *glance) array(s *shape, depth int) bool {
	g.i++
	for g.next() != ']' {
		if g.b[g.i] == ',' {
			g.i++
		}
		if !g.value(s.items, depth+1) {
			return false
		}
	}
	g.i++
	return true
}

// text takes a string and returns what is between its quotes. It is plain when
// that is the string itself: no escapes, and valid UTF-8. Long ones, which no
// schema names, are not looked at.
func (g *glance) text() (word []byte, plain bool) {
	g.i++
	from, plain := g.i, true
	for end := -1; ; {
		if end < g.i { // the first one, or the last was escaped
			end = g.i + bytes.IndexByte(g.b[g.i:], '"')
		}
		slash := bytes.IndexByte(g.b[g.i:end], '\\')
		if slash < 0 {
			g.i = end + 1
			word = g.b[from:end]
			return word, plain && len(word) <= maxWord && utf8.Valid(word)
		}
		plain = false
		g.i += slash + 2
	}
}

// number takes a number and reports whether it is written as an integer.
func (g *glance) number() (integer bool) {
	integer = true
	for ; g.i < len(g.b); g.i++ {
		switch g.b[g.i] {
		case '.', 'e', 'E':
			integer = false
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return integer
		}
	}
	return integer
}
