package toolschema

import (
	"net/url"
	"strconv"
	"strings"
)

// A document is a schema with everything that a $ref in it may point to.
type document struct {
	root *value
	base *url.URL
	ids  map[string]*value // by absolute $id, and by "#" + anchor
	// references counts the references in it.
	references int
	// known remembers what resolve found; nil in a document that several
	// goroutines read.
	known map[string]*value
}

// newDocument collects the places of root that have a name. It never looks
// outside root.
func newDocument(root *value) *document {
	d := &document{root: root, base: &url.URL{}, ids: map[string]*value{}, known: map[string]*value{}}
	if u, err := url.Parse(root.get("$id").str()); err == nil {
		d.base = u
	}
	d.collect(root)
	return d
}

func (d *document) collect(v *value) *value {
	for _, m := range v.members {
		switch m.name {
		case "$id":
			if u, err := d.base.Parse(m.value.str()); err == nil && m.value.kind == text {
				d.name(strings.TrimSuffix(u.String(), "#"), v)
			}
		case "$anchor", "$dynamicAnchor":
			d.name("#"+m.value.str(), v)
		case "$ref", "$dynamicRef", "$recursiveRef":
			d.references++
		}
		eachSchema(m, d.collect)
	}
	return v
}

// name keeps the first schema of a name.
func (d *document) name(id string, v *value) {
	if _, taken := d.ids[id]; !taken && id != "" && id != "#" {
		d.ids[id] = v
	}
}

// shared returns d for use by several goroutines.
func (d *document) shared() *document {
	return &document{root: d.root, base: d.base, ids: d.ids}
}

// resolve returns the schema that ref points to, or nil when it is not in this
// document.
func (d *document) resolve(ref string) *value {
	v, ok := d.known[ref]
	if !ok {
		v = d.find(ref)
		if d.known != nil {
			d.known[ref] = v
		}
	}
	return v
}

func (d *document) find(ref string) *value {
	doc, fragment, _ := strings.Cut(ref, "#")
	start := d.root
	if doc != "" {
		u, err := d.base.Parse(doc)
		if err != nil {
			return nil
		}
		if start = d.ids[u.String()]; start == nil {
			return nil
		}
	}
	if s, err := url.PathUnescape(fragment); err == nil {
		fragment = s
	}
	var v *value
	switch {
	case fragment == "":
		v = start
	case fragment[0] == '/':
		v = pointer(start, fragment[1:])
	default:
		v = d.ids["#"+fragment]
	}
	if v == nil || !isSchema(v) {
		return nil
	}
	return v
}

// pointer follows a JSON pointer (RFC 6901) without its first slash.
func pointer(v *value, path string) *value {
	for step := range strings.SplitSeq(path, "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch v.kind {
		case object:
			v = v.get(step)
		case array:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.items) {
				return nil
			}
			v = v.items[i]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// refs returns the schemas that the references anywhere in v point to.
func (d *document) refs(v *value) []*value {
	var out []*value
	var walk func(*value) *value
	walk = func(v *value) *value {
		for _, m := range v.members {
			r, _ := keyword(m.name)
			switch r {
			case reference:
				if target := d.resolve(m.value.str()); target != nil {
					out = append(out, target)
				}
			case definitions:
				// They apply only where referred to.
			default:
				eachSchema(m, walk)
			}
		}
		return v
	}
	walk(v)
	return out
}

// recursive returns the schemas that refer to themselves, straight or through
// others: Tarjan's strongly connected components over the references.
func (d *document) recursive() map[*value]bool {
	type state struct {
		index, low int
		open       bool
	}
	var (
		out     = map[*value]bool{}
		states  = map[*value]*state{}
		stack   []*value
		counter int
		visit   func(*value) *state
	)
	visit = func(v *value) *state {
		counter++
		s := &state{index: counter, low: counter, open: true}
		states[v] = s
		stack = append(stack, v)
		self := false
		for _, target := range d.refs(v) {
			self = self || target == v
			t := states[target]
			if t == nil {
				t = visit(target)
				s.low = min(s.low, t.low)
			} else if t.open {
				s.low = min(s.low, t.index)
			}
		}
		if s.low != s.index {
			return s
		}
		var group []*value
		for {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			states[top].open = false
			group = append(group, top)
			if top == v {
				break
			}
		}
		if self || len(group) > 1 {
			for _, g := range group {
				out[g] = true
			}
		}
		return s
	}
	visit(d.root)
	return out
}
