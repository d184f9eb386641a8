package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// DefaultSettings are those of a home without aurora.yml, but for what depends on
// the machine.
func DefaultSettings() Settings {
	var s Settings
	applyDefaults(reflect.ValueOf(&s).Elem())
	return s
}

// applyDefaults sets every field below v that has a default tag. A default that
// does not parse is a mistake in this package, which any test finds.
func applyDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if _, tagged := f.Tag.Lookup("yaml"); !tagged {
			continue
		}
		applyDefaults(v.Field(i))
		if text, ok := f.Tag.Lookup("default"); ok {
			setDefault(v.Field(i), text, f.Tag)
		}
	}
}

func setDefault(v reflect.Value, text string, tag reflect.StructTag) {
	switch target := v.Addr().Interface().(type) {
	case *time.Duration:
		duration, err := parseDuration(text, tag.Get("unit") == "s")
		if err != nil {
			panic(err)
		}
		*target = duration
		return
	case *Size:
		*target = mustSize(text)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Trim(text, `"`))
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int:
		v.SetInt(int64(mustInt(text)))
	case reflect.Slice:
		words := strings.Split(strings.Trim(text, "[]"), ",")
		list := make([]string, 0, len(words))
		for _, word := range words {
			if word = strings.Trim(strings.TrimSpace(word), `"`); word != "" {
				list = append(list, word)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		panic("config: no default for " + v.Type().String())
	}
}

func mustInt(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return number
}

func mustDuration(text string) time.Duration {
	duration, err := parseDuration(text, true)
	if err != nil {
		panic(err)
	}
	return duration
}

func mustSize(text string) Size {
	size, err := parseSize(text)
	if err != nil {
		panic(err)
	}
	return size
}
