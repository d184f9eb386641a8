package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/names"
)

// nearest returns the word that text was probably meant to be, or "".
func nearest(text string, among []string) string {
	best, bestDistance := "", 0
	folded := fold(text)
	for _, word := range among {
		limit := 1 + utf8.RuneCountInString(word)/4
		d := names.Distance([]rune(folded), []rune(fold(word)), limit)
		if d <= limit && (best == "" || d < bestDistance) {
			best, bestDistance = word, d
		}
	}
	if best != "" {
		return best
	}
	for _, word := range among {
		// "timeout" for "call_timeout_seconds", if nothing else has it.
		if w := fold(word); len(folded) >= 4 && (strings.HasPrefix(w, folded) || strings.HasPrefix(folded, w) && len(w) >= 4) {
			return word
		}
	}
	return ""
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// fold makes words equal that differ in letter case and separators only.
func fold(word string) string { return separators.Replace(strings.ToLower(word)) }

// choices is the hint for a word that is not among the allowed ones.
func choices(text string, allowed []string) string {
	list := "one of " + strings.Join(allowed, ", ")
	if other := synonyms[fold(text)]; other != "" && slices.Contains(allowed, other) {
		return fmt.Sprintf("did you mean %q? %s", other, list)
	}
	if near := nearest(text, allowed); near != "" {
		return fmt.Sprintf("did you mean %q? %s", near, list)
	}
	return list
}

// synonyms are words that people write, and what they are called here.
var synonyms = map[string]string{
	"cn": "zh", "zhcn": "zh", "zhtw": "zh", "chinese": "zh", "中文": "zh", "english": "en", "enus": "en", "英文": "en",
	"extreme": "critical", "danger": "critical", "read": "low", "write": "medium",
	"never": "deny", "no": "deny", "false": "deny", "block": "deny", "refuse": "deny",
	"always": "allow", "yes": "allow", "true": "allow", "approve": "ask", "confirm": "ask",
	"verbose": "debug", "trace": "debug", "warning": "warn", "fatal": "error",
	"ws": "streamable-http", "websocket": "streamable-http", "local": "stdio",
}

// foreign are keys of other programs' files, and what they are called here.
var foreign = map[string]string{
	"mcpServers":       `this is the form of other clients: rename the key to "apps"; command, args, env and url are read alike`,
	"mcp_servers":      `rename the key to "apps"`,
	"servers":          `rename the key to "apps"`,
	"disabled":         `write "enabled: false"`,
	"timeout":          `write "health_timeout_seconds" for the start, "call_timeout_seconds" for calls`,
	"autoApprove":      `set the risk of tools under "permissions.tools", or write rules in aurora.yml`,
	"alwaysAllow":      `set the risk of tools under "permissions.tools", or write rules in aurora.yml`,
	"disabledTools":    `write "permissions: {tools: {NAME: {enabled: false}}}"`,
	"workingDirectory": `write "cwd"`,
	"serverUrl":        `write "url"`,
	"httpUrl":          `write "url"`,
}

// unknownHint says what an unknown key was probably meant to be.
func (s *source) unknownHint(t reflect.Type, fields []field, key string) string {
	if strings.ContainsAny(key, "“”‘’：，\u3000\u00a0") {
		return lineHint(key)
	}
	var known []string
	for _, f := range fields {
		known = append(append(known, f.key), f.aliases...)
	}
	if hint := foreign[key]; hint != "" {
		return hint
	}
	if near := nearest(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if t == reflect.TypeFor[manifestFile]() && hasField(reflect.TypeFor[appEntry](), key) {
		return "only apps/config.yml may set this"
	}
	for _, root := range []reflect.Type{t, reflect.TypeFor[appEntry](), reflect.TypeFor[Settings]()} {
		if path := findPath(root, "", key, 0); path != "" {
			where := ""
			if root != t && root == reflect.TypeFor[Settings]() {
				where = " in aurora.yml"
			}
			return fmt.Sprintf("did you mean %q%s?", path, where)
		}
	}
	if len(fields) > 12 {
		return "docs/configuration.md lists the keys"
	}
	return "known keys: " + strings.Join(mainKeys(fields), ", ")
}

func mainKeys(fields []field) []string {
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	return keys
}

func hasField(t reflect.Type, key string) bool {
	_, ok := findField(fieldsOf(t, nil), key)
	return ok
}

// findPath returns the path of a key somewhere below the struct t.
func findPath(t reflect.Type, path, key string, depth int) string {
	switch t.Kind() {
	case reflect.Pointer:
		return findPath(t.Elem(), path, key, depth)
	case reflect.Map:
		return findPath(t.Elem(), path+".NAME", key, depth)
	case reflect.Slice:
		return findPath(t.Elem(), path+"[]", key, depth)
	case reflect.Struct:
	default:
		return ""
	}
	if depth > 4 {
		return ""
	}
	fields := fieldsOf(t, nil)
	if f, ok := findField(fields, key); ok {
		return join(path, f.key)
	}
	for _, f := range fields {
		if found := findPath(t.FieldByIndex(f.index).Type, join(path, f.key), key, depth+1); found != "" {
			return found
		}
	}
	return ""
}
