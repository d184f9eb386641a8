package circuit

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/names"
)

// A decoder reads the config of a node into its settings, strictly: every key
// must be known and every value must fit.
type decoder struct {
	marks map[string]place // where each field stands
	wrong func(at place, field, message, hint string)
}

// A key is a field of settings as people write it.
type key struct {
	names    []string // the first is the right one, the others are read too
	index    []int
	doc      string
	min, max string
	seconds  bool // a bare number is a number of seconds
}

// keysOf returns the keys of a struct, those of embedded structs first.
func keysOf(t reflect.Type) []key {
	var keys []key
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, k := range keysOf(f.Type) {
				k.index = append([]int{i}, k.index...)
				keys = append(keys, k)
			}
			continue
		}
		tag := f.Tag.Get("yaml")
		if tag == "" {
			continue
		}
		k := key{names: strings.Split(tag, ","), index: []int{i}, doc: f.Tag.Get("doc"), min: f.Tag.Get("min"), max: f.Tag.Get("max")}
		k.seconds = strings.HasSuffix(k.names[0], "_seconds")
		keys = append(keys, k)
	}
	return keys
}

// decode reads v into the struct that settings points to; nil settings have no
// keys.
func (d *decoder) decode(settings any, v *value) {
	if v == nil || v.shape == nothing {
		return
	}
	if settings == nil {
		settings = &struct{}{}
	}
	d.mapping(reflect.ValueOf(settings).Elem(), v, "")
}

func (d *decoder) mapping(into reflect.Value, v *value, path string) {
	if v.shape != mapping {
		d.wrong(v.at, path, fmt.Sprintf("must be a mapping, not %s", v.shape), "")
		return
	}
	keys := keysOf(into.Type())
	given := make(map[int]string)
	for _, e := range v.entries {
		i, known := findKey(keys, e.key)
		if !known {
			d.wrong(e.at, join(path, e.key), "is not a key here", hintFor(e.key, keys))
			continue
		}
		if first, twice := given[i]; twice {
			d.wrong(e.at, join(path, e.key), fmt.Sprintf("says the same as %q above", first), "write one of them")
			continue
		}
		given[i] = e.key
		field := join(path, keys[i].names[0])
		d.marks[field] = e.value.at
		d.value(into.FieldByIndex(keys[i].index), e.value, field, keys[i])
	}
}

func findKey(keys []key, name string) (int, bool) {
	for i, k := range keys {
		for _, n := range k.names {
			if n == name {
				return i, true
			}
		}
	}
	return 0, false
}

func hintFor(name string, keys []key) string {
	var known []string
	for _, k := range keys {
		known = append(known, k.names[0])
	}
	if near := names.Near(name, known, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	if len(known) == 0 {
		return "this type of node has no config"
	}
	return "known are " + strings.Join(known, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

var durationType = reflect.TypeFor[time.Duration]()

// value reads one value into a field.
func (d *decoder) value(into reflect.Value, v *value, path string, k key) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch into.Kind() {
	case reflect.Slice:
		d.list(into, v, path, k)
		return
	case reflect.Struct:
		d.mapping(into, v, path)
		return
	}
	if v.shape != scalar {
		d.wrong(v.at, path, fmt.Sprintf("must be a single value, not %s", v.shape), "")
		return
	}
	fail := func(what string) {
		d.wrong(v.at, path, fmt.Sprintf("must be %s, not %q", what, v.text), "")
	}
	switch {
	case into.Type() == durationType:
		length, err := parseDuration(v.text, k.seconds)
		if err != nil {
			fail(err.Error())
			return
		}
		into.SetInt(int64(length))
		low, _ := parseDuration(k.min, false)
		high, _ := parseDuration(k.max, false)
		if k.min != "" && length < low || k.max != "" && length > high {
			fail("between " + k.min + " and " + k.max)
		}
	case into.Kind() == reflect.String:
		into.SetString(v.text)
	case into.Kind() == reflect.Bool:
		truth, err := strconv.ParseBool(strings.ToLower(v.text))
		if err != nil || !v.plain || len(v.text) < 4 {
			fail("true or false")
			return
		}
		into.SetBool(truth)
	case into.Kind() == reflect.Int:
		n, err := strconv.Atoi(v.text)
		if err != nil || !v.plain {
			fail("a whole number")
			return
		}
		into.SetInt(int64(n))
		low, _ := strconv.Atoi(k.min)
		high, _ := strconv.Atoi(k.max)
		if k.min != "" && n < low || k.max != "" && n > high {
			fail("between " + k.min + " and " + k.max)
		}
	}
}

func (d *decoder) list(into reflect.Value, v *value, path string, k key) {
	items := v.items
	switch v.shape {
	case list:
	case nothing:
	case scalar:
		items = []*value{v} // one stands for a list of one
	default:
		d.wrong(v.at, path, fmt.Sprintf("must be a list, not %s", v.shape), "")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.marks[at] = item.at
		d.value(into.Index(i), item, at, k)
	}
}

// parseDuration reads 10s, 5m, 1h30m, 7d, or with seconds also a bare number of
// them.
func parseDuration(text string, seconds bool) (time.Duration, error) {
	const what = "a length of time like 10s, 5m or 2h"
	if n, err := strconv.ParseFloat(text, 64); err == nil && seconds {
		if n < 0 || math.IsNaN(n) || n > 1e9 {
			return 0, errors.New("a number of seconds")
		}
		return time.Duration(n * float64(time.Second)), nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
		return 0, errors.New(what)
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 0 {
		if seconds {
			return 0, errors.New("a number of seconds")
		}
		return 0, errors.New(what)
	}
	return length, nil
}
