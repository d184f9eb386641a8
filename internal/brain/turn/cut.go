package turn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cut returns text within most bytes: its head and its tail, with a mark between
// them that says how much there was and where all of it is. It cuts between
// characters.
func cut(text string, most, size int, kept string) string {
	if len(text) <= most {
		return text
	}
	mark := fmt.Sprintf("\n[… cut: this is the beginning and the end of %d bytes", size)
	if kept != "" {
		mark += "; all of it is in the file " + kept
	}
	mark += " …]\n"
	room := max(most-len(mark), 0)
	head := room * 2 / 3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	tail := len(text) - (room - head)
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + mark + text[tail:]
}

// escape is one \u escape of JSON text, or a backslash that takes the meaning
// from what follows it.
var escape = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

// sound returns JSON text with lone surrogate escapes written as U+FFFD, and
// bytes that are no UTF-8 too.
func sound(raw []byte) string {
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	at, high := 0, -1 // high: where an unanswered high surrogate begins in text
	settle := func() {
		if high >= 0 {
			b.WriteString(text[at:high] + `\ufffd`)
			at, high = high+6, -1
		}
	}
	for _, m := range escape.FindAllStringIndex(text, -1) {
		code, err := strconv.ParseUint(text[m[0]+2:m[1]], 16, 32)
		surrogate := m[1]-m[0] == 6 && err == nil && code >= 0xD800 && code < 0xE000
		if high >= 0 && surrogate && code >= 0xDC00 && m[0] == high+6 {
			high = -1 // a pair
			continue
		}
		settle()
		switch {
		case surrogate && code < 0xDC00:
			high = m[0]
		case surrogate:
			high = m[0]
			settle()
		}
	}
	settle()
	return b.String() + text[at:]
}
