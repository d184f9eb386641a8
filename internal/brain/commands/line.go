package commands

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Line is a message that is written like a command.
type Line struct {
	// Name is the first word without its slash, in plain letters.
	Name string
	// Rest is what follows, without the blanks and commas around it.
	Rest string
}

// ParseLine reads a message as a command: a slash, a name that begins with a
// letter, then nothing, a blank, a comma or a colon. A slash alone asks what
// there is, as /help does. Anything else is no command: a path, a fraction, two
// slashes.
func ParseLine(text string) (Line, bool) {
	text = strings.TrimFunc(text, blank)
	r, n := utf8.DecodeRuneInString(text)
	if r != '/' && r != '／' {
		return Line{}, false
	}
	if text = text[n:]; text == "" {
		return Line{Name: Help}, true
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !inName(plain(r)) })
	if end < 0 {
		end = len(text)
	}
	name := plainText(text[:end])
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(first) && first != '_' {
		return Line{}, false
	}
	rest := text[end:]
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !blank(next) && !strings.ContainsRune("，、：,:", next) {
		return Line{}, false
	}
	rest = strings.TrimFunc(strings.TrimLeftFunc(rest, func(r rune) bool {
		return blank(r) || strings.ContainsRune("，、：,:", r)
	}), blank)
	return Line{name, rest}, true
}

// unglue takes a name that runs into Chinese text apart, as in "/weather上海".
func (l Line) unglue() (Line, bool) {
	at := strings.IndexFunc(l.Name, func(r rune) bool { return r >= utf8.RuneSelf })
	if at <= 0 {
		return Line{}, false
	}
	return Line{l.Name[:at], strings.TrimSpace(l.Name[at:] + " " + l.Rest)}, true
}

// blank tells white space and what is written without being seen.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B' }

func inName(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// plain maps a full-width character to the plain one.
func plain(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

func plainText(s string) string { return strings.Map(plain, s) }

// fold returns a name as it is compared: in small letters, with "_" for "-".
func fold(s string) string {
	return strings.ReplaceAll(strings.ToLower(plainText(s)), "-", "_")
}
