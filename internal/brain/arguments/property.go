package arguments

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A Property is one property of an input schema, as a person has to know it.
type Property struct {
	Name        string
	Description string
	// Types are the JSON types it may have; nil when the schema does not say.
	Types []string
	// Words are the strings it may be, where the schema lists them.
	Words    []string
	Required bool
}

// Is reports whether the property may be of a type.
func (p Property) Is(typ string) bool { return slices.Contains(p.Types, typ) }

// Text reports whether any text is a value of the property.
func (p Property) Text() bool { return p.Words == nil && (p.Types == nil || p.Is("string")) }

// Properties returns the properties of an input schema: the required ones first,
// and within that in the order of the schema. That is the order in which
// arguments without a name are given.
func Properties(input json.RawMessage) []Property {
	d := newDocument(input)
	views := d.views(combiners, d.at(""))
	required := map[string]bool{}
	for _, v := range d.views(always, d.at("")) {
		for _, name := range v.words("required") {
			required[name] = true
		}
	}
	var all []Property
	seen := map[string]bool{}
	for _, v := range views {
		members, err := membersOf(v.schema["properties"])
		if err != nil {
			continue
		}
		for _, m := range members {
			if seen[m.name] {
				continue
			}
			seen[m.name] = true
			p := Property{Name: m.name, Required: required[m.name], Types: d.types(d.property(views, m.name))}
			own, _ := v.property(m.name)
			words := 0
			for _, s := range d.views(combiners, own) {
				enum, constant := s.words("enum"), s.words("const")
				if words += len(enum) + len(constant); words <= maxWords {
					p.Words = append(append(p.Words, enum...), constant...)
				}
				p.Description = cmp.Or(p.Description, s.description())
			}
			if words > maxWords {
				p.Words = nil // too many to choose from
			}
			p.Description = strings.TrimSpace(p.Description)
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b Property) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return all
}
