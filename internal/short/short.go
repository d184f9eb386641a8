// Package short cuts texts that came from outside, for lines that people read.
// It never cuts a character in two, and what it has cut ends with an ellipsis.
package short

import "unicode/utf8"

// Runes returns s, or its first n characters and an ellipsis if it has more.
func Runes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Bytes returns s, or as many whole characters as fit into n bytes and an
// ellipsis, which is not counted, if it is longer.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
