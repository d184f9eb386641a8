package arguments

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/toolschema"
)

// A pair is one argument as written.
type pair struct {
	name  string // as in the line; may end with ":" or have dots
	value string
	// from and to are where the value may be continued: a text of several words.
	from, to int
	text     bool
}

// A writing is a line on its way to arguments.
type writing struct {
	input      json.RawMessage
	line       string
	properties []Property
	pairs      []pair
	words      []word // that no name was written to
	behind     []int  // for each of them, the pair it stands directly behind; -1: none
}

// sort tells words with a name from those without.
func (w *writing) sort(words []word) {
	last := -1
	for _, word := range words {
		name, ok := w.named(word)
		if !ok {
			w.words = append(w.words, word)
			w.behind = append(w.behind, last)
			continue
		}
		p, _ := w.property(name)
		w.pairs = append(w.pairs, pair{
			name: name, value: word.text[word.equals+1:],
			from: word.value, to: word.to,
			text: p.Name == name && p.Text() && !word.quoted,
		})
		last = len(w.pairs) - 1
	}
}

// named returns the name before the "=" of a word, if the tool has such an
// argument; another letter case is forgiven.
func (w *writing) named(word word) (string, bool) {
	if word.equals < 1 {
		return "", false
	}
	name := word.text[:word.equals]
	plain, forced := strings.CutSuffix(name, ":")
	colon := ""
	if forced {
		colon = ":"
	}
	if p, ok := w.property(plain); ok {
		return p.Name + colon, true
	}
	head, inner, dotted := strings.Cut(plain, ".")
	if p, ok := w.property(head); ok && dotted && inner != "" {
		return p.Name + "." + inner + colon, true
	}
	return "", false
}

func (w *writing) property(name string) (Property, bool) {
	for _, same := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.EqualFold(s, name) },
	} {
		if i := slices.IndexFunc(w.properties, func(p Property) bool { return same(p.Name) }); i >= 0 {
			return w.properties[i], true
		}
	}
	return Property{}, false
}

// given reports whether a property has a value by name.
func (w *writing) given(name string) bool {
	return slices.ContainsFunc(w.pairs, func(p pair) bool {
		plain := strings.TrimSuffix(p.name, ":")
		return plain == name || strings.HasPrefix(plain, name+".")
	})
}

func (w *writing) missing() []string {
	var names []string
	for _, p := range w.properties {
		if p.Required && !w.given(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// place gives the words without a name to arguments.
func (w *writing) place() error {
	if len(w.words) == 0 {
		return nil
	}
	var slots []Property
	for _, p := range w.properties {
		if !w.given(p.Name) {
			slots = append(slots, p)
		}
	}
	if w.oneEach(slots) {
		return nil
	}
	if i := taker(slots, true); i >= 0 && w.spread(slots, i) {
		return nil
	}
	if w.continued() {
		return nil
	}
	if i := taker(slots, false); i >= 0 && w.spread(slots, i) {
		return nil
	}
	return &ExtraError{w.span(0, len(w.words))}
}

// oneEach gives each word to one slot, in order, if all fit.
func (w *writing) oneEach(slots []Property) bool {
	if len(w.words) > len(slots) {
		return false
	}
	for i, word := range w.words {
		if !w.fits(slots[i], word.text) {
			return false
		}
	}
	for i, word := range w.words {
		w.give(slots[i], word.text)
	}
	return true
}

// taker returns the slot that takes what no other needs: the last required one
// that is text or a list; or, if none need be required, the first of any.
func taker(slots []Property, required bool) int {
	found := -1
	for i, p := range slots {
		switch {
		case !p.Text() && !p.Is("array"):
		case p.Required:
			found = i
		case !required && found < 0:
			found = i
		}
	}
	return found
}

// spread gives words to slots when slot t takes as many as it can: before it the
// required ones take one each, and the last words go to required and then to
// optional ones that are no text, if they fit.
func (w *writing) spread(slots []Property, t int) bool {
	var before, after, more []Property
	for i, p := range slots {
		switch {
		case i == t:
		case p.Required && i < t:
			before = append(before, p)
		case p.Required:
			after = append(after, p)
		case !p.Text() && !p.Is("array"):
			more = append(more, p)
		}
	}
	for n := len(more); n >= 0; n-- {
		behind := append(slices.Clip(after), more[:n]...)
		from, to := len(before), len(w.words)-len(behind)
		if from >= to {
			continue
		}
		fit := true
		for i, p := range before {
			fit = fit && w.fits(p, w.words[i].text)
		}
		for i, p := range behind {
			fit = fit && w.fits(p, w.words[to+i].text)
		}
		if !fit {
			continue
		}
		for i, p := range before {
			w.give(p, w.words[i].text)
		}
		if slots[t].Is("array") {
			for _, word := range w.words[from:to] {
				w.give(slots[t], word.text)
			}
		} else {
			w.give(slots[t], w.span(from, to))
		}
		for i, p := range behind {
			w.give(p, w.words[to+i].text)
		}
		return true
	}
	return false
}

// continued takes the words for the rest of the values they stand behind.
func (w *writing) continued() bool {
	for i := range w.words {
		if b := w.behind[i]; b < 0 || !w.pairs[b].text {
			return false
		}
	}
	for i, word := range w.words {
		p := &w.pairs[w.behind[i]]
		p.to = word.to
		p.value = w.line[p.from:p.to]
	}
	return true
}

// span returns what was written from one word to another, if they stand side by
// side; else the words with blanks between them.
func (w *writing) span(from, to int) string {
	words := w.words[from:to]
	if len(words) == 1 {
		return words[0].text
	}
	if w.behind[from] == w.behind[to-1] {
		return w.line[words[0].from:words[len(words)-1].to]
	}
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word.text
	}
	return strings.Join(texts, " ")
}

func (w *writing) give(p Property, text string) {
	if i := slices.IndexFunc(p.Words, func(s string) bool { return strings.EqualFold(s, text) }); i >= 0 {
		text = p.Words[i]
	}
	w.pairs = append(w.pairs, pair{name: p.Name, value: text})
}

// fits reports whether a text can be a value of a property.
func (w *writing) fits(p Property, text string) bool {
	if p.Text() {
		return true
	}
	if p.Words != nil && slices.ContainsFunc(p.Words, func(s string) bool { return strings.EqualFold(s, text) }) {
		return true
	}
	if p.Words != nil && p.Is("string") {
		return false
	}
	_, err := toolschema.Arguments(w.input, []string{p.Name + "=" + text})
	return err == nil
}
