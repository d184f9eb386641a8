package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deeply JSON may nest before it is refused. Real schemas stay
// far below 30.
const maxDepth = 200

var errTooDeep = errors.New("it is nested too deeply")

type kind byte

const (
	null kind = 1 << iota
	boolean
	number
	text
	array
	object
)

// A value is a JSON value that keeps the order of its keys and the text of its
// numbers and strings. Values are never changed once made: they may be shared,
// also within one tree.
type value struct {
	kind    kind
	token   string // scalars: the JSON text
	items   []*value
	members []member
	size    int    // bytes of the compact JSON text
	written string // the JSON text to keep, if it says more than the rest
}

type member struct {
	name  string
	value *value
}

// parse reads one JSON value. Bytes that are not UTF-8 and lone surrogate
// escapes become U+FFFD; of a key that comes twice, the last value counts.
func parse(raw []byte) (*value, error) {
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("it is not valid JSON: %w", json.Unmarshal(raw, &v))
	}
	p := parser{rest: string(bytes.ToValidUTF8(raw, []byte("\uFFFD")))}
	return p.value(0)
}

// parseWritten is parse for what a person wrote to be passed on as it is: the
// value keeps its tokens, so that repeated keys and lone surrogates survive.
func parseWritten(raw string) (*value, error) {
	raw = strings.ToValidUTF8(raw, "\uFFFD")
	v, err := parse([]byte(raw))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return nil, err
	}
	v.written, v.size = b.String(), b.Len()
	return v, nil
}

// A parser walks over JSON that is known to be valid.
type parser struct{ rest string }

// next returns the next byte that is not white space, without taking it.
func (p *parser) next() byte {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	return p.rest[0]
}

func (p *parser) skip() { p.rest = p.rest[1:] }

func (p *parser) value(depth int) (*value, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch p.next() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return newText(p.string()), nil
	}
	end := strings.IndexAny(p.rest, ",]} \t\r\n")
	if end < 0 {
		end = len(p.rest)
	}
	token := p.rest[:end]
	p.rest = p.rest[end:]
	switch token[0] {
	case 'n':
		return &value{kind: null, token: token, size: len(token)}, nil
	case 't', 'f':
		return &value{kind: boolean, token: token, size: len(token)}, nil
	}
	return &value{kind: number, token: token, size: len(token)}, nil
}

// string takes a string and returns its token.
func (p *parser) string() string {
	end := 1
	for p.rest[end] != '"' {
		if p.rest[end] == '\\' {
			end++
		}
		end++
	}
	token := p.rest[:end+1]
	p.rest = p.rest[end+1:]
	if strings.Contains(token, `\u`) && strings.ContainsRune(decode(token), utf8.RuneError) {
		return encode(decode(token)) // perhaps a lone surrogate
	}
	return token
}

func (p *parser) array(depth int) (*value, error) {
	p.skip()
	var items []*value
	for p.next() != ']' {
		if p.rest[0] == ',' {
			p.skip()
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	p.skip()
	return newArray(items), nil
}

func (p *parser) object(depth int) (*value, error) {
	p.skip()
	var members []member
	var at map[string]int // made when there are many members
	for p.next() != '}' {
		if p.rest[0] == ',' {
			p.skip()
			p.next()
		}
		name := decode(p.string())
		p.next()
		p.skip() // the colon
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if at == nil && len(members) >= 16 {
			at = make(map[string]int)
			for i, m := range members {
				at[m.name] = i
			}
		}
		i, again := at[name]
		if at == nil {
			i = indexOf(members, name)
			again = i >= 0
		}
		if again {
			members[i].value = v
			continue
		}
		if at != nil {
			at[name] = len(members)
		}
		members = append(members, member{name, v})
	}
	p.skip()
	return newObject(members), nil
}

func newText(token string) *value {
	return &value{kind: text, token: token, size: len(token)}
}

func newString(s string) *value { return newText(encode(s)) }

func newTrue() *value { return &value{kind: boolean, token: "true", size: 4} }

func newArray(items []*value) *value {
	v := &value{kind: array, items: items, size: 2 + max(0, len(items)-1)}
	for _, item := range items {
		v.size = addSize(v.size, item.size)
	}
	return v
}

func newObject(members []member) *value {
	v := &value{kind: object, members: members, size: 2 + max(0, len(members)-1)}
	for _, m := range members {
		v.size = addSize(v.size, len(encode(m.name))+1+m.value.size)
	}
	return v
}

// addSize adds without ever running over: shared parts make trees whose text
// would be astronomically long.
func addSize(a, b int) int { return min(a+b, 1<<40) }

// indexOf returns the index of the member called name, or -1.
func indexOf(members []member, name string) int {
	for i, m := range members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// get returns the member called name, or nil. It may be called on nil and on
// values that are no objects.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	if i := indexOf(v.members, name); i >= 0 {
		return v.members[i].value
	}
	return nil
}

// entries returns the members of an object. It may be called on nil.
func (v *value) entries() []member {
	if v == nil {
		return nil
	}
	return v.members
}

// list returns the items of an array. It may be called on nil.
func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// str returns the text of a string, and "" for anything else.
func (v *value) str() string {
	if v == nil || v.kind != text {
		return ""
	}
	return decode(v.token)
}

// texts returns the strings among the items of an array; a single string
// counts as an array of one.
func (v *value) texts() []string {
	if v == nil {
		return nil
	}
	if v.kind == text {
		return []string{v.str()}
	}
	var out []string
	for _, item := range v.items {
		if item.kind == text {
			out = append(out, item.str())
		}
	}
	return out
}

// setOf returns names as a set.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// json returns the compact JSON text.
func (v *value) json() []byte { return v.append(make([]byte, 0, min(v.size, 1<<20))) }

func (v *value) append(b []byte) []byte {
	if v.written != "" {
		return append(b, v.written...)
	}
	switch v.kind {
	case array:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, encode(m.name)...)
			b = append(b, ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	}
	return append(b, v.token...)
}

// plain returns v as encoding/json would decode it with UseNumber.
func (v *value) plain() any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.token == "true"
	case number:
		return json.Number(v.token)
	case text:
		return v.str()
	case array:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.plain()
		}
		return out
	}
	out := make(map[string]any, len(v.members))
	for _, m := range v.members {
		out[m.name] = m.value.plain()
	}
	return out
}

// decode returns the text of a JSON string token.
func decode(token string) string {
	if !strings.Contains(token, `\`) {
		return token[1 : len(token)-1]
	}
	var s string
	// The token is valid JSON; lone surrogates decode as U+FFFD.
	_ = json.Unmarshal([]byte(token), &s)
	return s
}

// encode returns s as a JSON string token, without escaping for HTML.
func encode(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
