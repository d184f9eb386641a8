package config

import (
	"fmt"
	"slices"
	"strings"
)

// An Item is one "key: value" that an edit writes. The value is a string, a bool,
// an int, a []string, or []Item for a mapping.
type Item struct {
	Key   string
	Value any
}

// An EditError says why a text was not edited. The text is as it was.
type EditError struct {
	// Line and Column are where the trouble is; 0 if it is nowhere.
	Line, Column int
	Message      string
	// Lines are what to write into the file by hand instead; sometimes empty.
	Lines string
}

// Error returns the message with the place, and what to do instead.
func (e *EditError) Error() string {
	text := e.Message
	if e.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
	}
	if e.Lines != "" {
		text += "; write by hand:\n" + e.Lines
	}
	return text
}

// SetAt returns the text of a YAML file in which the single value (string, bool
// or int) at path is another one. What is missing on the way is made. The key
// "enabled" is put before its neighbours, any other key behind them.
//
// SetAt and [AddAt] change the text, not a tree that is then written anew:
// comments, order, quotes and indents of everything else stay as they are, byte
// by byte, line ends and byte order mark too. Before they return they read the
// new text and compare: exactly the wanted change of meaning has happened and no
// comment was lost, or else the error is an [*EditError] and nothing is returned.
// So a value that other places share by an alias is never changed by accident.
func SetAt(text []byte, path []string, value any) ([]byte, error) {
	d, err := openDocument(text)
	if err != nil {
		return nil, err
	}
	return d.put(path, value)
}

// AddAt returns the text of a YAML file with items added, in their order, behind
// those of the mapping at path, which is made if it is missing. A key that is
// there already is an error. An empty text makes a new file.
func AddAt(text []byte, path []string, items ...Item) ([]byte, error) {
	d, err := openDocument(text)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return text, nil
	}
	return d.add(path, items)
}

// A document is a YAML file that is about to be edited.
type document struct {
	original []byte
	text     string // as the parser gets it
	lines    []int  // offset in text of the beginning of each line
	root     *node
	comments []string
}

func openDocument(original []byte) (*document, error) {
	text, problem := cleanText(original)
	if problem == nil {
		var root *node
		if root, problem = parseTree(original); problem == nil {
			d := &document{original: original, text: string(text), root: root, comments: commentsOf(text)}
			d.lines = lineStarts(d.text)
			return d, nil
		}
	}
	message := "the file cannot be edited: " + problem.Message
	if problem.Hint != "" {
		message += " (" + problem.Hint + ")"
	}
	return nil, &EditError{Line: problem.Line, Column: problem.Column, Message: message}
}

// put sets the value at path.
func (d *document) put(path []string, value any) ([]byte, error) {
	at, rest, err := d.find(path)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		items := []Item{{rest[len(rest)-1], value}}
		for _, key := range slices.Backward(rest[:len(rest)-1]) {
			items = []Item{{key, items}}
		}
		return d.try(at, items, func(after *node) bool {
			return sameBut(d.root, after, path[:len(path)-len(rest)], items)
		})
	}
	if written := at.value(); written.kind == scalarNode && meansValue(written, value) {
		return d.original, nil
	}
	return d.accept(d.replacements(at, value), func(after *node) bool {
		return sameBut(d.root, after, path[:len(path)-1], []Item{{path[len(path)-1], value}})
	}, d.byHand(path[:len(path)-1], []Item{{path[len(path)-1], value}}))
}

// add adds items to the mapping at path.
func (d *document) add(path []string, items []Item) ([]byte, error) {
	at, rest, err := d.find(path)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Backward(rest) {
		items = []Item{{key, items}}
	}
	if len(rest) == 0 {
		for _, item := range items {
			if i := slices.IndexFunc(at.value().entries, func(e entry) bool { return e.key == item.Key && !e.merged }); i >= 0 {
				place := at.value().entries[i].place
				return nil, &EditError{Line: place.line, Column: place.column, Message: fmt.Sprintf("%q is there already", item.Key)}
			}
		}
	}
	return d.try(at, items, func(after *node) bool {
		return sameBut(d.root, after, path[:len(path)-len(rest)], items)
	})
}

// A spot is a place in the tree: the entries that lead to it, from the root on.
type spot struct {
	root *node
	way  []step
}

// A step leads from a mapping to one of its entries.
type step struct {
	from *node
	entry
}

// value returns the node at the spot.
func (s spot) value() *node {
	if len(s.way) == 0 {
		return s.root
	}
	return s.way[len(s.way)-1].value
}

// find follows path as far as it exists. rest is what does not exist.
func (d *document) find(path []string) (at spot, rest []string, err error) {
	at.root = d.root
	for i, key := range path {
		n := at.value()
		switch n.kind {
		case nullNode:
			return at, path[i:], nil
		case mapNode:
		case invalidNode:
			return at, nil, &EditError{Line: n.place.line, Column: n.place.column, Message: n.text}
		default:
			return at, nil, &EditError{Line: n.place.line, Column: n.place.column, Message: fmt.Sprintf("%s must be a mapping (key: value), not %s", orWhole(path[:i]), n.kind)}
		}
		var found []entry
		for _, e := range n.entries {
			if e.key == key && !e.merged {
				found = append(found, e)
			}
		}
		switch len(found) {
		case 0:
			return at, path[i:], nil
		case 1:
			at.way = append(at.way, step{n, found[0]})
		default:
			return at, nil, &EditError{Line: found[1].place.line, Column: found[1].place.column, Message: fmt.Sprintf("the key %q stands here a second time", key)}
		}
	}
	switch n := at.value(); {
	case n.kind == invalidNode:
		return at, nil, &EditError{Line: n.place.line, Column: n.place.column, Message: n.text}
	}
	return at, nil, nil
}

func orWhole(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

// try adds items at a spot in the ways that there are.
func (d *document) try(at spot, items []Item, right func(*node) bool) ([]byte, error) {
	n := at.value()
	if n.kind != mapNode && n.kind != nullNode {
		return nil, &EditError{Line: n.place.line, Column: n.place.column, Message: fmt.Sprintf("this must be a mapping (key: value), not %s", n.kind)}
	}
	var path []string
	for _, s := range at.way {
		path = append(path, s.key)
	}
	return d.accept(d.additions(at, items), right, d.byHand(path, items))
}

// accept returns the text after the first of several edits that means what it
// shall.
func (d *document) accept(ways [][]splice, right func(*node) bool, byHand string) ([]byte, error) {
	for _, way := range ways {
		text := d.apply(way)
		root, problem := parseTree(text)
		if problem != nil || !right(root) {
			continue
		}
		clean, _ := cleanText(text)
		if slices.Equal(commentsOf(clean), d.comments) {
			return text, nil
		}
	}
	return nil, &EditError{Message: "the file is written in a way in which this cannot be changed without changing something else", Lines: byHand}
}

// byHand is what somebody would write for an edit.
func (d *document) byHand(path []string, items []Item) string {
	for _, key := range slices.Backward(path) {
		items = []Item{{key, items}}
	}
	return strings.Join(blockLines(items, 0, 2), "\n")
}
