package commands

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
)

// A Candidate is one way in which a line could go on.
type Candidate struct {
	// Text replaces the bytes From to To of the line.
	Text     string
	From, To int
	// Help says what it is, in one line.
	Help string
}

// Complete returns how a line could go on at a cursor, given in bytes: the
// names of commands, tools and prompts, then the names of arguments, then
// the values of those that are one of a few. It returns nothing for a line that
// is no command, and for a cursor outside the line.
func (s *Set) Complete(ctx context.Context, line string, cursor int) []Candidate {
	return s.Index(ctx).Complete(line, cursor, s.Language)
}

// Complete is [Set.Complete] for what the index knows.
func (x *Index) Complete(line string, cursor int, l brain.Language) []Candidate {
	if cursor < 0 || cursor > len(line) {
		return nil
	}
	head := line[:cursor]
	start := len(head) - len(strings.TrimLeftFunc(head, blank))
	slash, n := utf8.DecodeRuneInString(head[start:])
	if slash != '/' && slash != '／' {
		return nil
	}
	typed := head[start+n:]
	if !strings.ContainsFunc(typed, func(r rune) bool { return !inName(plain(r)) }) {
		return x.commands(typed, start, cursor, l)
	}
	r, ok := x.Read(line)
	if !ok || r.Target == (Target{}) {
		return nil
	}
	at := strings.LastIndexFunc(head, func(r rune) bool { return blank(r) || r == '，' || r == '、' })
	_, width := utf8.DecodeRuneInString(head[max(at, 0):])
	from := at + width
	word := head[from:]
	if r.Target.Kind == KindBuiltin {
		if r.Target.Name != Help {
			return nil
		}
		out := x.commands(strings.TrimLeft(word, "/／"), from, cursor, l)
		for i := range out {
			out[i].Text = strings.TrimPrefix(out[i].Text, "/")
		}
		return out
	}
	properties := arguments.Properties(r.Target.Schema())
	if name, value, ok := strings.Cut(word, "="); ok {
		return values(properties, name, value, from+len(name)+1, cursor)
	}
	var out []Candidate
	for _, p := range properties {
		if given(line, p.Name) || !strings.HasPrefix(fold(p.Name), fold(word)) {
			continue
		}
		out = append(out, Candidate{p.Name + "=", from, cursor, aboutProperty(p, l)})
	}
	return out
}

// commands returns the commands whose name, or a part of it, begins as typed.
func (x *Index) commands(typed string, from, to int, l brain.Language) []Candidate {
	prefix := fold(typed)
	var ours, theirs []Candidate
	for _, b := range builtins() {
		if strings.HasPrefix(b.name, prefix) || slices.ContainsFunc(b.others, func(o string) bool { return prefix != "" && strings.HasPrefix(o, prefix) }) {
			ours = append(ours, Candidate{"/" + b.name, from, to, b.does(l)})
		}
	}
	for _, t := range x.all {
		if !t.enabled() || !x.means(t) {
			continue
		}
		short := x.Short(t)
		if begins(t, prefix) || strings.HasPrefix(fold(short[1:]), prefix) {
			theirs = append(theirs, Candidate{short, from, to, t.describe()})
		}
	}
	slices.SortStableFunc(theirs, func(a, b Candidate) int { return strings.Compare(a.Text, b.Text) })
	return append(ours, theirs...)
}

// begins reports whether a name of a target begins with a prefix.
func begins(t Target, prefix string) bool {
	name := fold(t.Name)
	for {
		if strings.HasPrefix(name, prefix) {
			return true
		}
		_, rest, more := strings.Cut(name, ".")
		if !more {
			break
		}
		name = rest
	}
	return strings.HasPrefix(fold(noun(last(t.Name))), prefix) || strings.HasPrefix(fold(t.title()), prefix)
}

// values returns the values of an argument that is one of a few.
func values(properties []arguments.Property, name, typed string, from, to int) []Candidate {
	var out []Candidate
	for _, p := range properties {
		if !strings.EqualFold(p.Name, name) {
			continue
		}
		words := p.Words
		if words == nil && p.Is("boolean") {
			words = []string{"true", "false"}
		}
		for _, w := range words {
			if strings.HasPrefix(fold(w), fold(typed)) {
				if strings.ContainsFunc(w, blank) {
					w = `"` + w + `"`
				}
				out = append(out, Candidate{w, from, to, firstLine(p.Description)})
			}
		}
	}
	return out
}

// given reports whether a line gives an argument by its name.
func given(line, name string) bool {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return blank(r) || r == '，' || r == '、' }) {
		if head, _, ok := strings.Cut(plainText(word), "="); ok && strings.EqualFold(strings.TrimSuffix(head, ":"), name) {
			return true
		}
	}
	return false
}
