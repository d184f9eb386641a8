package mcp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// unquote decodes a JSON string that a scanner has read.
func unquote(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' {
			var s string
			// It cannot fail on a scanned string; were it to, "" names nothing.
			_ = json.Unmarshal(raw, &s)
			return s
		}
	}
	return string(inner)
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Only what JSON demands is escaped;
// bytes that are not UTF-8 become U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// repair returns a copy of b in which each byte that is no part of a UTF-8
// character is U+FFFD, the way encoding/json reads it.
func repair(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			out = append(out, "\uFFFD"...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out
}

// integer reads an id or a token as the integer we sent. exact is false for
// the spellings that other languages make of it: 7.0, 7e0 and "7".
func integer(raw []byte) (n int64, exact, ok bool) {
	exact = true
	if len(raw) > 2 && raw[0] == '"' {
		raw, exact = raw[1:len(raw)-1], false
	}
	if len(raw) == 0 || len(raw) > 32 {
		return 0, false, false
	}
	for i, c := range raw {
		if c < '0' || c > '9' || i == 18 {
			return oddInteger(raw, exact)
		}
		n = n*10 + int64(c-'0')
	}
	return n, exact, true
}

func oddInteger(raw []byte, number bool) (int64, bool, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, number, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if !number || err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false, false
	}
	return int64(f), false, true
}

// wellFormed checks JSON of a caller before it goes on the wire and trims the
// white space around it. Empty is fine and stays empty.
func wellFormed(b []byte) ([]byte, error) {
	s := scanner{b: b}
	if s.peek() == 0 && s.i == len(b) {
		return nil, nil
	}
	from := s.i
	if !s.value() {
		return nil, s.err()
	}
	to := s.i
	if s.peek() != 0 || s.i < len(b) {
		s.fail("more after the end")
		return nil, s.err()
	}
	if s.bad > 0 {
		return repair(b[from:to]), nil
	}
	return b[from:to], nil
}

// appendLine appends JSON so that it stays on one line: a line feed in it can
// only be white space, since strings hold none.
func appendLine(b, json []byte) []byte {
	from := len(b)
	b = append(b, json...)
	for added := b[from:]; ; {
		k := bytes.IndexByte(added, '\n')
		if k < 0 {
			return b
		}
		added[k] = ' '
		added = added[k+1:]
	}
}

// members calls visit for every member of the object in raw, which a scanner
// has read before; for none if it is another kind of value.
func members(raw []byte, visit func(name, value []byte)) {
	s := scanner{b: raw}
	if s.peek() != '{' {
		return
	}
	s.i++
	for first := true; ; first = false {
		name, more, ok := s.member(first)
		from := s.i
		if !ok || !more || !s.value() {
			return
		}
		visit(name, raw[from:s.i])
	}
}

// elements is members for an array.
func elements(raw []byte, visit func(value []byte)) {
	s := scanner{b: raw}
	if s.peek() != '[' {
		return
	}
	s.i++
	for first := true; ; first = false {
		more, ok := s.element(first)
		from := s.i
		if !ok || !more || !s.value() {
			return
		}
		visit(raw[from:s.i])
	}
}

// takesToken tells whether a progress token can be put into params.
func takesToken(params []byte) bool {
	ok := len(params) > 0 && params[0] == '{'
	members(params, func(name, _ []byte) {
		ok = ok && string(name) != "_meta"
	})
	return ok
}
