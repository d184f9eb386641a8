package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// parseEnv reads the text of a .env file: lines KEY=VALUE, with "export " before
// them if one likes, blank lines and lines that begin with #.
//
// A value in single quotes is taken as it is; in double quotes \n, \r, \t, \\,
// \" and \$ stand for what they do elsewhere. Both may go over several lines.
// Without quotes a value ends at the end of the line, or before " #", and blanks
// around it go. Variables in values are not expanded. A key that stands twice
// has its last value.
func parseEnv(data []byte, src *source) map[string]string {
	values := map[string]string{}
	text, problem := cleanEnv(data)
	if problem != nil {
		src.report(place{problem.Line, problem.Column}, "", problem.Message, problem.Hint, false)
		return values
	}
	p := envParser{rest: text, line: 1}
	lines := map[string]int{}
	for p.rest != "" {
		at := p.line
		key, value, err := p.next()
		switch {
		case err != nil:
			src.report(place{at, 1}, key, err.message, err.hint, false)
			continue
		case key == "":
			continue
		}
		if lines[key] > 0 {
			src.report(place{at, 1}, key, fmt.Sprintf("stands here a second time (first in line %d); the last one counts", lines[key]), "", true)
		}
		if p.bare && variableForm.MatchString(value) {
			src.report(place{at, 1}, key, "${…} in it stays as it is", "variables in this file are not expanded; put the value in ' ' if that is meant", true)
		}
		values[key], lines[key] = value, at
	}
	return values
}

// variableForm is that of what other programs expand.
var variableForm = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:?-[^}]*)?\}`)

func cleanEnv(data []byte) (string, *Problem) {
	if bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF")) {
		return "", &Problem{Line: 1, Column: 1, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
	}
	if len(data) > maxFileBytes {
		return "", &Problem{Message: "the file is larger than 1 MiB"}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(data) {
		at := placeOfInvalid(data)
		return "", &Problem{Line: at.line, Column: at.column, Message: "the file is not UTF-8", Hint: "save it as UTF-8; it may be GBK now"}
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), nil
}

// An envParser goes through the text of a .env file.
type envParser struct {
	rest string
	line int
	bare bool // the last value was not in single quotes
}

// next reads one line, or one value of several lines. The key is empty for a
// line that sets nothing.
func (p *envParser) next() (key, value string, err *fault) {
	line, _, _ := strings.Cut(p.rest, "\n")
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || trimmed[0] == '#' {
		p.skip(len(line) + 1)
		return "", "", nil
	}
	name, _, hasValue := strings.Cut(line, "=")
	key = strings.TrimSpace(name)
	if after, ok := strings.CutPrefix(key, "export "); ok {
		key = strings.TrimSpace(after)
	}
	if !hasValue {
		p.skip(len(line) + 1)
		hint := "begin a comment with #"
		if strings.Contains(line, "＝") {
			hint = lineHint("＝")
		}
		return "", "", &fault{"the line is not KEY=VALUE", hint}
	}
	if !isVariable(key) {
		p.skip(len(line) + 1)
		return "", "", &fault{"the name before = is not a variable name", "a name has letters, digits and _, and does not begin with a digit"}
	}
	p.skip(len(name) + 1)
	blank := len(p.rest) - len(strings.TrimLeft(p.rest, " \t"))
	p.skip(blank)
	p.bare = !strings.HasPrefix(p.rest, "'")
	if p.rest != "" && (p.rest[0] == '"' || p.rest[0] == '\'') {
		value, err = p.quoted(p.rest[0])
		return key, value, err
	}
	value, _, _ = strings.Cut(p.rest, "\n")
	p.skip(len(value) + 1)
	if strings.HasPrefix(value, "#") && blank > 0 {
		value = ""
	}
	for i := 1; i < len(value); i++ {
		if value[i] == '#' && (value[i-1] == ' ' || value[i-1] == '\t') {
			value = value[:i]
		}
	}
	return key, strings.TrimSpace(value), nil
}

// quoted reads a value in quotes, and the rest of its last line.
func (p *envParser) quoted(quote byte) (string, *fault) {
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.skip(i + 1)
			after, _, _ := strings.Cut(p.rest, "\n")
			p.skip(len(after) + 1)
			if after = strings.TrimSpace(after); after != "" && after[0] != '#' {
				return "", &fault{"there is text after the closing quote", "put the whole value in quotes, or none of it"}
			}
			return value.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(p.rest):
			i++
			appendUnescaped(&value, p.rest[i])
		default:
			value.WriteByte(c)
		}
	}
	line, _, _ := strings.Cut(p.rest, "\n")
	p.skip(len(line) + 1)
	return "", &fault{fmt.Sprintf("the quote %c is not closed", quote), ""}
}

// appendUnescaped writes what a backslash and c stand for in double quotes.
func appendUnescaped(value *strings.Builder, c byte) {
	switch c {
	case 'n':
		value.WriteByte('\n')
	case 'r':
		value.WriteByte('\r')
	case 't':
		value.WriteByte('\t')
	case '\\', '"', '$':
		value.WriteByte(c)
	case '\n': // a line goes on in the next
	default:
		value.WriteByte('\\')
		value.WriteByte(c)
	}
}

// skip goes on by n bytes and counts the lines in them.
func (p *envParser) skip(n int) {
	n = min(n, len(p.rest))
	p.line += strings.Count(p.rest[:n], "\n")
	p.rest = p.rest[n:]
}
