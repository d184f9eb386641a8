package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Arguments builds the arguments of a call from pairs written by hand, such as
// those of a command line. What the text of a pair means is decided by the
// input schema of the tool:
//
//	city=上海          text, where the schema says string
//	days=3            a number, a boolean or null where it says so; the text of
//	                  a number stays as written, so 64-bit integers survive
//	tags=a tags=b     an array: each pair adds an item
//	tags=["a","b"]    an array at once
//	filter={"a":1}    an object
//	filter.a=1        a property inside an object
//	note:="5"         JSON as it is, whatever the schema says
//
// Where the schema does not say (an unknown name, a property of any type), text
// that is valid JSON is taken as JSON and anything else as a string. A type
// that allows several forms takes the first of null, boolean, number, array and
// object that fits, then a string. A name that the schema has with its dots is
// meant before one inside an object.
//
// Keys come out in the order of the pairs. The result is an object that need
// not be complete: that is the Checker's to say. The error is an
// *ArgumentsError whose problems begin with the name in the pair, and never show
// the value; all pairs are looked at.
func Arguments(schema json.RawMessage, pairs []string) (json.RawMessage, error) {
	root, reason := readSchema(schema)
	if reason != "" {
		root = newObject(nil) // then every pair is of an unknown name
	}
	p := pairing{doc: newDocument(root)}
	var failed []Problem
	args := &draft{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		err := errNoValue
		if ok {
			var forced bool
			name, forced = strings.CutSuffix(name, ":")
			err = p.put(args, name, text, forced)
		}
		if err != nil {
			failed = append(failed, Problem{clip(name, 60), err.Error()})
		}
	}
	if failed != nil {
		return nil, &ArgumentsError{failed}
	}
	return args.value().json(), nil
}

// A pairing types pairs by the schema of one tool.
type pairing struct{ doc *document }

// A draft is an argument under construction: an object (with keys), an array
// (with items), or a finished value.
type draft struct {
	keys  []string
	props map[string]*draft
	items []*value
	list  bool
	done  *value
}

func (d *draft) value() *value {
	switch {
	case d.done != nil:
		return d.done
	case d.list:
		return newArray(d.items)
	}
	members := make([]member, len(d.keys))
	for i, k := range d.keys {
		members[i] = member{k, d.props[k].value()}
	}
	return newObject(members)
}

// at returns the draft of a property, and whether it was made just now.
func (d *draft) at(name string) (*draft, bool) {
	if in, ok := d.props[name]; ok {
		return in, false
	}
	if d.props == nil {
		d.props = map[string]*draft{}
	}
	in := &draft{}
	d.keys = append(d.keys, name)
	d.props[name] = in
	return in, true
}

// open turns a finished object into one that can be added to.
func (d *draft) open() bool {
	if d.list {
		return false
	}
	if d.done == nil {
		return true
	}
	if d.done.kind != object {
		return false
	}
	members := d.done.members
	d.done = nil
	for _, m := range members {
		in, _ := d.at(m.name)
		in.done = m.value
	}
	return true
}

var (
	errNoValue    = errors.New("write it as name=value")
	errGivenTwice = errors.New("it is given twice, and it is no list")
)

// put adds one pair; forced says that its text is JSON whatever the schema says.
func (p *pairing) put(args *draft, name, text string, forced bool) error {
	if name == "" {
		return errors.New("a name must stand before the =")
	}
	to, schemas, err := p.find(args, p.views(p.doc.root), name)
	if err != nil {
		return err
	}
	if forced {
		v, err := parseWritten(text)
		if err != nil {
			return errors.New("what follows := must be JSON")
		}
		if to.done != nil || to.list || to.keys != nil {
			return errGivenTwice
		}
		to.done = v
		return nil
	}
	types := p.types(schemas)
	if slices.Contains(types, "array") && !p.otherwise(types, text) {
		return p.append(to, schemas, text)
	}
	if to.done != nil || to.list || to.keys != nil {
		return errGivenTwice
	}
	to.done, err = typed(types, p.words(schemas), text)
	return err
}

// find returns the draft that a name means within d, and the schemas that speak
// of it.
func (p *pairing) find(d *draft, views []*value, name string) (*draft, []*value, error) {
	if !d.open() {
		return nil, nil, errors.New("it goes into something that is no object")
	}
	if inside := p.property(views, name); inside != nil {
		in, _ := d.at(name)
		return in, inside, nil
	}
	for i := range len(name) {
		if name[i] != '.' || i == 0 || i == len(name)-1 {
			continue
		}
		head, rest := name[:i], name[i+1:]
		inside := p.property(views, head)
		if inside == nil {
			continue
		}
		if types := p.types(inside); len(types) > 0 && !slices.Contains(types, "object") {
			continue
		}
		in, _ := d.at(head)
		return p.find(in, p.views(inside...), rest)
	}
	in, _ := d.at(name)
	return in, p.others(views), nil
}

// append adds the text of a pair to an array.
func (p *pairing) append(to *draft, schemas []*value, text string) error {
	if to.keys != nil || to.done != nil && to.done.kind != array {
		return errGivenTwice
	}
	if to.done != nil {
		to.items, to.list, to.done = slices.Clone(to.done.items), true, nil
	}
	items := p.itemsOf(schemas)
	types := p.types(items)
	if v, err := parse([]byte(text)); err == nil && v.kind == array {
		// The whole list, or one item of a list of lists.
		nested := slices.Contains(types, "array") && (len(v.items) == 0 || v.items[0].kind != array)
		if !nested {
			to.list, to.items = true, append(to.items, v.items...)
			return nil
		}
	}
	if slices.Contains(types, "array") {
		types = append(types, "string") // a list of lists has no short form
	}
	v, err := typed(types, p.words(items), text)
	if err != nil {
		return fmt.Errorf("an item of the list %w", err)
	}
	to.list, to.items = true, append(to.items, v)
	return nil
}

// otherwise reports whether text is meant as something other than an item of
// the list that types also allow.
func (p *pairing) otherwise(types []string, text string) bool {
	if len(types) == 1 {
		return false
	}
	v, err := parse([]byte(text))
	if err != nil {
		return slices.Contains(types, "string")
	}
	if v.kind == array {
		return false
	}
	return allows(types, v) || slices.Contains(types, "string")
}

// typed reads the text of a pair as one of types. words are the strings that
// the schema lists.
func typed(types, words []string, text string) (*value, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if slices.Contains(words, text) {
		return newString(text), nil
	}
	v, err := parseWritten(text)
	if err == nil && (len(types) == 0 || allows(types, v)) {
		return v, nil
	}
	if len(types) == 0 || slices.Contains(types, "string") {
		return newString(text), nil
	}
	if slices.Contains(types, "boolean") {
		if t := strings.ToLower(text); t == "true" || t == "false" {
			return parse([]byte(t))
		}
	}
	hint := ""
	switch {
	case slices.Contains(types, "object"):
		hint = `; write {"key": …}, or name.key=value`
	case slices.Contains(types, "boolean") && len(types) == 1:
		hint = "; write true or false"
	}
	return nil, fmt.Errorf("must be %s%s", article(types), hint)
}

// allows reports whether v is of one of types. A string never is: its text on
// a command line has no quotes.
func allows(types []string, v *value) bool {
	t := typeOf(v)
	switch {
	case t == "string":
		return false
	case v.kind == number:
		return slices.Contains(types, "number") || slices.Contains(types, "integer")
	}
	return slices.Contains(types, t)
}

// views returns schemas with all that applies to the same value: what they
// refer to and combine.
func (p *pairing) views(from ...*value) []*value {
	var out []*value
	seen := map[*value]bool{}
	var visit func(v *value) *value
	visit = func(v *value) *value {
		if v == nil || v.kind != object || seen[v] {
			return v
		}
		seen[v] = true
		out = append(out, v)
		for _, m := range tidy(v) {
			switch m.name {
			case "$ref", "$dynamicRef", "$recursiveRef":
				visit(p.doc.resolve(m.value.str()))
			case "allOf", "anyOf", "oneOf", "then", "else":
				eachSchema(m, visit)
			}
		}
		return v
	}
	for _, v := range from {
		visit(v)
	}
	return out
}

// property returns the schemas of a property, nil when none knows it.
func (p *pairing) property(views []*value, name string) []*value {
	var out []*value
	for _, v := range views {
		if s := v.get("properties").get(name); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// others returns the schemas of properties that are not named.
func (p *pairing) others(views []*value) []*value {
	var out []*value
	for _, v := range views {
		if s := v.get("additionalProperties"); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// itemsOf returns the schemas of the items of an array.
func (p *pairing) itemsOf(schemas []*value) []*value {
	var out []*value
	for _, v := range p.views(schemas...) {
		for _, name := range []string{"items", "prefixItems"} {
			if s := v.get(name); s != nil {
				out = append(append(out, s), s.items...)
			}
		}
	}
	return out
}

// types returns the types that schemas allow, none when they do not say.
func (p *pairing) types(schemas []*value) []string {
	var out []string
	for _, v := range p.views(schemas...) {
		if t := v.get("type"); t != nil {
			if t = tidyType(t); t != nil {
				out = append(out, t.texts()...)
				continue
			}
		}
		switch {
		case v.get("properties") != nil:
			out = append(out, "object")
		case v.get("items") != nil:
			out = append(out, "array")
		}
		for _, w := range v.get("enum").list() {
			out = append(out, typeOf(w))
		}
		if c := v.get("const"); c != nil {
			out = append(out, typeOf(c))
		}
	}
	return unique(out)
}

// words returns the strings that schemas list as the only ones.
func (p *pairing) words(schemas []*value) []string {
	var out []string
	for _, v := range p.views(schemas...) {
		out = append(out, v.get("enum").texts()...)
		if c := v.get("const"); c != nil {
			out = append(out, c.texts()...)
		}
	}
	return out
}
