package toolschema

// A role says what a keyword of JSON Schema holds.
type role byte

const (
	data         role = iota // any JSON, passed on as it is
	schema                   // one schema
	schemas                  // an array of schemas
	schemaMap                // an object whose values are schemas
	schemaOrMany             // a schema or an array of them: items before 2020-12
	schemaOrKeys             // an object of schemas or arrays of names: dependencies
	reference                // points to a schema
	identity                 // names a schema or says what dialect it is written in
	definitions              // an object of schemas that apply only where referred to
)

// keyword returns the role of a keyword and the kinds of JSON it may be. An
// unknown keyword is data of any kind (JSON Schema 2020-12 core, section 6.5;
// earlier drafts agree).
func keyword(name string) (role, kind) {
	switch name {
	case "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return schema, boolean | object
	case "items":
		return schemaOrMany, boolean | object | array
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return schemas, array
	case "properties", "patternProperties", "dependentSchemas":
		return schemaMap, object
	case "dependencies":
		return schemaOrKeys, object
	case "$ref", "$dynamicRef":
		return reference, text
	case "$recursiveRef":
		return reference, text
	case "$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment":
		return identity, text | boolean | object
	case "$defs", "definitions":
		return definitions, object
	case "type":
		return data, text | array
	case "enum", "required":
		return data, array
	case "title", "description", "format", "pattern", "contentEncoding", "contentMediaType":
		return data, text
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties", "minContains", "maxContains":
		return data, number
	case "exclusiveMinimum", "exclusiveMaximum":
		return data, number | boolean // boolean in draft-04
	case "uniqueItems", "deprecated", "readOnly", "writeOnly":
		return data, boolean
	case "dependentRequired":
		return data, object
	case "examples":
		return data, array
	}
	return data, null | boolean | number | text | array | object
}

// annotation reports whether a keyword only describes and never constrains, so
// that beside a $ref it can simply stand in for the target's own.
func annotation(name string) bool {
	switch name {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly":
		return true
	}
	return false
}

// tidy returns the members of a schema without those that no draft of JSON
// Schema allows, such as "description": null. A provider refuses the whole
// request for one of them, and a strict validator the whole schema.
func tidy(v *value) []member {
	out := make([]member, 0, len(v.members))
	for _, m := range v.members {
		r, kinds := keyword(m.name)
		if m.value.kind&kinds == 0 {
			continue
		}
		switch {
		case m.name == "type":
			m.value = tidyType(m.value)
		case m.name == "required":
			m.value = onlyTexts(m.value)
		case m.name == "enum" && len(m.value.items) == 0:
			continue
		case r == schemas || r == schemaOrMany && m.value.kind == array:
			m.value = onlySchemas(m.value)
			if m.value != nil && len(m.value.items) == 0 {
				continue
			}
		case r == schemaMap || r == definitions:
			m.value = onlySchemaMembers(m.value)
		}
		if m.value != nil {
			out = append(out, m)
		}
	}
	return out
}

func isSchema(v *value) bool { return v.kind == object || v.kind == boolean }

// tidyType returns a type keyword without words that JSON Schema does not
// know, or nil when none is left. Names that languages use for the same thing
// are understood.
func tidyType(v *value) *value {
	known := func(s string) string {
		switch s {
		case "null", "boolean", "number", "integer", "string", "array", "object":
			return s
		case "bool":
			return "boolean"
		case "int", "long":
			return "integer"
		case "float", "double":
			return "number"
		case "str", "text":
			return "string"
		case "list":
			return "array"
		case "dict", "map":
			return "object"
		}
		return ""
	}
	if v.kind == text {
		switch s := known(v.str()); s {
		case "":
			return nil
		case v.str():
			return v
		default:
			return newString(s)
		}
	}
	var items []*value
	changed := false
	seen := map[string]bool{}
	for _, item := range v.items {
		s := known(item.str())
		if s == "" || seen[s] {
			changed = true
			continue
		}
		seen[s] = true
		changed = changed || s != item.str()
		items = append(items, newString(s))
	}
	switch {
	case len(items) == 0:
		return nil
	case changed:
		return newArray(items)
	}
	return v
}

func onlyTexts(v *value) *value {
	var out []*value
	seen := map[string]bool{}
	for _, item := range v.items {
		if item.kind == text && !seen[item.str()] {
			seen[item.str()] = true
			out = append(out, item)
		}
	}
	if len(out) == len(v.items) {
		return v
	}
	return newArray(out)
}

func onlySchemas(v *value) *value {
	var out []*value
	for _, item := range v.items {
		if isSchema(item) {
			out = append(out, item)
		}
	}
	if len(out) == len(v.items) {
		return v
	}
	return newArray(out)
}

func onlySchemaMembers(v *value) *value {
	var out []member
	for _, m := range v.members {
		if isSchema(m.value) {
			out = append(out, m)
		}
	}
	if len(out) == len(v.members) {
		return v
	}
	return newObject(out)
}

// eachSchema calls f with each schema directly inside the member m of a schema
// and returns the member with what f returned in its place. A nil takes the
// schema out.
func eachSchema(m member, f func(*value) *value) *value {
	r, _ := keyword(m.name)
	switch {
	case (r == schema || r == schemaOrMany) && m.value.kind != array:
		return f(m.value)
	case r == schemas || r == schemaOrMany:
		items := make([]*value, 0, len(m.value.items))
		for _, item := range m.value.items {
			if item = f(item); item != nil {
				items = append(items, item)
			}
		}
		return newArray(items)
	case r == schemaMap || r == definitions || r == schemaOrKeys:
		members := make([]member, 0, len(m.value.members))
		for _, in := range m.value.members {
			if isSchema(in.value) {
				in.value = f(in.value)
			}
			if in.value != nil {
				members = append(members, in)
			}
		}
		return newObject(members)
	}
	return m.value
}
