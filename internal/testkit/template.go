package testkit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A template is text with ${…} in it.
type template struct {
	parts []part
}

// A part is literal text or a variable.
type part struct {
	literal  string
	variable string
	quoted   bool // the variable stands inside a JSON string
}

// roots are the variables there are; some take a path.
var roots = []string{"id", "method", "params", "args", "token", "i", "n", "run", "pid", "argv", "env", "cwd", "received", "fill", "hex"}

// parseTemplate cuts text into parts. With json set, it tracks where strings
// begin and end, because a variable looks different inside one.
func parseTemplate(text string, json bool) (*template, error) {
	t := &template{}
	var lit strings.Builder
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "$${"):
			lit.WriteString("${")
			i += 2
		case strings.HasPrefix(text[i:], "${"):
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("${ without }")
			}
			name := text[i+2 : i+end]
			root := name
			if k := strings.IndexAny(name, ".:"); k >= 0 {
				root = name[:k]
			}
			if !slices.Contains(roots, root) {
				return nil, fmt.Errorf("unknown variable ${%s}; there are %s", name, strings.Join(roots, ", "))
			}
			if lit.Len() > 0 {
				t.parts = append(t.parts, part{literal: lit.String()})
				lit.Reset()
			}
			t.parts = append(t.parts, part{variable: name, quoted: inString || !json})
			i += end
		case c == '\\' && inString && i+1 < len(text):
			lit.WriteString(text[i : i+2])
			i++
		default:
			if c == '"' && json {
				inString = !inString
			}
			lit.WriteByte(c)
		}
	}
	if lit.Len() > 0 {
		t.parts = append(t.parts, part{literal: lit.String()})
	}
	return t, nil
}

// sample returns the template with harmless values, to check its form.
func (t *template) sample() []byte {
	var b []byte
	for _, p := range t.parts {
		switch {
		case p.variable == "":
			b = append(b, p.literal...)
		case p.quoted:
			b = append(b, 'x')
		default:
			b = append(b, '0')
		}
	}
	return b
}

// json expands a template that is JSON.
func (t *template) json(turn *turn) ([]byte, error) {
	var b []byte
	for _, p := range t.parts {
		if p.variable == "" {
			b = append(b, p.literal...)
			continue
		}
		v, err := turn.value(p.variable)
		if err != nil {
			return nil, err
		}
		if p.quoted {
			b = append(b, v.inString()...)
		} else {
			b = append(b, v.asJSON()...)
		}
	}
	return b, nil
}

// text expands a template that is plain text.
func (t *template) text(turn *turn) ([]byte, error) {
	var b []byte
	for _, p := range t.parts {
		if p.variable == "" {
			b = append(b, p.literal...)
			continue
		}
		v, err := turn.value(p.variable)
		if err != nil {
			return nil, err
		}
		b = append(b, v.asText()...)
	}
	return b, nil
}

// stringBody expands a template of plain text into the inside of a JSON string.
func (t *template) stringBody(turn *turn) ([]byte, error) {
	var b []byte
	for _, p := range t.parts {
		if p.variable == "" {
			b = append(b, escape(p.literal)...)
			continue
		}
		v, err := turn.value(p.variable)
		if err != nil {
			return nil, err
		}
		b = append(b, v.inString()...)
	}
	return b, nil
}

// A value is JSON, or bytes that are to be taken as they are.
type value struct {
	json []byte
	raw  []byte
}

func (v value) asJSON() []byte {
	switch {
	case v.raw != nil:
		return v.raw
	case len(v.json) == 0:
		return []byte("null")
	}
	return v.json
}

func (v value) inString() []byte {
	switch {
	case v.raw != nil:
		return v.raw
	case len(v.json) > 1 && v.json[0] == '"':
		return v.json[1 : len(v.json)-1] // the same escapes as it came in
	}
	return escape(string(v.json))
}

func (v value) asText() []byte {
	if v.raw != nil {
		return v.raw
	}
	var s string
	if json.Unmarshal(v.json, &s) == nil {
		return []byte(s)
	}
	return v.json
}

// escape returns s as the inside of a JSON string; bytes that are not UTF-8
// stay as they are, because that is what a broken server does.
func escape(s string) []byte {
	var b []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return b
}

// value looks up one variable.
func (t *turn) value(name string) (value, error) {
	root, rest, _ := strings.Cut(name, ":")
	if root == name {
		root, rest, _ = strings.Cut(name, ".")
	}
	s := t.server
	number := func(n int) (value, error) { return value{json: strconv.AppendInt(nil, int64(n), 10)}, nil }
	encoded := func(v any) (value, error) {
		data, err := encode(v)
		return value{json: data}, err
	}
	switch root {
	case "i":
		return number(t.i)
	case "run":
		return number(s.ground.run())
	case "pid":
		return number(s.ground.pid())
	case "argv":
		return encoded(s.ground.argv())
	case "cwd":
		return encoded(s.ground.cwd())
	case "env":
		env := s.ground.environ()
		if rest != "" {
			return encoded(env[rest])
		}
		return encoded(env)
	case "received":
		s.mu.Lock()
		all := slices.Concat([]byte("["), bytes.Join(s.received, []byte(",")), []byte("]"))
		s.mu.Unlock()
		return value{json: all}, nil
	case "hex":
		raw, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		return value{raw: raw}, err
	case "fill":
		raw, err := t.fill(rest)
		return value{raw: raw}, err
	}
	m := t.msg
	if m == nil {
		return value{}, fmt.Errorf("${%s} outside a message handler", name)
	}
	switch root {
	case "id":
		return value{json: m.ID}, nil
	case "method":
		return encoded(m.Method)
	case "n":
		return number(m.nth)
	case "token":
		return value{json: dig(m.Params, "_meta.progressToken")}, nil
	case "params":
		return value{json: dig(m.Params, rest)}, nil
	case "args":
		return value{json: dig(dig(m.Params, "arguments"), rest)}, nil
	}
	return value{}, fmt.Errorf("unknown variable ${%s}", name)
}

// dig follows a dotted path of keys and returns the raw JSON there, or nil.
func dig(data []byte, path string) []byte {
	for path != "" && data != nil {
		var key string
		key, path, _ = strings.Cut(path, ".")
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			return nil
		}
		data = fields[key]
	}
	return data
}

// fill returns "SIZE" bytes of x or "SIZE:TEXT" bytes of whole repetitions of TEXT.
func (t *turn) fill(spec string) ([]byte, error) {
	size, text, ok := strings.Cut(spec, ":")
	if !ok {
		text = "x"
	}
	if strings.HasPrefix(size, "args.") || strings.HasPrefix(size, "params.") {
		v, err := t.value(size)
		if err != nil {
			return nil, err
		}
		size = string(v.asText())
	}
	n, err := parseSize(size)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, fmt.Errorf("${fill:…:} with an empty text")
	}
	return bytes.Repeat([]byte(text), n/len(text)), nil
}

// parseSize reads 64KiB, 8MiB or a plain number of bytes.
func parseSize(s string) (int, error) {
	unit := 1
	if t, ok := strings.CutSuffix(s, "KiB"); ok {
		s, unit = t, 1<<10
	} else if t, ok := strings.CutSuffix(s, "MiB"); ok {
		s, unit = t, 1<<20
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30/unit {
		return 0, fmt.Errorf("%q is no size; write 5000000, 64KiB or 8MiB, at most 1 GiB", s)
	}
	return n * unit, nil
}
