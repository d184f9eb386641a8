package redact

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// written returns the ways in which a secret may stand in text: as it is,
// inside a JSON string, inside JSON inside a JSON string, and percent-encoded.
// For a secret of letters, digits, '-', '_' and '.' they are all the same.
func written(secret string) []string {
	forms := []string{secret}
	for _, style := range []int{0, escapeHTML, escapeSlash, escapeNonASCII, escapeNonASCII | upperHex} {
		once := escapeJSON(secret, style)
		forms = append(forms, once, escapeJSON(once, style))
	}
	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")} {
		forms = append(forms, escaped, lowerPercent(escaped))
	}
	distinct := forms[:0]
	for i, form := range forms {
		first := true
		for _, before := range forms[:i] {
			if before == form {
				first = false
				break
			}
		}
		if first {
			distinct = append(distinct, form)
		}
	}
	return distinct
}

// How JSON encoders differ: Go escapes <, > and &, PHP escapes /, Python
// escapes everything outside ASCII.
const (
	escapeHTML = 1 << iota
	escapeSlash
	escapeNonASCII
	upperHex
)

// escapeJSON returns s as it stands between the quotes of a JSON string.
func escapeJSON(s string, style int) string {
	hex := `\u%04x`
	if style&upperHex != 0 {
		hex = `\u%04X`
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < ' ',
			style&escapeHTML != 0 && (r == '<' || r == '>' || r == '&'):
			fmt.Fprintf(&out, hex, r)
		case r == '/' && style&escapeSlash != 0:
			out.WriteString(`\/`)
		case r >= utf8.RuneSelf && size > 1 && style&escapeNonASCII != 0:
			if r > 0xFFFF {
				high, low := utf16.EncodeRune(r)
				fmt.Fprintf(&out, hex+hex, high, low)
			} else {
				fmt.Fprintf(&out, hex, r)
			}
		default:
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}

// lowerPercent writes the hexadecimal digits of percent-encoded bytes in lower case.
func lowerPercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
