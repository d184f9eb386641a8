package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// decodeJSON returns the node as JSON text: order and number text are kept.
func (s *source) decodeJSON(n *node, path string) json.RawMessage {
	return s.appendJSON(nil, n, path)
}

func (s *source) appendJSON(out []byte, n *node, path string) []byte {
	switch n.kind {
	case nullNode:
		return append(out, "null"...)
	case invalidNode:
		s.report(n.place, path, n.text, n.hint, false)
		return append(out, "null"...)
	case listNode:
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = s.appendJSON(out, item, fmt.Sprintf("%s[%d]", path, i))
		}
		return append(out, ']')
	case mapNode:
		out = append(out, '{')
		first := true
		s.eachEntry(n, path, func(e entry, at string) {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = appendJSONString(out, e.key)
			out = append(out, ':')
			out = s.appendJSON(out, e.value, at)
		})
		return append(out, '}')
	}
	if n.plain {
		switch {
		case isTrue(n.text):
			return append(out, "true"...)
		case isFalse(n.text):
			return append(out, "false"...)
		}
		if number, ok := jsonNumber(n.text); ok {
			return append(out, number...)
		}
	}
	return appendJSONString(out, n.text)
}

// appendJSONString appends s as a JSON string without escaping HTML.
func appendJSONString(out []byte, s string) []byte {
	var buf strings.Builder
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return append(out, strings.TrimSuffix(buf.String(), "\n")...)
}

// jsonNumber returns the number that a plain YAML scalar is, as JSON writes it:
// digits stay as they are, a leading plus or zero goes, 0x and 0o become decimal.
// Anything else, also .inf and 1_000, is no number.
func jsonNumber(text string) (string, bool) {
	if json.Valid([]byte(text)) && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') {
		return text, true
	}
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 || unsigned == "" {
		return "", false
	}
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	if base := map[string]int{"0x": 16, "0o": 8}[unsigned[:min(2, len(unsigned))]]; base != 0 {
		value, err := strconv.ParseUint(unsigned[2:], base, 64)
		if err != nil || strings.Contains(unsigned, "_") {
			return "", false
		}
		return sign + strconv.FormatUint(value, 10), true
	}
	digits := strings.TrimLeft(unsigned, "0")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		digits = "0" + digits
	}
	if dot := strings.TrimSuffix(digits, "."); dot != digits {
		digits = dot + ".0"
	}
	if number := sign + digits; json.Valid([]byte(number)) && '0' <= unsigned[0] && unsigned[0] <= '9' {
		return number, true
	}
	return "", false
}
