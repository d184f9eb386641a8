package arguments

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is a part of what a person wrote behind a command.
type word struct {
	text     string // without its quotes
	from, to int    // where it stands, quotes included
	quoted   bool   // some of it stood in quotes
	equals   int    // where in text the first "=" outside quotes stands; -1: nowhere
	value    int    // where in the line what is behind that "=" begins
}

// quotes maps an opening quote to its closing one.
var quotes = map[rune]rune{'"': '"', '\'': '\'', '“': '”', '‘': '’', '「': '」', '『': '』'}

// separates tells what stands between words: blanks of any width, and the commas
// of Chinese text.
func separates(r rune) bool { return unicode.IsSpace(r) || r == '，' || r == '、' }

// wordsOf takes a line apart. A quote counts at the beginning of a word or behind
// its "=", and only if it is closed; in straight double quotes a backslash takes
// the meaning from the next quote or backslash.
func wordsOf(line string) []word {
	var all []word
	for at := 0; at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		if separates(r) {
			at += n
			continue
		}
		w := word{from: at, equals: -1}
		var text strings.Builder
		for at < len(line) {
			r, n := utf8.DecodeRuneInString(line[at:])
			if separates(r) {
				break
			}
			start := at == w.from || w.equals >= 0 && text.Len() == w.equals+1
			if inside, length, ok := quotedAt(line[at:]); ok && start {
				if strings.HasSuffix(text.String(), ":=") {
					inside = line[at : at+length] // JSON keeps its quotes
				}
				text.WriteString(inside)
				w.quoted = true
				at += length
				continue
			}
			if r == '＝' && w.equals < 0 {
				r = '='
			}
			if r == '=' && w.equals < 0 && !w.quoted {
				w.equals, w.value = text.Len(), at+n
			}
			text.WriteRune(r)
			at += n
		}
		w.text, w.to = text.String(), at
		all = append(all, w)
	}
	return all
}

// quotedAt reads a quoted text at the beginning of s and returns what it holds
// and how long it is.
func quotedAt(s string) (inside string, length int, ok bool) {
	open, n := utf8.DecodeRuneInString(s)
	end, known := quotes[open]
	if !known {
		return "", 0, false
	}
	var b strings.Builder
	for at := n; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		if open == '"' && r == '\\' && at+1 < len(s) && (s[at+1] == '"' || s[at+1] == '\\') {
			b.WriteByte(s[at+1])
			at += 2
			continue
		}
		if r == end {
			return b.String(), at + n, true
		}
		b.WriteRune(r)
		at += n
	}
	return "", 0, false
}
