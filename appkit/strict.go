package appkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// decodeStrict decodes the JSON object in data into the struct that into
// points to. Absent keys leave their fields alone; empty data and null are an
// empty object. The error joins one line per faulty key, each beginning with
// source.
func decodeStrict(data []byte, into any, source string) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("%s: cannot decode into %T, want a pointer to a struct", source, into)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("%s: %s", source, jsonFault(err, data))
	}
	known := keysOf(target.Elem())
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, ok := known[key]
		if !ok {
			faults = append(faults, fmt.Errorf("%s: %s: unknown key (known: %s)",
				source, key, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(object[key]))
		dec.DisallowUnknownFields()
		if err := dec.Decode(field.Addr().Interface()); err != nil {
			faults = append(faults, fmt.Errorf("%s: %s: %s", source, key, jsonFault(err, nil)))
		}
	}
	return errors.Join(faults...)
}

// keysOf returns the exported fields of a struct by their JSON keys.
func keysOf(structure reflect.Value) map[string]reflect.Value {
	keys := make(map[string]reflect.Value)
	for _, field := range reflect.VisibleFields(structure.Type()) {
		if !field.IsExported() || field.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch name {
		case "-":
			continue
		case "":
			name = field.Name
		}
		if value, err := structure.FieldByIndexErr(field.Index); err == nil {
			keys[name] = value
		}
	}
	return keys
}

// jsonFault says in plain words what is wrong with a JSON text.
func jsonFault(err error, text []byte) string {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType):
		at := ""
		if wrongType.Field != "" {
			at = wrongType.Field + ": "
		}
		return fmt.Sprintf("%sexpected %s, got %s", at, wordFor(wrongType.Type), wrongType.Value)
	case errors.As(err, &syntax) && text != nil:
		before := text[:min(int(syntax.Offset), len(text))]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
		return fmt.Sprintf("line %d, column %d: %v", line, column, syntax)
	default:
		return strings.TrimPrefix(err.Error(), "json: ")
	}
}

// wordFor names the JSON type that a Go type is read from.
func wordFor(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "an object"
	}
}
