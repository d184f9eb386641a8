package appkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A checker checks the arguments of one tool against its schema.
type checker struct {
	schema *jsonschema.Schema
	whole  *jsonschema.Resolved
}

func newChecker(schema *jsonschema.Schema) (*checker, error) {
	// Resolving writes into the schema's neighbours, hence the clone.
	clone := schema.CloneSchemas()
	whole, err := clone.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, err
	}
	return &checker{schema: clone, whole: whole}, nil
}

// check returns the arguments with defaults filled in, ready to be decoded, or
// the JSON-RPC error -32602 that names every field at fault.
func (c *checker) check(arguments json.RawMessage) (json.RawMessage, error) {
	value := any(map[string]any{})
	if len(bytes.TrimSpace(arguments)) > 0 {
		var err error
		if value, err = decodeNumbers(arguments); err != nil {
			return nil, invalid(fault{"arguments", "are not valid JSON: " + err.Error()})
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, invalid(fault{"arguments", "must be an object, not " + show(value)})
	}
	if err := c.whole.ApplyDefaults(&object); err != nil {
		return nil, invalid(fault{"arguments", err.Error()})
	}
	if err := c.whole.Validate(object); err != nil {
		faults := explain(c.schema, object, "")
		if len(faults) == 0 { // a keyword that explain has no words for
			faults = []fault{{"arguments", err.Error()}}
		}
		return nil, invalid(faults...)
	}
	return json.Marshal(object)
}

// A fault is one thing wrong with the arguments.
type fault struct {
	Field   string `json:"field"` // arguments.days, arguments.tags[2]
	Message string `json:"message"`
}

// invalid makes the JSON-RPC error for arguments that break the schema (MCP
// guide of the design documents, sections 4.2 and 8.1.4).
func invalid(faults ...fault) error {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = strings.TrimPrefix(f.Field, "arguments.") + ": " + f.Message
	}
	data, err := json.Marshal(map[string]any{
		"error_code": "ARGUMENTS_INVALID", "field": faults[0].Field, "faults": faults,
	})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: "invalid arguments: " + strings.Join(lines, "; "),
		Data:    data,
	}
}

// explain walks a value beside its schema and says what does not fit, field by
// field, in words a person or a model can act on.
func explain(schema *jsonschema.Schema, value any, path string) []fault {
	at := "arguments" + path
	switch value := value.(type) {
	case map[string]any:
		if schema.Type != "object" {
			break
		}
		var faults []fault
		for _, name := range schema.Required {
			if _, ok := value[name]; !ok {
				faults = append(faults, fault{at + "." + name, "is required"})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			property := schema.Properties[name]
			if property == nil && schema.AdditionalProperties != nil && schema.AdditionalProperties.Not != nil {
				faults = append(faults, fault{at + "." + name, "is unknown" + knownNames(schema)})
				continue
			}
			if property == nil {
				property = schema.AdditionalProperties
			}
			if property != nil {
				faults = append(faults, explain(property, value[name], path+"."+name)...)
			}
		}
		return faults
	case []any:
		if schema.Type != "array" || schema.Items == nil {
			break
		}
		var faults []fault
		for i, item := range value {
			faults = append(faults, explain(schema.Items, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return faults
	}
	resolved, err := schema.CloneSchemas().Resolve(nil)
	if err != nil || resolved.Validate(value) == nil {
		return nil
	}
	return []fault{{at, "must be " + wanted(schema) + ", not " + show(value)}}
}

// knownNames lists the arguments of an object in the order of its struct.
func knownNames(schema *jsonschema.Schema) string {
	if len(schema.Properties) == 0 {
		return " (there are none)"
	}
	names := slices.Clone(schema.PropertyOrder)
	names = slices.DeleteFunc(names, func(name string) bool { return schema.Properties[name] == nil })
	return " (known: " + strings.Join(names, ", ") + ")"
}

// wanted describes what a schema accepts.
func wanted(schema *jsonschema.Schema) string {
	if len(schema.Enum) > 0 {
		choices := make([]string, len(schema.Enum))
		for i, choice := range schema.Enum {
			choices[i] = show(choice)
		}
		return "one of " + strings.Join(choices, ", ")
	}
	noun := map[string]string{
		"string": "a string", "integer": "a whole number", "number": "a number",
		"boolean": "true or false", "array": "a list", "object": "an object",
	}[schema.Type]
	if noun == "" {
		noun = "a value that fits the schema"
	}
	switch {
	case schema.Minimum != nil && schema.Maximum != nil:
		noun += " from " + number(*schema.Minimum) + " to " + number(*schema.Maximum)
	case schema.Minimum != nil:
		noun += " of at least " + number(*schema.Minimum)
	case schema.Maximum != nil:
		noun += " of at most " + number(*schema.Maximum)
	}
	switch {
	case schema.MinLength != nil && schema.MaxLength != nil:
		noun += fmt.Sprintf(" of %d to %d characters", *schema.MinLength, *schema.MaxLength)
	case schema.MinLength != nil:
		noun += fmt.Sprintf(" of at least %d characters", *schema.MinLength)
	case schema.MaxLength != nil:
		noun += fmt.Sprintf(" of at most %d characters", *schema.MaxLength)
	}
	if schema.Pattern != "" {
		noun += " that matches " + schema.Pattern
	}
	return noun
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// show writes a value into a message, shortened: it may be anything.
func show(value any) string {
	const most = 40
	text, err := json.Marshal(value)
	if err != nil {
		return "something else"
	}
	if short := []rune(string(text)); len(short) > most {
		return string(short[:most]) + "…"
	}
	return string(text)
}

// decodeNumbers decodes JSON so that whole numbers stay exact: 64-bit integers
// are not rounded, and 3.0, which models write now and then, is 3.
func decodeNumbers(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is more than one value")
	}
	return exact(value), nil
}

func exact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = exact(item)
		}
	case []any:
		for i, item := range value {
			value[i] = exact(item)
		}
	case json.Number:
		if n, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(value.String(), 10, 64); err == nil {
			return n
		}
		f, err := value.Float64()
		if err != nil { // 1e400: no type of ours holds it
			return value.String()
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return f
	}
	return value
}
