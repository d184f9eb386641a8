package config

import (
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of one file. They are far above what people write and keep a hostile
// file (aliases of aliases, brackets without end) from eating the machine.
const (
	maxFileBytes = 1 << 20
	maxNodes     = 100_000
	maxDepth     = 100
)

// A kind is what a node is.
type kind int

const (
	nullNode kind = iota
	scalarNode
	listNode
	mapNode
	invalidNode // its text says why
)

func (k kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping", "an error"}[k]
}

// A node is one value of a YAML file, freed from anchors, aliases, merges and
// tags. Nodes are shared where the file has aliases, and never changed.
type node struct {
	kind    kind
	text    string // of a scalar: its text; of an invalid node: what is wrong
	hint    string // of an invalid node
	plain   bool   // of a scalar: without quotes, so that it may be a number or a truth value
	place   place
	items   []*node
	entries []entry
	size    int   // nodes below and including this one, counted at every alias
	flow    bool  // of a mapping: it stands in { }
	end     place // of a mapping in { }: its closing brace
	alias   bool  // it stands elsewhere, and only its name here
}

// An entry is one line "key: value" of a mapping. Keys may repeat.
type entry struct {
	key    string
	place  place
	value  *node
	merged bool // it stands elsewhere, and came in by <<
}

// A place is a position in a file, counted from 1.
type place struct{ line, column int }

// parseTree reads one YAML document. A file without content is a null node. On
// a syntax error it returns nil and the one problem, without file.
func parseTree(data []byte) (*node, *Problem) {
	text, problem := cleanText(data)
	if problem != nil {
		return nil, problem
	}
	file, err := parseYAML(text)
	if err != nil {
		return nil, syntaxProblem(text, err)
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if _, directive := doc.Body.(*ast.DirectiveNode); !directive {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return &node{kind: nullNode, place: place{1, 1}, size: 1}, nil
	case 1:
		b := builder{anchors: map[string]*node{}}
		root := b.build(bodies[0], 0)
		return root, nil
	}
	at := placeOf(bodies[1])
	return nil, &Problem{Line: at.line, Column: at.column, Message: "a second document begins here", Hint: `keep one document per file and remove the line "---"`}
}

// parseYAML calls the YAML library. A panic in it, on text that no person wrote,
// becomes an error like any other, because one broken file must not take the
// house down.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("the file cannot be read as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// A builder turns the tree of the library into ours.
type builder struct {
	anchors map[string]*node
	nodes   int // made so far, aliases counted in full
}

func placeOf(n ast.Node) place {
	if mapping, ok := n.(*ast.MappingNode); ok && len(mapping.Values) > 0 && mapping.Start != nil && mapping.Start.Type == token.MappingValueType {
		return placeOf(mapping.Values[0].Key) // a block mapping names its first colon as its place
	}
	if value, ok := n.(*ast.MappingValueNode); ok {
		return placeOf(value.Key)
	}
	if n == nil {
		return place{}
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return place{}
	}
	return place{tk.Position.Line, tk.Position.Column}
}

func invalid(at place, message, hint string) *node {
	return &node{kind: invalidNode, text: message, hint: hint, place: at, size: 1}
}

func (b *builder) build(from ast.Node, depth int) *node {
	at := placeOf(from)
	b.nodes++
	if b.nodes > maxNodes {
		return invalid(at, "the file holds too many values", "aliases of aliases grow fast")
	}
	if depth > maxDepth {
		return invalid(at, "the values are nested too deeply", "")
	}
	var n *node
	switch from := from.(type) {
	case nil:
		n = &node{kind: nullNode}
	case *ast.StringNode:
		if message := wrongBackslash(from.Token); message != "" {
			return invalid(at, message, backslashHint)
		}
		n = &node{kind: scalarNode, text: from.Value, plain: from.Token != nil && from.Token.Type == token.StringType}
	case *ast.LiteralNode:
		n = &node{kind: scalarNode}
		if from.Value != nil {
			n.text = from.Value.Value
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n = &node{kind: scalarNode, text: from.GetToken().Value, plain: true}
	case *ast.NullNode:
		n = &node{kind: nullNode}
	case *ast.SequenceNode:
		n = b.list(from, depth)
	case *ast.MappingNode:
		n = b.mapping(from.Values, depth)
		if n.flow = from.IsFlowStyle; n.flow && from.End != nil && from.End.Position != nil {
			n.end = place{from.End.Position.Line, from.End.Position.Column}
		}
	case *ast.MappingValueNode:
		n = b.mapping([]*ast.MappingValueNode{from}, depth)
	case *ast.AnchorNode:
		n = b.build(from.Value, depth+1)
		b.anchors[nameOf(from.Name)] = n
		return n
	case *ast.AliasNode:
		return b.alias(from, at)
	case *ast.TagNode:
		return b.tagged(from, at, depth)
	default:
		return invalid(at, "this form of YAML is not understood here", "")
	}
	n.place = at
	n.size++
	for _, item := range n.items {
		n.size += item.size
	}
	for _, e := range n.entries {
		n.size += e.value.size
	}
	return n
}

func (b *builder) list(from *ast.SequenceNode, depth int) *node {
	n := &node{kind: listNode, items: make([]*node, 0, len(from.Values))}
	for _, value := range from.Values {
		if text, ok := pairText(value, depth); ok {
			b.nodes++
			n.items = append(n.items, &node{kind: scalarNode, text: text, plain: true, place: placeOf(value), size: 1})
			continue
		}
		n.items = append(n.items, b.build(value, depth+1))
	}
	return n
}

// pairText returns the text of an item such as 8080:80 or mcp/fetch:latest, which
// the library takes for a mapping when the list stands in { }. A colon without a
// blank behind it is one character of a text (YAML 1.2, 7.3.3).
func pairText(n ast.Node, depth int) (string, bool) {
	if mapping, ok := n.(*ast.MappingNode); ok && len(mapping.Values) == 1 && mapping.End == nil {
		n = mapping.Values[0]
	}
	pair, ok := n.(*ast.MappingValueNode)
	if !ok || depth > maxDepth || pair.Start == nil {
		return "", false
	}
	key, value := pair.Key.GetToken(), pair.Value.GetToken()
	after, ok := "", true
	if inner, nested := pair.Value.(*ast.MappingValueNode); nested {
		value = inner.Key.GetToken()
		after, ok = pairText(inner, depth+1)
	} else if value != nil {
		after = value.Value
	}
	if !ok || !unquoted(key) || !unquoted(value) ||
		!follows(key.Position, utf8.RuneCountInString(key.Value), pair.Start.Position) || !follows(pair.Start.Position, 1, value.Position) {
		return "", false
	}
	return key.Value + ":" + after, true
}

func unquoted(tk *token.Token) bool {
	return tk != nil && tk.Position != nil && (tk.Type == token.StringType || tk.Type == token.IntegerType || tk.Type == token.FloatType || tk.Type == token.BoolType)
}

// follows tells whether b stands right behind the n characters at a.
func follows(a *token.Position, n int, b *token.Position) bool {
	return a.Line == b.Line && a.Column+n == b.Column
}

func (b *builder) mapping(values []*ast.MappingValueNode, depth int) *node {
	n := &node{kind: mapNode, entries: make([]entry, 0, len(values))}
	var merged []entry
	for _, value := range values {
		if value.Key != nil && value.Key.IsMergeKey() {
			merged = append(merged, b.merge(b.build(value.Value, depth+1))...)
			continue
		}
		e := entry{place: placeOf(value.Key)}
		key := b.build(keyNode(value.Key), depth+1)
		switch key.kind {
		case scalarNode:
			e.key = key.text
		case nullNode:
			e.key = tokenText(value.Key)
		default:
			e.value = invalid(e.place, "a key must be plain text", "")
		}
		if e.value == nil {
			e.value = b.build(value.Value, depth+1)
			if e.value.place == (place{}) || e.value.kind == nullNode {
				e.value = &node{kind: e.value.kind, place: e.place, size: 1, text: e.value.text, hint: e.value.hint}
			}
		}
		n.entries = append(n.entries, e)
	}
	for _, e := range merged {
		if !hasKey(n.entries, e.key) {
			e.merged = true
			n.entries = append(n.entries, e)
		}
	}
	return n
}

// keyNode returns the node that holds the text of a key, also of one written
// with a question mark.
func keyNode(key ast.MapKeyNode) ast.Node {
	if marked, ok := key.(*ast.MappingKeyNode); ok {
		return marked.Value
	}
	return key
}

// merge returns the entries that "<<: value" brings in.
func (b *builder) merge(value *node) []entry {
	switch value.kind {
	case mapNode:
		return value.entries
	case listNode:
		var all []entry
		for _, item := range value.items {
			if item.kind != mapNode {
				return []entry{{key: "<<", place: item.place, value: invalid(item.place, "<< takes mappings only", "")}}
			}
			all = append(all, item.entries...)
		}
		return all
	case invalidNode:
		return []entry{{key: "<<", place: value.place, value: value}}
	}
	return []entry{{key: "<<", place: value.place, value: invalid(value.place, "<< takes a mapping", "")}}
}

func hasKey(entries []entry, key string) bool {
	for _, e := range entries {
		if e.key == key {
			return true
		}
	}
	return false
}

func (b *builder) alias(from *ast.AliasNode, at place) *node {
	name := nameOf(from.Value)
	target := b.anchors[name]
	if target == nil {
		return invalid(at, fmt.Sprintf("nothing is marked &%s before this place", name), `put a text that begins with * in quotes`)
	}
	b.nodes += target.size
	if b.nodes > maxNodes {
		return invalid(at, "the file holds too many values", "aliases of aliases grow fast")
	}
	copied := *target
	copied.place, copied.alias = at, true
	return &copied
}

func (b *builder) tagged(from *ast.TagNode, at place, depth int) *node {
	tag := tokenText(from)
	n := b.build(from.Value, depth+1)
	switch tag {
	case "!!str", "!":
		copied := *n
		copied.plain = false
		if n.kind == nullNode {
			copied.kind = scalarNode
		}
		return &copied
	case "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
		return n
	}
	return invalid(at, fmt.Sprintf("the tag %s is not understood", tag), "put a text that begins with ! in quotes")
}

func nameOf(n ast.Node) string {
	if n == nil {
		return ""
	}
	return tokenText(n)
}

func tokenText(n ast.Node) string {
	if tk := n.GetToken(); tk != nil {
		return tk.Value
	}
	return ""
}

// isTrue and isFalse know the truth values of YAML 1.2.
func isTrue(text string) bool { return text == "true" || text == "True" || text == "TRUE" }

func isFalse(text string) bool { return text == "false" || text == "False" || text == "FALSE" }
