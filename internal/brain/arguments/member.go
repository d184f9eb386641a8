package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A member is one member of a JSON object, its value as it was written.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("it is no JSON object")

// membersOf takes an object apart and keeps the order.
func membersOf(raw []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errNoObject
	}
	var all []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, errNoObject
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		all = append(all, member{name, v})
	}
	return all, nil
}

// itemsOf takes an array apart.
func itemsOf(raw []byte) ([]json.RawMessage, error) {
	var items []json.RawMessage
	err := json.Unmarshal(raw, &items)
	return items, err
}

func objectOf(all []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(textOf(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func arrayOf(items []json.RawMessage) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(raws(items), []byte{','})...), ']')
}

func raws(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// textOf returns s as a JSON string, without escaping for HTML.
func textOf(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// kindOf returns the JSON type of a value: null, boolean, number, string, array
// or object.
func kindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
