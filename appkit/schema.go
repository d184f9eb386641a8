package appkit

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema infers the schema of a tool's arguments from a struct type. The
// object is closed: additionalProperties is false, at every depth.
func inputSchema(structure reflect.Type, refine func(*jsonschema.Schema)) (*jsonschema.Schema, error) {
	if structure.Kind() != reflect.Struct {
		return nil, fmt.Errorf("arguments are of type %s, want a struct", structure)
	}
	schema, err := jsonschema.ForType(structure, nil)
	if err != nil {
		return nil, err
	}
	dropNull(schema)
	if err := applyLimits(schema, structure); err != nil {
		return nil, err
	}
	if len(schema.Properties) == 0 {
		schema.Properties = nil // exactly {"type":"object","additionalProperties":false}
	}
	if refine != nil {
		refine(schema)
	}
	return schema, nil
}

// dropNull makes every ["null", T] a plain T. Inference allows null for slices
// and pointers, which is right for what Go writes, but for arguments it only
// says "may be left out" a second time, in a way some model providers refuse.
func dropNull(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	for _, property := range schema.Properties {
		dropNull(property)
	}
	dropNull(schema.Items)
	dropNull(schema.AdditionalProperties)
}

// outputSchema describes both results of a tool: success with data of the
// given type, and failure. Older clients want an object at the root, so the
// choice stands inside it.
func outputSchema(data reflect.Type) (*jsonschema.Schema, error) {
	for data.Kind() == reflect.Pointer { // a success always has data
		data = data.Elem()
	}
	dataSchema, err := jsonschema.ForType(data, nil)
	if err != nil {
		return nil, err
	}
	constant := func(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }
	text := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: description}
	}
	return &jsonschema.Schema{
		Type:       "object",
		Properties: map[string]*jsonschema.Schema{"ok": {Type: "boolean"}},
		Required:   []string{"ok"},
		OneOf: []*jsonschema.Schema{{
			Title:         "success",
			Properties:    map[string]*jsonschema.Schema{"ok": constant(true), "data": dataSchema},
			PropertyOrder: []string{"ok", "data"},
			Required:      []string{"ok", "data"},
		}, {
			Title: "failure",
			Properties: map[string]*jsonschema.Schema{
				"ok":         constant(false),
				"error_code": text("Stable code in upper snake case."),
				"message":    text("What happened and what to do about it."),
				"retryable":  {Type: "boolean", Description: "Whether the same call may succeed later."},
				"data":       {Description: "Details, such as candidates to choose from."},
			},
			PropertyOrder: []string{"ok", "error_code", "message", "retryable", "data"},
			Required:      []string{"ok", "error_code", "message", "retryable"},
		}},
	}, nil
}

// rawSchema writes a schema out once, so that its bytes are the same in every
// answer and nobody can change it afterwards.
func rawSchema(schema *jsonschema.Schema) (json.RawMessage, error) {
	raw, err := json.Marshal(schema)
	return raw, err
}
