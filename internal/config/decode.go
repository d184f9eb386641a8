package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decode fills the Go value v, which has its defaults already, from the node n.
// It reports everything that does not fit and goes on; a field that does not fit
// keeps its default. An empty value ("key:") means the same as no key at all.
func (s *source) decode(n *node, path string, v reflect.Value, tag reflect.StructTag) {
	switch n.kind {
	case nullNode:
		return
	case invalidNode:
		s.report(n.place, path, n.text, n.hint, false)
		return
	}
	s.places[path] = n.place

	switch target := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*target = s.decodeJSON(n, path)
		return
	case *time.Duration:
		s.decodeDuration(n, path, target, tag)
		return
	case *Size:
		s.decodeSize(n, path, target, tag)
		return
	case *commandLine:
		s.decodeCommand(n, path, target)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		applyDefaults(fresh.Elem())
		before := len(*s.problems)
		s.decode(n, path, fresh.Elem(), tag)
		if len(*s.problems) == before || v.Type().Elem().Kind() == reflect.Struct {
			v.Set(fresh)
		}
	case reflect.Struct:
		s.decodeStruct(n, path, v)
	case reflect.Map:
		s.decodeMap(n, path, v, tag)
	case reflect.Slice:
		s.decodeList(n, path, v, tag)
	case reflect.String:
		if text, ok := s.scalar(n, path, "text"); ok && s.oneOf(text, path, tag) {
			v.SetString(text)
		}
	case reflect.Bool:
		s.decodeBool(n, path, v)
	case reflect.Int:
		s.decodeInt(n, path, v, tag)
	default:
		panic("config: no decoder for " + v.Type().String())
	}
}

// scalar returns the text of a single value and reports anything else.
func (s *source) scalar(n *node, path, want string) (string, bool) {
	if n.kind == scalarNode {
		return n.text, true
	}
	hint := ""
	if n.kind == mapNode && want == "text" {
		hint = `put a text that holds ": " in quotes`
	}
	s.problem(path, fmt.Sprintf("must be %s, not %s", want, n.kind), hint)
	return "", false
}

// oneOf checks a word against the tag "one".
func (s *source) oneOf(text, path string, tag reflect.StructTag) bool {
	words, limited := tag.Lookup("one")
	if !limited {
		return true
	}
	allowed := strings.Split(words, "|")
	for _, word := range allowed {
		if text == word {
			return true
		}
	}
	s.problem(path, fmt.Sprintf("unknown word %q", text), choices(text, allowed))
	return false
}

func (s *source) decodeBool(n *node, path string, v reflect.Value) {
	text, ok := s.scalar(n, path, "true or false")
	if !ok {
		return
	}
	switch {
	case n.plain && isTrue(text):
		v.SetBool(true)
	case n.plain && isFalse(text):
		v.SetBool(false)
	default:
		hint := ""
		switch strings.ToLower(text) {
		case "yes", "on", "y", "1", "true":
			hint = "write true, without quotes"
		case "no", "off", "n", "0", "false":
			hint = "write false, without quotes"
		}
		s.problem(path, fmt.Sprintf("must be true or false, not %q", text), hint)
	}
}

func (s *source) decodeInt(n *node, path string, v reflect.Value, tag reflect.StructTag) {
	text, ok := s.scalar(n, path, "a whole number")
	if !ok {
		return
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		s.problem(path, fmt.Sprintf("must be a whole number, not %q", text), "")
		return
	}
	if least, ok := tag.Lookup("min"); ok && number < mustInt(least) {
		s.problem(path, fmt.Sprintf("must be at least %s, not %s", least, text), "")
		return
	}
	if most, ok := tag.Lookup("max"); ok && number > mustInt(most) {
		s.problem(path, fmt.Sprintf("must be at most %s, not %s", most, text), "")
		return
	}
	v.SetInt(int64(number))
}

func (s *source) decodeDuration(n *node, path string, target *time.Duration, tag reflect.StructTag) {
	text, ok := s.scalar(n, path, "a time")
	if !ok {
		return
	}
	duration, err := parseDuration(text, tag.Get("unit") == "s")
	if err != nil {
		s.problem(path, err.Error(), durationHint(text, tag.Get("unit") == "s"))
		return
	}
	if least, ok := tag.Lookup("min"); ok && duration < mustDuration(least) {
		s.problem(path, fmt.Sprintf("must be at least %s, not %s", least, text), "")
		return
	}
	if most, ok := tag.Lookup("max"); ok && duration > mustDuration(most) {
		s.problem(path, fmt.Sprintf("must be at most %s, not %s", most, text), "")
		return
	}
	*target = duration
}

func (s *source) decodeSize(n *node, path string, target *Size, tag reflect.StructTag) {
	text, ok := s.scalar(n, path, "a size")
	if !ok {
		return
	}
	size, err := parseSize(text)
	if err != nil {
		s.problem(path, err.Error(), "write a size such as 1MiB, 64KiB or 10MB")
		return
	}
	if least, ok := tag.Lookup("min"); ok && size < mustSize(least) {
		s.problem(path, fmt.Sprintf("must be at least %s, not %s", least, text), "")
		return
	}
	if most, ok := tag.Lookup("max"); ok && size > mustSize(most) {
		s.problem(path, fmt.Sprintf("must be at most %s, not %s", most, text), "")
		return
	}
	*target = size
}

func (s *source) decodeList(n *node, path string, v reflect.Value, tag reflect.StructTag) {
	if n.kind != listNode {
		hint := ""
		if n.kind == scalarNode && v.Type().Elem().Kind() == reflect.String {
			hint = "write it in [ ]"
		}
		s.problem(path, fmt.Sprintf("must be a list, not %s", n.kind), hint)
		delete(s.places, path) // nothing was set
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		element := reflect.New(v.Type().Elem()).Elem()
		applyDefaults(element)
		if item.kind == nullNode {
			s.report(item.place, at, "is empty", `write "" for an empty text, or remove it`, false)
		} else {
			s.decode(item, at, element, tag)
		}
		list = reflect.Append(list, element)
	}
	v.Set(list)
}

func (s *source) decodeMap(n *node, path string, v reflect.Value, tag reflect.StructTag) {
	if n.kind != mapNode {
		s.problem(path, fmt.Sprintf("must be a mapping (key: value), not %s", n.kind), "")
		return
	}
	text := v.Type().Elem().Kind() == reflect.String
	m := reflect.MakeMapWithSize(v.Type(), len(n.entries))
	s.eachEntry(n, path, func(e entry, at string) {
		if e.value.kind == nullNode && text {
			s.report(e.place, at, "has no value", `write "" for an empty one, or "${NAME}" to pass a variable on`, false)
			return
		}
		element := reflect.New(v.Type().Elem()).Elem()
		applyDefaults(element)
		s.decode(e.value, at, element, tag)
		m.SetMapIndex(reflect.ValueOf(e.key), element)
	})
	v.Set(m)
}

// eachEntry calls do for the entries of a mapping and reports repeated keys.
func (s *source) eachEntry(n *node, path string, do func(e entry, at string)) {
	seen := make(map[string]place, len(n.entries))
	for _, e := range n.entries {
		at := join(path, e.key)
		if first, repeated := seen[e.key]; repeated {
			s.report(e.place, at, "the key stands here a second time", fmt.Sprintf("first in line %d", first.line), false)
			continue
		}
		seen[e.key] = e.place
		s.keys[at] = e.place
		do(e, at)
	}
}

// unknownKey is the message about a key that does not exist.
const unknownKey = "unknown key"

func (s *source) decodeStruct(n *node, path string, v reflect.Value) {
	if n.kind != mapNode {
		s.problem(path, fmt.Sprintf("must be a mapping (key: value), not %s", n.kind), "")
		delete(s.places, path) // nothing was set
		return
	}
	fields := s.structs.fieldsOf(v.Type())
	spelled := map[string]entry{} // by main key: the entry that set it
	s.eachEntry(n, path, func(e entry, at string) {
		f, known := findField(fields, e.key)
		if !known {
			s.report(e.place, at, unknownKey, s.unknownHint(v.Type(), fields, e.key), false)
			return
		}
		if first, twice := spelled[f.key]; twice {
			s.report(e.place, at, fmt.Sprintf("is the same setting as %q in line %d", first.key, first.place.line), "keep one of the two", false)
			return
		}
		spelled[f.key] = e
		main := join(path, f.key)
		s.keys[main] = e.place
		target := v.FieldByIndex(f.index)
		before := target.Interface()
		s.decode(e.value, main, target, f.tag)
		if why := f.tag.Get("later"); why != "" && !reflect.DeepEqual(before, target.Interface()) {
			s.report(e.place, main, "has no effect in this version: "+why, "", true)
		}
	})
}

// decodeCommand reads a command: a list of words, or one text.
func (s *source) decodeCommand(n *node, path string, target *commandLine) {
	if n.kind == scalarNode {
		*target = commandLine{words: []string{n.text}, text: true}
		return
	}
	var words []string
	s.decodeList(n, path, reflect.ValueOf(&words).Elem(), "")
	*target = commandLine{words: words}
}
