package redact

import (
	"bytes"
	"encoding/json"
)

// isJSON tells whether b is one JSON object or array.
func isJSON(b []byte) bool {
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed)
}

// replaceJSON masks the spans inside the strings of the valid JSON text b, turns
// each number that meets a span into the string "•••", and leaves punctuation
// alone.
func replaceJSON(b []byte, spans []span) []byte {
	out := make([]byte, 0, len(b)+len(Mask))
	for i := 0; i < len(b); {
		for len(spans) > 0 && spans[0].end <= i {
			spans = spans[1:]
		}
		start := i
		switch c := b[i]; {
		case c == '"':
			i = stringEnd(b, i)
			out = append(out, '"')
			out = appendMasked(out, b, span{start + 1, i - 1}, spans)
			out = append(out, '"')
		case c == '-' || '0' <= c && c <= '9':
			for i < len(b) && bytes.IndexByte([]byte("+-.eE0123456789"), b[i]) >= 0 {
				i++
			}
			if len(within(spans, span{start, i})) > 0 {
				out = append(out, `"`+Mask+`"`...)
			} else {
				out = append(out, b[start:i]...)
			}
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// stringEnd returns the index after the closing quote of the JSON string at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// appendMasked appends the part of b that text spans, with the spans in it masked.
func appendMasked(out, b []byte, text span, spans []span) []byte {
	from := text.start
	for _, s := range within(spans, text) {
		out = append(out, b[from:max(s.start, from)]...)
		out = append(out, Mask...)
		from = min(s.end, text.end)
	}
	return append(out, b[from:text.end]...)
}

// within returns the first spans that meet text. All spans end after the start
// of text, or one byte before it.
func within(spans []span, text span) []span {
	for len(spans) > 0 && spans[0].end <= text.start {
		spans = spans[1:]
	}
	n := 0
	for n < len(spans) && spans[n].start < text.end {
		n++
	}
	return spans[:n]
}

// widen returns s grown so that it neither begins nor ends inside a JSON escape:
// the secret "nabcdef" is found in `\nabcdef` too, and masking it alone would
// leave a backslash that spoils what follows.
func widen(b []byte, s span) span {
	if begin, _, ok := escapeAt(b, s.start); ok {
		s.start = begin
	}
	if _, end, ok := escapeAt(b, s.end); ok {
		s.end = end
	}
	return s
}

// escapeAt returns the range of the backslash escape that position i cuts in two.
func escapeAt(b []byte, i int) (begin, end int, ok bool) {
	for begin = i - 1; begin >= 0 && begin >= i-5; begin-- {
		if b[begin] != '\\' || begin+1 >= len(b) {
			continue
		}
		run := 0 // backslashes in a row up to this one; an even number escape each other
		for j := begin; j >= 0 && b[j] == '\\'; j-- {
			run++
		}
		if run%2 == 0 {
			continue
		}
		end = begin + 2
		if b[begin+1] == 'u' {
			end = min(begin+6, len(b))
		}
		if i < end {
			return begin, end, true
		}
	}
	return 0, 0, false
}
