package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// FromModel returns the arguments that a model wrote, as an object to call the
// tool with. The error says, to the model, why the text is none.
func FromModel(input json.RawMessage, text string) (json.RawMessage, error) {
	raw := bytes.TrimSpace(bytes.TrimPrefix([]byte(text), []byte("\uFEFF")))
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if err := valid(raw); err != nil {
		return nil, err
	}
	if kindOf(raw) == "string" { // an object, written as a string once too often
		var inside string
		if json.Unmarshal(raw, &inside) == nil && kindOf([]byte(inside)) == "object" && json.Valid([]byte(inside)) {
			raw = []byte(inside)
		}
	}
	if k := kindOf(raw); k != "object" {
		return nil, fmt.Errorf("the arguments must be a JSON object, not %s %s", article(k), k)
	}
	c := coercion{newDocument(input)}
	return c.value([]*view{c.doc.at("")}, raw, 0), nil
}

// valid says where a text stops being JSON.
func valid(raw []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("the arguments are not valid JSON: %w (at byte %d of %d)", err, syntax.Offset, len(raw))
	}
	return fmt.Errorf("the arguments are not valid JSON: %w", err)
}

func article(word string) string {
	if word == "array" || word == "object" {
		return "an"
	}
	return "a"
}

// A coercion turns strings into what they spell where the schema allows that
// and no string.
type coercion struct{ doc *document }

// value returns raw itself unless something in it had to be turned.
func (c coercion) value(schemas []*view, raw json.RawMessage, depth int) json.RawMessage {
	if len(schemas) == 0 || depth > maxDepth {
		return raw
	}
	switch kindOf(raw) {
	case "string":
		if inside := c.spelled(c.doc.types(schemas), raw); inside != nil {
			return c.value(schemas, inside, depth+1)
		}
	case "object":
		all, err := membersOf(raw)
		if err != nil {
			return raw
		}
		views, changed := c.doc.views(combiners, schemas...), false
		for i, m := range all {
			v := c.value(c.doc.property(views, m.name), m.value, depth+1)
			changed = changed || !bytes.Equal(v, m.value)
			all[i].value = v
		}
		if changed {
			return objectOf(all)
		}
	case "array":
		items, err := itemsOf(raw)
		if err != nil {
			return raw
		}
		views, changed := c.doc.views(combiners, schemas...), false
		for i, item := range items {
			v := c.value(c.doc.item(views, i), item, depth+1)
			changed = changed || !bytes.Equal(v, item)
			items[i] = v
		}
		if changed {
			return arrayOf(items)
		}
	}
	return raw
}

// spelled returns the value that a string spells, if one of types is meant and
// none of them is string; nil otherwise.
func (c coercion) spelled(types []string, raw json.RawMessage) json.RawMessage {
	if types == nil || slices.Contains(types, "string") {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	inside := bytes.TrimSpace([]byte(s))
	if !json.Valid(inside) {
		return nil
	}
	switch k := kindOf(inside); k {
	case "array", "object", "boolean":
		if slices.Contains(types, k) {
			return inside
		}
	case "number":
		if slices.Contains(types, "number") || slices.Contains(types, "integer") && !bytes.ContainsAny(inside, ".eE") {
			return inside
		}
	}
	return nil
}
