package toolschema

import (
	"encoding/json"
	"slices"
)

// items returns the functions as the items of the provider's array.
func (c *converter) items(functions []function) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(functions))
	var declarations []*value
	for _, f := range functions {
		head := []member{
			{"name", newString(f.tool.Alias)},
			{"description", newString(f.description)},
		}
		switch c.dialect {
		case Anthropic:
			out = append(out, newObject(append(head, member{"input_schema", f.parameters})).json())
		case Gemini:
			if f.parameters != nil {
				head = append(head, member{"parameters", f.parameters})
			}
			declarations = append(declarations, newObject(head))
		default:
			head = append(head, member{"parameters", f.parameters})
			if f.strict {
				head = append(head, member{"strict", newTrue()})
			}
			out = append(out, newObject([]member{
				{"type", newString("function")},
				{"function", newObject(head)},
			}).json())
		}
	}
	if len(declarations) > 0 {
		out = append(out, newObject([]member{{"functionDeclarations", newArray(declarations)}}).json())
	}
	return out
}

// strictly reports whether s, as it stands, is within the subset of JSON Schema
// that OpenAI enforces in strict mode: every object is closed and requires each
// of its properties, and no keyword is outside the subset.
func strictly(s *value) bool {
	if s.kind != object {
		return false
	}
	for _, m := range s.members {
		switch m.name {
		case "type", "title", "description", "enum", "const", "pattern", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "required":
		case "additionalProperties":
			if m.value.token != "false" {
				return false
			}
		case "properties", "items", "anyOf":
			ok := true
			eachSchema(m, func(v *value) *value {
				ok = ok && strictly(v)
				return v
			})
			if !ok || m.name == "items" && m.value.kind == array {
				return false
			}
		default:
			return false
		}
	}
	if types := s.get("type").texts(); !slices.Contains(types, "object") && s.get("properties") == nil {
		return len(types) > 0 || s.get("anyOf") != nil || s.get("enum") != nil || s.get("const") != nil
	}
	if s.get("additionalProperties") == nil {
		return false
	}
	required := setOf(s.get("required").texts())
	return !slices.ContainsFunc(s.get("properties").entries(), func(m member) bool { return !required[m.name] })
}
