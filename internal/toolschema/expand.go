package toolschema

import "unicode/utf8"

// How deep references are followed. The first that gives a result within the
// budget is taken, so a small schema is shown whole and a bomb is cut evenly
// over all its branches.
var fuels = []fuel{
	{16, 3}, {16, 2}, {16, 1}, {12, 1}, {8, 1}, {6, 1}, {5, 1}, {4, 1}, {3, 1}, {2, 1}, {1, 1},
}

// fuel says how many references may still be entered on a way down the schema,
// and how many of them may lead to a schema that refers to itself.
type fuel struct{ depth, loops int8 }

// An expander writes every reference out, so that the schema stands alone
// (field faults C01, C03).
type expander struct {
	doc     *document
	loops   map[*value]bool      // schemas that refer to themselves
	memo    map[expansion]*value // of objects; nil when there are no references
	missing string               // a reference that leads nowhere here
	trimmed bool                 // a description was cut
}

type expansion struct {
	v    *value
	fuel fuel
}

// expand returns root without references, at most budget bytes long, and
// whether some had to be cut off. It returns nil when root is too long even
// with all of them cut.
func (x *expander) expand(root *value, budget int) (out *value, cut bool) {
	x.doc = newDocument(root)
	if x.doc.references > 0 {
		x.loops = x.doc.recursive()
		x.memo = map[expansion]*value{}
	}
	least := x.schema(root, fuel{})
	switch {
	case least.size > budget:
		return nil, true
	case x.doc.references == 0:
		return least, false
	}
	for i, f := range fuels {
		if out = x.schema(root, f); out.size <= budget {
			return out, i > 0 || len(x.loops) > 0
		}
	}
	return least, true
}

// schema returns v with its references written out. Results are shared, so the
// work grows with the schema and not with the text it stands for.
func (x *expander) schema(v *value, f fuel) *value {
	if v.kind != object {
		return v
	}
	if x.memo == nil {
		return x.write(v, f)
	}
	key := expansion{v, f}
	out, done := x.memo[key]
	if !done {
		out = x.write(v, f)
		x.memo[key] = out
	}
	return out
}

func (x *expander) write(v *value, f fuel) *value {
	var (
		out     []member
		targets []*value
		bare    = true // nothing but annotations beside the reference
	)
	for _, m := range tidy(v) {
		switch r, _ := keyword(m.name); r {
		case identity, definitions:
		case reference:
			target := x.doc.resolve(m.value.str())
			if target == nil {
				x.missing = m.value.str()
				continue
			}
			targets = append(targets, x.target(target, f))
		default:
			m.value = eachSchema(m, func(v *value) *value { return x.schema(v, f) })
			if m.name == "description" {
				m.value = x.trim(m.value)
			}
			bare = bare && annotation(m.name)
			out = append(out, m)
		}
	}
	switch {
	case len(targets) == 0:
		return newObject(out)
	case len(targets) == 1 && bare && targets[0].kind == object:
		return newObject(override(targets[0].members, out))
	case len(out) == 0 && len(targets) == 1:
		return targets[0]
	}
	// Both constrain: both must hold.
	if i := indexOf(out, "allOf"); i >= 0 {
		out[i].value = newArray(append(targets, out[i].value.items...))
		return newObject(out)
	}
	return newObject(append([]member{{"allOf", newArray(targets)}}, out...))
}

// target returns what stands in the place of a reference to v.
func (x *expander) target(v *value, f fuel) *value {
	f.depth--
	if x.loops[v] {
		f.loops--
	}
	if f.depth < 0 || f.loops < 0 {
		return x.cut(v)
	}
	return x.schema(v, f)
}

// cut returns the stump of a schema that is not shown any further: its type,
// which is object unless it says otherwise, and its description.
func (x *expander) cut(v *value) *value {
	if v.kind != object {
		return v
	}
	stump := []member{{"type", newString("object")}}
	for _, m := range tidy(v) {
		switch m.name {
		case "type":
			stump[0].value = m.value
		case "description":
			stump = append(stump, member{"description", x.trim(m.value)})
		}
	}
	return newObject(stump)
}

// override returns base with the members of over in the place of its own of
// the same name, and the rest of them after it.
func override(base, over []member) []member {
	out := make([]member, 0, len(base)+len(over))
	for _, m := range base {
		if indexOf(over, m.name) < 0 {
			out = append(out, m)
		}
	}
	return append(out, over...)
}

// maxInner is the length in characters of a description inside a schema. No
// provider states a limit for it; this one only keeps a novel out.
const maxInner = 4096

// trim returns a description of at most maxInner characters.
func (x *expander) trim(v *value) *value {
	s, cut := trim(v.str(), maxInner)
	if !cut {
		return v
	}
	x.trimmed = true
	return newString(s)
}

// trim returns s, or its first characters and an ellipsis when it has more
// than most.
func trim(s string, most int) (string, bool) {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s, false
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…", true
		}
		n++
	}
	return s, false
}
