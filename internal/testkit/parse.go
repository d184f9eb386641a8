package testkit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse returns the script in text. The first word of messages about it is file.
func Parse(file, text string) (*Script, error) { return parse(file, "demo", text, 1) }

// parse returns the script whose first line is line first of the file.
func parse(file, name, text string, first int) (*Script, error) {
	p := &parser{script: &Script{
		Name: name, File: file,
		items: map[itemKind][]item{}, framing: framing{end: "\n"}, ids: idsExact,
	}}
	lines, err := p.cut(text, first)
	if err != nil {
		return nil, err
	}
	for len(lines) > 0 {
		if lines, err = p.statement(lines); err != nil {
			return nil, err
		}
	}
	return p.script, nil
}

type parser struct {
	script *Script
	named  bool // the handler at hand has a NAME, so that #N counts by it
	inside bool // there is a message at hand
	before bool // in the block before answers
}

// A line is one line that says something; JSON over several lines is one line.
type line struct {
	at     position
	indent int
	text   string
}

func (p *parser) cut(text string, first int) ([]line, error) {
	var lines []line
	open := false // the JSON of the last line is not closed
	for i, raw := range strings.Split(text, "\n") {
		at := position{p.script.File, first + i}
		raw = strings.TrimRight(raw, " \t\r")
		trimmed := strings.TrimLeft(raw, " ")
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if trimmed[0] == '\t' {
			return nil, at.errorf("indent with blanks, not tabs")
		}
		trimmed = strings.TrimRight(trimmed[:comment(trimmed)], " ")
		if open {
			last := &lines[len(lines)-1]
			last.text += " " + trimmed
			open = unclosed(last.text)
			continue
		}
		lines = append(lines, line{at, len(raw) - len(strings.TrimLeft(raw, " ")), trimmed})
		open = takesJSON(trimmed) && unclosed(trimmed)
	}
	if open {
		return nil, lines[len(lines)-1].at.errorf("the JSON that begins here is never closed")
	}
	return lines, nil
}

// takesJSON says whether the statement may go on over several lines.
func takesJSON(s string) bool {
	verb, _, _ := strings.Cut(s, " ")
	return slices.Contains([]string{"reply", "notify", "request", "add", "tool", "resource", "template", "prompt"}, verb) &&
		!strings.HasPrefix(s, "reply text ") && !strings.HasPrefix(s, "reply fail ")
}

// comment returns where the comment at the end of s begins, or its length.
func comment(s string) int {
	inString := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && inString:
			i++
		case s[i] == '"':
			inString = !inString
		case !inString && strings.HasPrefix(s[i:], "  # "):
			return i
		}
	}
	return len(s)
}

// unclosed says whether s holds more opening than closing brackets.
func unclosed(s string) bool {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth > 0
}

// block returns the lines indented under the first one, and the rest.
func block(lines []line) (head line, body, rest []line) {
	n := 1
	for n < len(lines) && lines[n].indent > lines[0].indent {
		n++
	}
	return lines[0], lines[1:n], lines[n:]
}

// word takes the first word, which may be quoted.
func word(s string) (first, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", fmt.Errorf("bad string in %q", s)
		}
		first, err = strconv.Unquote(quoted)
		return first, strings.TrimLeft(s[len(quoted):], " "), err
	}
	first, rest, _ = strings.Cut(s, " ")
	return first, strings.TrimLeft(rest, " "), nil
}

// literal returns TEXT: a Go string literal or the words as they stand.
func literal(s string) (string, error) {
	if len(s) > 1 && s[0] == '"' {
		text, err := strconv.Unquote(s)
		if err != nil {
			return "", fmt.Errorf("bad string %s", s)
		}
		return text, nil
	}
	return s, nil
}

func (p *parser) statement(lines []line) ([]line, error) {
	head, body, rest := block(lines)
	if head.indent > 0 {
		return nil, head.at.errorf("%q is indented under nothing", head.text)
	}
	verb, args, err := word(head.text)
	if err != nil {
		return nil, head.at.errorf("%v", err)
	}
	if p.isBlock(verb) == (len(body) == 0) {
		if len(body) == 0 {
			return nil, head.at.errorf("%q wants steps indented under it (ignore, if none)", head.text)
		}
		return nil, body[0].at.errorf("%q is indented under %q, which takes no steps", body[0].text, verb)
	}
	switch verb {
	case "tool", "resource", "template", "prompt":
		it, err := parseItem(itemKind(verb), args)
		if err != nil {
			return nil, head.at.errorf("%v", err)
		}
		p.script.items[itemKind(verb)] = append(p.script.items[itemKind(verb)], it)
	case "page":
		if p.script.page, err = strconv.Atoi(args); err != nil || p.script.page < 1 {
			return nil, head.at.errorf("page wants a positive number, not %q", args)
		}
	case "frame":
		if p.script.framing, err = parseFraming(p.script.framing, args); err != nil {
			return nil, head.at.errorf("%v", err)
		}
	case "ids":
		if p.script.ids, err = parseIDs(args); err != nil {
			return nil, head.at.errorf("%v", err)
		}
	case "start", "on":
		err = p.handler(head, verb, args, body)
	case "before":
		if args != "answers" {
			return nil, head.at.errorf(`write "before answers", not %q`, head.text)
		}
		p.inside, p.before = true, true
		p.script.before, err = p.steps(body)
		p.inside, p.before = false, false
	default:
		return nil, head.at.errorf("unknown statement %q", verb)
	}
	return rest, err
}

func (p *parser) isBlock(verb string) bool {
	return verb == "start" || verb == "on" || verb == "before"
}

func (p *parser) handler(head line, verb, args string, body []line) error {
	h := &handler{on: onStart}
	var err error
	if verb == "on" {
		if h.method, args, err = word(args); err != nil || h.method == "" {
			return head.at.errorf("on what? write on METHOD, on eof or on signal NAME")
		}
		switch h.method {
		case "eof":
			h.on = onEOF
		case "signal":
			h.on = onSignal
			if h.method, args, err = word(args); err != nil || !slices.Contains(signalNames, h.method) {
				return head.at.errorf("a signal block is for one of %s", strings.Join(signalNames, ", "))
			}
		default:
			h.on = onMessage
			if !startsCondition(args) {
				h.hasName = true
				if h.name, args, err = word(args); err != nil {
					return head.at.errorf("%v", err)
				}
			}
		}
	}
	if h.when, err = parseConditions(args); err != nil {
		return head.at.errorf("%v", err)
	}
	if h.on != onMessage && h.when.nth != (span{}) {
		return head.at.errorf("# counts messages; use run here")
	}
	h.when.named = h.hasName
	p.named, p.inside = h.hasName, h.on == onMessage
	if h.steps, err = p.steps(body); err != nil {
		return err
	}
	p.named, p.inside = false, false
	p.script.handlers = append(p.script.handlers, h)
	return nil
}

var signalNames = []string{"TERM", "INT", "HUP"}

func startsCondition(s string) bool {
	first, _, _ := strings.Cut(s, " ")
	return first == "" || first[0] == '#' || slices.Contains([]string{"run", "seen", "unseen"}, first)
}

func parseConditions(s string) (conditions, error) {
	var c conditions
	words := strings.Fields(s)
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		var err error
		if n, ok := strings.CutPrefix(w, "#"); ok {
			if c.nth, err = parseSpan(n); err != nil {
				return c, err
			}
			continue
		}
		if len(words) == 0 {
			return c, fmt.Errorf("%q is no condition; write #2, run 1, seen METHOD or unseen METHOD", w)
		}
		arg := words[0]
		words = words[1:]
		switch w {
		case "run":
			c.run, err = parseSpan(arg)
		case "seen":
			c.seen = append(c.seen, arg)
		case "unseen":
			c.unseen = append(c.unseen, arg)
		default:
			err = fmt.Errorf("%q is no condition; write #2, run 1, seen METHOD or unseen METHOD", w)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// parseSpan reads 2, 3+ or 2-4.
func parseSpan(s string) (span, error) {
	bad := fmt.Errorf("%q counts nothing; write 2, 3+ or 2-4", s)
	if from, ok := strings.CutSuffix(s, "+"); ok {
		n, err := strconv.Atoi(from)
		if err != nil || n < 1 {
			return span{}, bad
		}
		return span{from: n}, nil
	}
	from, to, ranged := strings.Cut(s, "-")
	a, err := strconv.Atoi(from)
	if err != nil || a < 1 {
		return span{}, bad
	}
	if !ranged {
		return span{a, a}, nil
	}
	b, err := strconv.Atoi(to)
	if err != nil || b < a {
		return span{}, bad
	}
	return span{a, b}, nil
}

// parseItem reads `NAME [JSON]` or `raw JSON`.
func parseItem(kind itemKind, args string) (item, error) {
	name, rest, err := word(args)
	if err != nil {
		return item{}, err
	}
	if name == "" {
		return item{}, fmt.Errorf("%s wants a name", kind)
	}
	if rest != "" && !json.Valid([]byte(rest)) {
		return item{}, fmt.Errorf("%s %s: not JSON: %s", kind, name, clip(rest))
	}
	return newItem(kind, name, []byte(rest))
}

func parseFraming(f framing, args string) (framing, error) {
	what, rest, err := word(args)
	if err != nil {
		return f, err
	}
	switch what {
	case "begin":
		f.begin, err = literal(rest)
	case "end":
		f.end, err = literal(rest)
	case "pieces":
		words := strings.Fields(rest)
		if len(words) != 1 && (len(words) != 3 || words[1] != "every") {
			return f, fmt.Errorf("write frame pieces N or frame pieces N every 1ms")
		}
		if f.piece, err = strconv.Atoi(words[0]); err != nil || f.piece < 0 {
			return f, fmt.Errorf("frame pieces wants a number, not %q", words[0])
		}
		f.pause = 0
		if len(words) == 3 {
			f.pause, err = parseDuration(words[2])
		}
	default:
		err = fmt.Errorf("unknown frame %q; there are begin, end, pieces", what)
	}
	return f, err
}

func parseIDs(s string) (idStyle, error) {
	switch style := idStyle(s); style {
	case idsExact, idsQuoted, idsFloat:
		return style, nil
	}
	return "", fmt.Errorf("unknown ids %q; there are exact, quoted, float", s)
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time; write 50ms or 2s", s)
	}
	return d, nil
}
