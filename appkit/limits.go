package appkit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// limitTag is the struct tag that narrows an argument.
const limitTag = "appkit"

// applyLimits reads the appkit tags of a struct type into the schema that was
// inferred from it. Embedded structs count as their fields do.
func applyLimits(schema *jsonschema.Schema, structure reflect.Type) error {
	for _, field := range reflect.VisibleFields(structure) {
		tag, ok := field.Tag.Lookup(limitTag)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		property := schema.Properties[name]
		if property == nil {
			return fmt.Errorf("field %s has an %s tag but is no argument", field.Name, limitTag)
		}
		for limit := range strings.SplitSeq(tag, ",") {
			if err := applyLimit(property, limit); err != nil {
				return fmt.Errorf("field %s: %s tag: %w", field.Name, limitTag, err)
			}
		}
	}
	return nil
}

// applyLimit sets one limit, written key=value.
func applyLimit(property *jsonschema.Schema, limit string) error {
	key, value, _ := strings.Cut(limit, "=")
	switch key {
	case "min", "max":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is no number", key, value)
		}
		if key == "min" {
			property.Minimum = &n
		} else {
			property.Maximum = &n
		}
	case "minLength", "maxLength":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%s: %q is no whole number", key, value)
		}
		if key == "minLength" {
			property.MinLength = &n
		} else {
			property.MaxLength = &n
		}
	case "enum":
		for choice := range strings.SplitSeq(value, "|") {
			property.Enum = append(property.Enum, choice)
		}
	case "default":
		if property.Type == "string" {
			quoted, err := json.Marshal(value)
			if err != nil {
				return err
			}
			property.Default = quoted
			return nil
		}
		if !json.Valid([]byte(value)) {
			return fmt.Errorf("default: %q is no JSON value", value)
		}
		property.Default = json.RawMessage(value)
	default:
		return fmt.Errorf("unknown limit %q (known: min, max, minLength, maxLength, enum, default)", key)
	}
	return nil
}
