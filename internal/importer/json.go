package importer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what is read. The files of some clients hold much beside servers.
const (
	maxBytes = 64 << 20
	maxDepth = 200
)

// A SyntaxError says where and why a text is not the JSON that it should be.
type SyntaxError struct {
	Line, Column int // from 1, columns in characters
	Message      string
	Hint         string // what to do; sometimes empty
}

// Error returns the message with the place and the hint.
func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// A place is a position in the text, counted from 1.
type place struct{ line, column int }

type kind int

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	objectKind
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// A value is one value of a JSON text.
type value struct {
	kind    kind
	text    string // of a string: what it means; of a number or truth value: as it stands
	items   []*value
	members []member
	at      place
}

// A member is one "name": value of an object. Names may repeat.
type member struct {
	name  string
	at    place
	value *value
}

// get returns the value of a member, nil if there is none. Of several the last one
// counts, as it does for those who wrote the file.
func (v *value) get(name string) *value {
	if v == nil || v.kind != objectKind {
		return nil
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// parse reads JSON with comments and trailing commas. The text may also be the
// inside of an object: "mcpServers": {…}. It may stand in a page of Markdown.
func parse(data []byte) (*value, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	v, err := parseText(text)
	if fence := fenced.FindStringSubmatchIndex(text); err != nil && fence != nil {
		// Everything keeps its place.
		return parseText(blank.ReplaceAllString(text[:fence[2]], " ") + text[fence[2]:fence[3]])
	}
	return v, err
}

// fenced finds the first block of code of a Markdown page, blank what is no line
// end.
var (
	fenced = regexp.MustCompile("(?ms)^[ \t]*```[A-Za-z0-9]*[ \t]*\r?\n(.*?)^[ \t]*```")
	blank  = regexp.MustCompile(`[^\r\n]`)
)

func parseText(text string) (*value, error) {
	p := &parser{text: text, line: 1}
	p.skip()
	if p.rest() == "" {
		return nil, p.error("the file is empty", "")
	}
	for _, other := range otherForms {
		if other.form.MatchString(p.rest()) {
			return nil, p.error(other.message, other.hint)
		}
	}
	at := p.place()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.skip()
	if v.kind == stringKind && strings.HasPrefix(p.rest(), ":") {
		*p = parser{text: text, line: 1}
		p.skip()
		if v, err = p.members(at, 0, false); err != nil {
			return nil, err
		}
		p.skip()
	}
	for strings.HasPrefix(p.rest(), ",") {
		p.next()
		p.skip()
	}
	if p.rest() != "" {
		return nil, p.error("text follows where the JSON has ended", p.strange())
	}
	return v, nil
}

// otherForms are those of texts that are no JSON, by their beginning.
var otherForms = []struct {
	form          *regexp.Regexp
	message, hint string
}{
	{regexp.MustCompile(`^<`), "this is a web page or XML, not JSON", "copy the JSON that the page shows"},
	{regexp.MustCompile(`^\[{1,2}[A-Za-z_][\w."-]*\]{1,2}[ \t]*(\r?\n|$)|^[A-Za-z_][\w.-]*[ \t]*=`), "this looks like TOML, not JSON", jsonHint},
	{regexp.MustCompile(`^(---|[A-Za-z_][\w.-]*:([ \t\r\n]|$))`), "this looks like YAML, not JSON", jsonHint},
	{regexp.MustCompile(`^(\$ )?(npx|uvx|uv|node|python3?|docker|bunx|deno|claude|code|cursor)[ \t]`), "this is a command, not JSON", jsonHint},
}

const jsonHint = `write it as {"NAME": {"command": …, "args": […]}} or {"NAME": {"url": …}}`

// decode returns the text of a file without byte order mark.
func decode(data []byte) (string, error) {
	if len(data) > maxBytes {
		return "", &SyntaxError{Line: 1, Column: 1, Message: "the file is larger than 64 MiB"}
	}
	for bom, order := range map[string]binary.ByteOrder{"\xFF\xFE": binary.LittleEndian, "\xFE\xFF": binary.BigEndian} {
		if rest, ok := bytes.CutPrefix(data, []byte(bom)); ok {
			units := make([]uint16, len(rest)/2)
			for i := range units {
				units[i] = order.Uint16(rest[2*i:])
			}
			return string(utf16.Decode(units)), nil
		}
	}
	text := string(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
	if i := invalidUTF8(text); i >= 0 {
		p := &parser{text: text, line: 1}
		p.skipTo(i)
		return "", p.error("the file is not UTF-8", "save it as UTF-8; it may be GBK now")
	}
	return text, nil
}

func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// A parser goes through a text once.
type parser struct {
	text   string
	pos    int
	line   int // of pos, from 1
	column int // of pos, from 0
}

func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) place() place {
	return place{p.line, p.column + 1}
}

func (p *parser) error(message, hint string) *SyntaxError {
	at := p.place()
	return &SyntaxError{Line: at.line, Column: at.column, Message: message, Hint: hint}
}

func (p *parser) next() { p.skipTo(p.pos + 1) }

// skipTo goes on to a later position.
func (p *parser) skipTo(pos int) {
	for ; p.pos < pos; p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '\n':
			p.line, p.column = p.line+1, 0
		case utf8.RuneStart(c):
			p.column++
		}
	}
}

// skip goes on behind blanks and comments.
func (p *parser) skip() {
	for {
		rest := p.rest()
		end := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		if strings.HasPrefix(rest, "\u00a0") || strings.HasPrefix(rest, "\ufeff") { // from web pages, and joined files
			_, end = utf8.DecodeRuneInString(rest)
		}
		switch {
		case end > 0:
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"):
			if end = strings.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest[2:], "*/") + 4; end < 4 {
				return // never closed; the next step stumbles over it
			}
		default:
			return
		}
		p.skipTo(p.pos + end)
	}
}

// strange explains a character that people type or copy by mistake.
func (p *parser) strange() string {
	r, _ := utf8.DecodeRuneInString(p.rest())
	switch {
	case strings.ContainsRune("“”„‟«»‘’‚‛", r):
		return `curly quotes come from web pages and word processors; replace every “ and ” by "`
	case r == '\'' || r == '`':
		return `put names and texts in double quotes "`
	case strings.ContainsRune("：，｛｝［］、", r):
		return "it is a full-width character; type it in English mode"
	case !unicode.IsGraphic(r):
		return "it is a character that nobody sees; delete it"
	case strings.HasPrefix(p.rest(), "/*"):
		return "this comment is never closed"
	case strings.HasPrefix(p.rest(), "True"), strings.HasPrefix(p.rest(), "False"), strings.HasPrefix(p.rest(), "None"):
		return "JSON writes true, false and null"
	}
	return ""
}

// unexpected is the error about what stands where something else should.
func (p *parser) unexpected(want string) error {
	rest := p.rest()
	if rest == "" {
		return p.error("the text ends where "+want+" should stand", "is all of it here?")
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if strings.ContainsRune("“”„‟«»‘’‚‛", r) {
		return p.error(fmt.Sprintf("a curly quote %c stands where %s should", r, want), p.strange())
	}
	return p.error(fmt.Sprintf("%q stands where %s should", string(r), want), p.strange())
}

func (p *parser) value(depth int) (*value, error) {
	if depth > maxDepth {
		return nil, p.error("the values are nested too deeply", "")
	}
	at := p.place()
	rest := p.rest()
	switch {
	case rest == "":
	case rest[0] == '{':
		p.next()
		return p.members(at, depth, true)
	case rest[0] == '[':
		p.next()
		return p.list(at, depth)
	case rest[0] == '"':
		text, err := p.string()
		return &value{kind: stringKind, text: text, at: at}, err
	default:
		word := rest[:len(rest)-len(strings.TrimLeft(rest, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))]
		v := &value{text: word, at: at}
		switch word {
		case "true", "false":
			v.kind = boolKind
		case "null":
		default:
			if !numberForm.MatchString(word) {
				return nil, p.unexpected("a value")
			}
			v.kind = numberKind
		}
		p.skipTo(p.pos + len(word))
		return v, nil
	}
	return nil, p.unexpected("a value")
}

var numberForm = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// members reads the inside of an object, up to its closing brace if it has one.
func (p *parser) members(at place, depth int, closed bool) (*value, error) {
	v := &value{kind: objectKind, at: at}
	for {
		p.skip()
		rest := p.rest()
		switch {
		case closed && strings.HasPrefix(rest, "}"):
			p.next()
			return v, nil
		case !closed && rest == "":
			return v, nil
		case rest == "":
			return nil, &SyntaxError{Line: at.line, Column: at.column, Message: "this { is never closed", Hint: "is all of the text here?"}
		case rest[0] != '"':
			return nil, p.unexpected(`a name in "double quotes" or }`)
		}
		m := member{at: p.place()}
		var err error
		if m.name, err = p.string(); err != nil {
			return nil, err
		}
		p.skip()
		if !strings.HasPrefix(p.rest(), ":") {
			return nil, p.unexpected("the : behind a name")
		}
		p.next()
		p.skip()
		if m.value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		v.members = append(v.members, m)
		if err := p.comma("}"); err != nil {
			return nil, err
		}
	}
}

// list reads the inside of a list.
func (p *parser) list(at place, depth int) (*value, error) {
	v := &value{kind: listKind, at: at}
	for {
		p.skip()
		switch rest := p.rest(); {
		case strings.HasPrefix(rest, "]"):
			p.next()
			return v, nil
		case rest == "":
			return nil, &SyntaxError{Line: at.line, Column: at.column, Message: "this [ is never closed", Hint: "is all of the text here?"}
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if err := p.comma("]"); err != nil {
			return nil, err
		}
	}
}

// comma reads the comma behind an element, unless the end follows.
func (p *parser) comma(end string) error {
	p.skip()
	rest := p.rest()
	switch {
	case strings.HasPrefix(rest, ","):
		p.next()
	case rest == "", strings.HasPrefix(rest, end):
	case rest[0] == '"', rest[0] == '{', rest[0] == '[':
		return p.error("a comma is missing before this", "")
	default:
		return p.unexpected("a comma or " + end)
	}
	return nil
}

// string reads a string. Line ends in it, which JSON forbids, are borne.
func (p *parser) string() (string, error) {
	at := p.place()
	open := &SyntaxError{Line: at.line, Column: at.column, Message: `this " is never closed`}
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); {
		switch c := p.text[i]; c {
		case '"':
			p.skipTo(i + 1)
			return b.String(), nil
		case '\n':
			return "", open
		case '\\':
			r, size := unescape(p.text[i:])
			if size == 0 {
				p.skipTo(i)
				return "", p.error("this backslash means nothing", `write \\ for a backslash, as in "C:\\tools"`)
			}
			b.WriteRune(r)
			i += size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", open
}

// unescape returns what the escape at the beginning of text means, and its length;
// 0 if it is none.
func unescape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	unit := func(text string) (rune, bool) {
		if len(text) < 6 || text[:2] != `\u` {
			return 0, false
		}
		n, err := strconv.ParseUint(text[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(text)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unit(text[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}
