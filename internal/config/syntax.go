package config

import (
	"errors"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

// syntaxProblem says what the YAML library found, and why it probably happened.
func syntaxProblem(text []byte, err error) *Problem {
	p := &Problem{Message: err.Error()}
	var located yaml.Error
	if !errors.As(err, &located) {
		return p
	}
	p.Message = "cannot be read as YAML: " + plainWords(located.GetMessage())
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		p.Line, p.Column = tk.Position.Line, tk.Position.Column
	}
	lines := strings.Split(string(text), "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return p
	}
	line := lines[p.Line-1]
	p.Hint = lineHint(line)
	if p.Hint == "" && quotedBackslash.MatchString(line) {
		p.Hint = backslashHint
	}
	if p.Hint == "" && tightColon.MatchString(line) {
		p.Hint = "write a blank after the colon"
	}
	if p.Hint == "" && strings.Count(line, ": ") > 1 && !strings.ContainsAny(line, "{[") {
		p.Hint = `put a value that holds ": " in quotes`
	}
	return p
}

// tightColon finds "key:value".
var tightColon = regexp.MustCompile(`^[ -]*[A-Za-z_]+:[^ /]`)

// quotedBackslash finds a backslash in double quotes that is no common escape.
var quotedBackslash = regexp.MustCompile(`"[^"]*\\[^"\\ntr]`)

const backslashHint = `in " " a backslash is special: write '…' with single quotes, or \\ for each`

var (
	escapes     = regexp.MustCompile(`(?s)\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^xuU])|\\`)
	driveLetter = regexp.MustCompile(`^"[A-Za-z]:\\[^\\]`)
)

// wrongBackslash says what is wrong with the backslashes of a text in double
// quotes, which the YAML library does not see: people write paths of Windows
// there, of which some are made something else without a word.
func wrongBackslash(tk *token.Token) string {
	if tk == nil || tk.Type != token.DoubleQuoteType {
		return ""
	}
	raw := strings.TrimLeft(tk.Origin, " \t\r\n")
	if driveLetter.MatchString(raw) {
		return "a path of Windows stands in double quotes, where its backslashes are lost"
	}
	for _, escape := range escapes.FindAllString(raw, -1) {
		if escape == `\` {
			return "a backslash in double quotes begins a character that is none"
		}
	}
	return ""
}

var reservedCharacter = regexp.MustCompile(`^('.+') is a reserved character`)

// plainWords says in words for people what the YAML library says in its own.
func plainWords(message string) string {
	for _, m := range []struct{ theirs, ours string }{
		{"',' or '}' must be specified", "a comma or } is missing here"},
		{"',' or ']' must be specified", "a comma or ] is missing here"},
		{"flow mapping end token '}'", "this { is never closed"},
		{"sequence end token ']' not found", "this [ is never closed"},
		{"end character of double-quoted", `this " is never closed`},
		{"end character of single-quoted", "this ' is never closed"},
		{"unexpected scalar value type", "a value is missing before this"},
		{"mapping value is not allowed in this context", "a key: value stands inside another value"},
		{"unexpected key name", "this is neither a key: value nor a text"},
		{"non-map value is specified", "this is no key: value, and stands among such"},
		{"map key-value is pre-defined", "this is no key: value, and stands among such"},
		{"value is not allowed in this context", "this does not fit here; look at how far it is indented"},
		{"unknown escape character", "this backslash means nothing"},
		{"tab character", "a tab stands where only blanks may"},
		{"character '\t'", "a tab stands where only blanks may"},
	} {
		if strings.Contains(message, m.theirs) {
			return m.ours
		}
	}
	if m := reservedCharacter.FindStringSubmatch(message); m != nil {
		return "a text that begins with " + m[1] + " needs quotes"
	}
	return strings.ReplaceAll(message, "\t", `\t`)
}

// lineHint names what people type by mistake and do not see.
func lineHint(line string) string {
	switch {
	case strings.ContainsAny(line, "“”„‟‘’‚"):
		return `the line has curly quotes; use " or '`
	case strings.Contains(line, "："):
		return "the line has a full-width colon ：; use : and a blank"
	case strings.ContainsAny(line, "，、"):
		return "the line has a full-width comma; use ,"
	case strings.Contains(line, "＝"):
		return "the line has a full-width equals sign; use ="
	case strings.Contains(line, "\u3000"), strings.Contains(line, "\u00a0"):
		return "the line has a full-width or unbreakable blank; use ordinary blanks"
	case strings.Contains(leadingBlank(line), "\t"):
		return "the line begins with a tab; indent with blanks"
	case strings.Contains(line, "${") && strings.Contains(line, "{"):
		return `inside { } and [ ] put a value with ${…} in quotes: {KEY: "${NAME}"}`
	}
	return ""
}

func leadingBlank(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
