package config

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// A splice replaces the bytes from start to end of a document's text.
type splice struct {
	start, end int
	text       string
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// line returns the text of a line, counted from 1, with its end.
func (d *document) line(line int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	end := len(d.text)
	if line < len(d.lines) {
		end = d.lines[line]
	}
	return d.text[d.lines[line-1]:end]
}

// indent returns the blanks and tabs with which a line begins in the original.
func (d *document) indent(line int) string {
	lines := bytes.SplitN(bytes.ReplaceAll(d.original, []byte("\r\n"), []byte("\n")), []byte("\n"), line+1)
	if line > len(lines) {
		return ""
	}
	return leadingBlank(string(lines[line-1]))
}

// offset returns the index of a place in the text.
func (d *document) offset(at place) int {
	if at.line < 1 || at.line > len(d.lines) {
		return len(d.text)
	}
	i := d.lines[at.line-1]
	for range at.column - 1 {
		if i >= len(d.text) {
			break
		}
		_, size := utf8.DecodeRuneInString(d.text[i:])
		i += size
	}
	return i
}

// insertLines puts lines before a line.
func (d *document) insertLines(line int, lines []string) splice {
	at := len(d.text)
	if line <= len(d.lines) {
		at = d.lines[line-1]
	}
	return splice{at, at, strings.Join(lines, "\n") + "\n"}
}

// scalarEnd returns the index behind the single value, or the name of an alias,
// that begins at start.
func (d *document) scalarEnd(start int) int {
	rest := d.text[start:]
	if rest == "" {
		return start
	}
	switch quote := rest[0]; quote {
	case '"', '\'':
		for i := 1; i < len(rest); i++ {
			switch {
			case rest[i] == '\\' && quote == '"':
				i++
			case rest[i] == quote && quote == '\'' && strings.HasPrefix(rest[i+1:], "'"):
				i++
			case rest[i] == quote:
				return start + i + 1
			}
		}
		return start
	}
	end := strings.IndexAny(rest+"\n", "\n,]}")
	if comment := strings.Index(rest[:end], " #"); comment >= 0 {
		end = comment
	}
	return start + len(strings.TrimRight(rest[:end], " "))
}

// colon returns the index behind the colon of an entry, or -1.
func (d *document) colon(e entry) int {
	start := d.offset(e.place)
	rest := d.text[start:]
	if rest == "" {
		return -1
	}
	after := start
	if rest[0] == '"' || rest[0] == '\'' {
		after = d.scalarEnd(start)
	}
	line, _, _ := strings.Cut(d.text[after:], "\n")
	for i := range len(line) {
		if line[i] == ':' && (i+1 == len(line) || strings.IndexByte(" ,}", line[i+1]) >= 0) {
			return after + i + 1
		}
	}
	return -1
}

// blanksBefore returns how many blanks stand before i.
func blanksBefore(text string, i int) int {
	return i - len(strings.TrimRight(text[:i], " "))
}

// apply returns the original with splices done to it, in the order of their
// places. Its line ends and its byte order mark stay.
func (d *document) apply(splices []splice) []byte {
	ending := "\n"
	if i := bytes.IndexAny(d.original, "\r\n"); i >= 0 && d.original[i] == '\r' {
		ending = "\r"
		if bytes.HasPrefix(d.original[i:], []byte("\r\n")) {
			ending = "\r\n"
		}
	}
	splices = slices.Clone(splices)
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	orig, clean := 0, 0 // as far as both have been read
	if bytes.HasPrefix(d.original, []byte("\xEF\xBB\xBF")) {
		orig = 3
		out = append(out, d.original[:3]...)
	}
	copyTo := func(to int, keep bool) {
		from := orig
		for clean < to && orig < len(d.original) {
			if d.original[orig] == '\r' && orig+1 < len(d.original) && d.original[orig+1] == '\n' {
				orig++
			}
			orig++
			clean++
		}
		if keep {
			out = append(out, d.original[from:orig]...)
		}
		clean = to
	}
	for _, s := range splices {
		copyTo(s.start, true)
		text := s.text
		if s.start == len(d.text) && len(out) > 0 && text != "" && !bytes.HasSuffix(out, []byte("\n")) && !bytes.HasSuffix(out, []byte("\r")) && !bytes.Equal(out, []byte("\xEF\xBB\xBF")) {
			text = "\n" + text // the file's last line has no end
		}
		out = append(out, strings.ReplaceAll(text, "\n", ending)...)
		copyTo(s.end, false)
	}
	return append(out, d.original[orig:]...)
}

// commentsOf returns the comments of a text, in order.
func commentsOf(text []byte) (comments []string) {
	defer func() {
		if recover() != nil { // as in parseYAML
			comments = nil
		}
	}()
	for _, tk := range lexer.Tokenize(string(text)) {
		if tk.Type == token.CommentType {
			comments = append(comments, tk.Value)
		}
	}
	return comments
}
