package arguments

import (
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of reading a schema, which may be hostile: how deep references and
// combinations are followed, how many schemas are looked at for one answer, and
// how many words a list may have that a person chooses from.
const (
	maxDepth = 16
	maxViews = 200
	maxWords = 1000
)

// The words that combine schemas: with all that always apply, and with those of
// which one may.
var (
	always    = []string{"allOf"}
	combiners = []string{"allOf", "anyOf", "oneOf"}
	choices   = []string{"anyOf", "oneOf"}
)

// A document is an input schema with everything its references can point to. It is
// one goroutine's.
type document struct {
	root json.RawMessage
	seen map[string]*view // by JSON pointer
}

func newDocument(root json.RawMessage) *document {
	return &document{root: root, seen: map[string]*view{}}
}

// A schema is one schema of a document, its keywords not yet read.
type schema map[string]json.RawMessage

// read decodes a schema; nil for one that says nothing (true, null, garbage).
func read(raw json.RawMessage) schema {
	var s schema
	if kindOf(raw) != "object" || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return s
}

// A view is a schema of which each part is read once, however often it is asked
// for: a small schema may refer to a large one from everywhere.
type view struct {
	schema
	parts map[string]any // by what was read
}

// look returns the view of a schema; nil for one that says nothing.
func look(raw json.RawMessage) *view {
	s := read(raw)
	if s == nil {
		return nil
	}
	return &view{s, map[string]any{}}
}

// part returns a part of a view, which is read at the first time.
func part[T any](v *view, name string, read func() T) T {
	if known, ok := v.parts[name]; ok {
		return known.(T)
	}
	p := read()
	v.parts[name] = p
	return p
}

// list returns the schemas that a keyword lists.
func (v *view) list(word string) []*view {
	return part(v, "list "+word, func() []*view {
		items, _ := itemsOf(v.schema[word]) // a keyword with another form says nothing
		all := make([]*view, len(items))
		for i, item := range items {
			all[i] = look(item)
		}
		return all
	})
}

// one returns the schema that a keyword holds.
func (v *view) one(word string) *view {
	return part(v, "one "+word, func() *view { return look(v.schema[word]) })
}

// property returns the schema of a property, and whether there is one.
func (v *view) property(name string) (*view, bool) {
	all := part(v, "properties", func() map[string]*view {
		all := map[string]*view{}
		for name, raw := range read(v.schema["properties"]) {
			all[name] = look(raw)
		}
		return all
	})
	p, ok := all[name]
	return p, ok
}

// words returns the strings that a keyword holds: one, or a list.
func (v *view) words(word string) []string {
	return part(v, "words "+word, func() []string {
		var one string
		if json.Unmarshal(v.schema[word], &one) == nil && one != "" {
			return []string{one}
		}
		var many []json.RawMessage
		_ = json.Unmarshal(v.schema[word], &many)
		var out []string
		for _, raw := range many {
			if json.Unmarshal(raw, &one) == nil {
				out = append(out, one)
			}
		}
		return out
	})
}

// kinds returns the JSON types of the values that a schema lists; nil when it
// lists none.
func (v *view) kinds() []string {
	return part(v, "kinds", func() []string {
		var kinds []string
		values, _ := itemsOf(v.schema["enum"])
		if constant, ok := v.schema["const"]; ok {
			values = append(values, constant)
		}
		for _, value := range values {
			if k := kindOf(value); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		return kinds
	})
}

// description returns what a schema says of its values.
func (v *view) description() string {
	return part(v, "description", func() (text string) {
		_ = json.Unmarshal(v.schema["description"], &text) // another form says nothing
		return text
	})
}

// views returns schemas with all that apply to the same value: what they refer
// to and what they combine by words. Each stands there once.
func (d *document) views(words []string, from ...*view) []*view {
	var out []*view
	entered := map[*view]bool{}
	var visit func(v *view, depth int)
	visit = func(v *view, depth int) {
		if v == nil || depth > maxDepth || len(out) >= maxViews || entered[v] {
			return
		}
		entered[v] = true
		out = append(out, v)
		visit(d.resolve(v), depth+1)
		for _, word := range words {
			for _, branch := range v.list(word) {
				visit(branch, depth+1)
			}
		}
	}
	for _, v := range from {
		visit(v, 0)
	}
	return out
}

// resolve returns what a schema's $ref points to within the document; nil for
// none and for anything elsewhere.
func (d *document) resolve(v *view) *view {
	ref := part(v, "$ref", func() (ref string) {
		_ = json.Unmarshal(v.schema["$ref"], &ref) // another form refers to nothing
		return ref
	})
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' || strings.Count(pointer, "/") > maxViews {
		return nil
	}
	return d.at(pointer)
}

// at returns the schema at a JSON pointer.
func (d *document) at(pointer string) *view {
	if v, known := d.seen[pointer]; known {
		return v
	}
	raw := d.root
	if i := strings.LastIndexByte(pointer, '/'); i >= 0 {
		raw = nil
		if parent := d.at(pointer[:i]); parent != nil {
			raw = parent.schema[strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[i+1:])]
		}
	}
	v := look(raw)
	d.seen[pointer] = v
	return v
}

// types returns the JSON types that a value of one of the schemas may have. It
// is nil when one of them does not say, and then the value may be anything.
func (d *document) types(from []*view) []string {
	var all []string
	left := maxViews
	for _, v := range from {
		t := d.typesOf(v, 0, &left)
		if t == nil {
			return nil
		}
		all = append(all, t...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typesOf looks at no more than left schemas; what lies behind may be anything.
func (d *document) typesOf(v *view, depth int, left *int) []string {
	if *left--; v == nil || depth > maxDepth || *left < 0 {
		return nil
	}
	if t := v.words("type"); t != nil {
		return t
	}
	kinds := v.kinds()
	switch {
	case kinds != nil:
		return kinds
	case v.schema["properties"] != nil:
		return []string{"object"}
	case v.schema["items"] != nil:
		return []string{"array"}
	}
	if to := d.resolve(v); to != nil {
		return d.typesOf(to, depth+1, left)
	}
	for _, word := range choices {
		if branches := v.list(word); len(branches) > 0 {
			var all []string
			for _, b := range branches {
				t := d.typesOf(b, depth+1, left)
				if t == nil {
					return nil
				}
				all = append(all, t...)
			}
			return all
		}
	}
	for _, b := range v.list("allOf") {
		if t := d.typesOf(b, depth+1, left); t != nil {
			return t
		}
	}
	return nil
}

// property returns the schemas of a property of a value with one of the
// schemas; those of unnamed properties when none names it.
func (d *document) property(views []*view, name string) []*view {
	var named, others []*view
	for _, v := range views {
		if p, ok := v.property(name); ok {
			named = append(named, p)
		}
		if _, ok := v.schema["additionalProperties"]; ok {
			others = append(others, v.one("additionalProperties"))
		}
	}
	if named != nil {
		return named
	}
	return others
}

// item returns the schemas of the item at an index.
func (d *document) item(views []*view, i int) []*view {
	var out []*view
	for _, v := range views {
		prefix := v.list("prefixItems")
		if old := v.list("items"); len(old) > 0 { // a list before 2020-12
			prefix = old
		}
		switch {
		case i < len(prefix):
			out = append(out, prefix[i])
		case kindOf(v.schema["items"]) == "object":
			out = append(out, v.one("items"))
		}
	}
	return out
}
