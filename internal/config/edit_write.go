package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineWidth is how long a line may become before a list is written in lines.
const lineWidth = 100

// blockLines writes items in block style, of which each level is indented by step.
func blockLines(items []Item, indent, step int) []string {
	var lines []string
	blanks := strings.Repeat(" ", indent)
	for _, item := range items {
		key := blanks + yamlText(item.Key, true) + ":"
		switch value := item.Value.(type) {
		case []Item:
			if len(value) == 0 {
				lines = append(lines, key+" {}")
				continue
			}
			lines = append(append(lines, key), blockLines(value, indent+step, step)...)
		case []string:
			if line := key + " " + flowText(value, false); utf8.RuneCountInString(line) <= lineWidth {
				lines = append(lines, line)
				continue
			}
			lines = append(lines, key)
			for _, text := range value {
				lines = append(lines, blanks+strings.Repeat(" ", step)+"- "+yamlText(text, false))
			}
		case string:
			lines = append(lines, key+" "+yamlText(value, false))
		default:
			lines = append(lines, key+" "+flowText(value, false))
		}
	}
	return lines
}

// flowItems writes items as they stand between { and }.
func flowItems(items []Item, asJSON bool) string {
	parts := make([]string, len(items))
	for i, item := range items {
		key := yamlText(item.Key, true)
		if asJSON {
			key = jsonText(item.Key)
		}
		parts[i] = key + ": " + flowText(item.Value, asJSON)
	}
	return strings.Join(parts, ", ")
}

// flowText writes a value on one line.
func flowText(value any, asJSON bool) string {
	switch value := value.(type) {
	case string:
		if asJSON {
			return jsonText(value)
		}
		return yamlText(value, true)
	case bool:
		return strconv.FormatBool(value)
	case int:
		return strconv.Itoa(value)
	case []string:
		parts := make([]string, len(value))
		for i, text := range value {
			parts[i] = flowText(text, asJSON)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []Item:
		return "{" + flowItems(value, asJSON) + "}"
	}
	panic(fmt.Sprintf("config: an edit cannot write a %T", value))
}

func jsonText(text string) string { return string(appendJSONString(nil, text)) }

// yamlText writes a text, without quotes if nobody can take it for anything else.
func yamlText(text string, inFlow bool) string {
	if isPlain(text, inFlow) {
		return text
	}
	return jsonText(text)
}

// isPlain tells whether a text needs no quotes. It rather says no too often.
func isPlain(text string, inFlow bool) bool {
	if text == "" || text == "~" || text == "-" || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		return false
	}
	for i, c := range text {
		switch {
		case unicode.IsLetter(c), c == '_', c == '/':
		case c == '.' || c == '~' || c == '-' || '0' <= c && c <= '9':
		case i > 0 && (c == '+' || c == '=' || c == '@'):
		case i > 0 && c == ':' && !inFlow && i+1 < len(text) && text[i+1] != ' ':
		default:
			return false
		}
	}
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", "-.inf", ".nan":
		return false
	}
	// What begins like a number may be one, or a date.
	c := strings.TrimLeft(text, "-.")
	return c != "" && (c[0] < '0' || c[0] > '9')
}
