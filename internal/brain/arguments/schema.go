package arguments

import (
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of reading a schema, which may be hostile: how deep references and
// combinations are followed, and how many schemas are looked at for one answer.
const (
	maxDepth = 16
	maxViews = 200
)

// The words that combine schemas: with all that always apply, and with those of
// which one may.
var (
	always    = []string{"allOf"}
	combiners = []string{"allOf", "anyOf", "oneOf"}
	choices   = []string{"anyOf", "oneOf"}
)

// A document is an input schema with everything its references can point to.
type document struct{ root json.RawMessage }

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

// views returns schemas with all that apply to the same value: what they refer
// to and what they combine by words.
func (d document) views(words []string, raws ...json.RawMessage) []schema {
	var out []schema
	var visit func(raw json.RawMessage, depth int)
	visit = func(raw json.RawMessage, depth int) {
		s := read(raw)
		if s == nil || depth > maxDepth || len(out) >= maxViews {
			return
		}
		out = append(out, s)
		if to := d.resolve(s); to != nil {
			visit(to, depth+1)
		}
		for _, word := range words {
			for _, branch := range s.list(word) {
				visit(branch, depth+1)
			}
		}
	}
	for _, raw := range raws {
		visit(raw, 0)
	}
	return out
}

// resolve returns what a schema's $ref points to within the document; nil for
// none and for anything elsewhere.
func (d document) resolve(s schema) json.RawMessage {
	var ref string
	if json.Unmarshal(s["$ref"], &ref) != nil {
		return nil
	}
	if ref == "#" {
		return d.root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := d.root
	for _, step := range strings.Split(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if at = read(at)[step]; at == nil {
			return nil
		}
	}
	return at
}

func (s schema) list(word string) []json.RawMessage {
	items, _ := itemsOf(s[word]) // a keyword with another form says nothing
	return items
}

// words returns the strings that a keyword holds: one, or a list.
func (s schema) words(word string) []string {
	var one string
	if json.Unmarshal(s[word], &one) == nil && one != "" {
		return []string{one}
	}
	var many []json.RawMessage
	_ = json.Unmarshal(s[word], &many)
	var out []string
	for _, raw := range many {
		if json.Unmarshal(raw, &one) == nil {
			out = append(out, one)
		}
	}
	return out
}

// types returns the JSON types that a value of one of the schemas may have. It
// is nil when one of them does not say, and then the value may be anything.
func (d document) types(raws []json.RawMessage) []string {
	var all []string
	left := maxViews
	for _, raw := range raws {
		t := d.typesOf(raw, 0, &left)
		if t == nil {
			return nil
		}
		all = append(all, t...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typesOf looks at no more than left schemas; what lies behind may be anything.
func (d document) typesOf(raw json.RawMessage, depth int, left *int) []string {
	s := read(raw)
	if *left--; s == nil || depth > maxDepth || *left < 0 {
		return nil
	}
	if t := s.words("type"); t != nil {
		return t
	}
	var values []string
	for _, v := range s.list("enum") {
		values = append(values, kindOf(v))
	}
	if v, ok := s["const"]; ok {
		values = append(values, kindOf(v))
	}
	switch {
	case values != nil:
		return values
	case s["properties"] != nil:
		return []string{"object"}
	case s["items"] != nil:
		return []string{"array"}
	}
	if to := d.resolve(s); to != nil {
		return d.typesOf(to, depth+1, left)
	}
	for _, word := range choices {
		if branches := s.list(word); branches != nil {
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
	for _, b := range s.list("allOf") {
		if t := d.typesOf(b, depth+1, left); t != nil {
			return t
		}
	}
	return nil
}

// property returns the schemas of a property of a value with one of the
// schemas; those of unnamed properties when none names it.
func (d document) property(views []schema, name string) []json.RawMessage {
	var named, others []json.RawMessage
	for _, v := range views {
		if s, ok := read(v["properties"])[name]; ok {
			named = append(named, s)
		}
		if s, ok := v["additionalProperties"]; ok {
			others = append(others, s)
		}
	}
	if named != nil {
		return named
	}
	return others
}

// item returns the schemas of the item at an index.
func (d document) item(views []schema, i int) []json.RawMessage {
	var out []json.RawMessage
	for _, v := range views {
		prefix := v.list("prefixItems")
		if old := v.list("items"); old != nil { // a list before 2020-12
			prefix = old
		}
		switch {
		case i < len(prefix):
			out = append(out, prefix[i])
		case kindOf(v["items"]) == "object":
			out = append(out, v["items"])
		}
	}
	return out
}
