package toolschema

import "slices"

// objectRoot returns s as the schema of an object that says so: type object,
// properties present, and no allOf, anyOf, oneOf, not, enum or const, which
// OpenAI and Anthropic refuse at the top. What those held of properties is
// kept; required is what every way of satisfying them requires. It reports
// what the result no longer says.
func objectRoot(s *value) (out *value, loss string) {
	if s.kind != object {
		if s.token == "false" {
			return emptyObject(), "its input schema allows nothing"
		}
		return emptyObject(), ""
	}
	if types := s.get("type").texts(); len(types) > 0 && !slices.Contains(types, "object") {
		return emptyObject(), "its input schema describes no object"
	}
	var members []member
	var props propertyUnion
	props.add(s.get("properties"), "allOf")
	required := s.get("required").texts()
	flattened := false
	for _, m := range s.members {
		switch m.name {
		case "allOf":
			flattened = true
			for _, branch := range m.value.items {
				b, _ := objectRoot(branch)
				props.add(b.get("properties"), "allOf")
				required = append(required, b.get("required").texts()...)
			}
		case "anyOf", "oneOf":
			flattened = true
			var common []string
			first := true
			for _, branch := range m.value.items {
				if types := branch.get("type").texts(); len(types) > 0 && !slices.Contains(types, "object") || branch.token == "false" {
					continue // an object never matches it
				}
				b, _ := objectRoot(branch)
				props.add(b.get("properties"), "anyOf")
				names := b.get("required").texts()
				if first {
					common, first = names, false
				} else {
					here := setOf(names)
					common = slices.DeleteFunc(common, func(n string) bool { return !here[n] })
				}
			}
			required = append(required, common...)
		case "not", "enum", "const":
			flattened = true
		default:
			members = append(members, m)
		}
	}
	members = set(members, 0, "type", newString("object"))
	members = set(members, indexOf(members, "type")+1, "properties", props.value())
	if flattened {
		loss = "the top of its input schema was flattened"
		required = unique(required)
		if len(required) > 0 {
			members = set(members, len(members), "required", newStrings(required))
		}
	}
	return newObject(members), loss
}

func emptyObject() *value {
	return newObject([]member{{"type", newString("object")}, {"properties", newObject(nil)}})
}

// set puts v at the member called name, or inserts it at index at when there
// is none.
func set(members []member, at int, name string, v *value) []member {
	if i := indexOf(members, name); i >= 0 {
		members[i].value = v
		return members
	}
	return slices.Insert(members, at, member{name, v})
}

func newStrings(names []string) *value {
	items := make([]*value, len(names))
	for i, n := range names {
		items[i] = newString(n)
	}
	return newArray(items)
}

// unique returns names without repeats, in order.
func unique(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// A propertyUnion gathers the properties of several schemas.
// Its zero value is empty.
type propertyUnion struct {
	members []member
	at      map[string]int            // index of each in members
	groups  map[string]*propertyGroup // of those that differ between schemas
}

// A propertyGroup holds the schemas that one property has in several places.
type propertyGroup struct {
	how   string // allOf or anyOf
	items []*value
}

// add takes in properties; one that is there already and differs is joined
// with it by how.
func (u *propertyUnion) add(properties *value, how string) {
	if u.at == nil {
		u.at, u.groups = map[string]int{}, map[string]*propertyGroup{}
	}
	for _, m := range properties.entries() {
		i, known := u.at[m.name]
		if !known {
			u.at[m.name] = len(u.members)
			u.members = append(u.members, m)
			continue
		}
		g := u.groups[m.name]
		if g == nil {
			g = &propertyGroup{how, []*value{u.members[i].value}}
		}
		if slices.ContainsFunc(g.items, func(v *value) bool { return same(v, m.value) }) {
			continue
		}
		g.items = append(g.items, m.value)
		u.groups[m.name] = g
		u.members[i].value = newObject([]member{{g.how, newArray(g.items)}})
	}
}

func (u *propertyUnion) value() *value { return newObject(u.members) }

// same reports whether a and b have the same text.
func same(a, b *value) bool {
	return a == b || a.size == b.size && string(a.json()) == string(b.json())
}
