package config

import (
	"reflect"
	"strings"
)

// A field is one key of a struct.
type field struct {
	key     string
	aliases []string
	index   []int
	tag     reflect.StructTag
}

// fieldsOf returns the fields that have a yaml tag, those of inline structs
// among them.
func fieldsOf(t reflect.Type, index []int) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("yaml")
		if !tagged {
			continue
		}
		at := append(append([]int(nil), index...), i)
		if name == ",inline" {
			fields = append(fields, fieldsOf(f.Type, at)...)
			continue
		}
		var aliases []string
		if also := f.Tag.Get("alias"); also != "" {
			aliases = strings.Split(also, "|")
		}
		fields = append(fields, field{name, aliases, at, f.Tag})
	}
	return fields
}

func findField(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
		for _, alias := range f.aliases {
			if alias == key {
				return f, true
			}
		}
	}
	return field{}, false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
