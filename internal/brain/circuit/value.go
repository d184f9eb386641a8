package circuit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. They are far above what people write and keep a hostile one
// from eating the machine.
const (
	maxBytes = 256 << 10
	maxDepth = 50
)

// A place is a position in a file, counted from 1.
type place struct{ line, column int }

// A shape is what a value is.
type shape string

const (
	nothing shape = "nothing"
	scalar  shape = "a single value"
	list    shape = "a list"
	mapping shape = "a mapping"
)

// A value is one value of the file and where it stands.
type value struct {
	shape   shape
	text    string // of a scalar
	plain   bool   // of a scalar: written without quotes
	at      place
	items   []*value
	entries []entry
}

// An entry is one "key: value".
type entry struct {
	key   string
	at    place
	value *value
}

// A misfit is an error with its place.
type misfit struct {
	at            place
	message, hint string
}

func (m *misfit) Error() string { return m.message }

// parse reads the one document of a file. A file without content is nothing.
func parse(data []byte) (*value, error) {
	text, err := clean(data)
	if err != nil {
		return nil, err
	}
	file, err := parseYAML(text)
	if err != nil {
		return nil, syntax(err)
	}
	var root *value
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, &misfit{placeOf(doc.Body), "a second document begins here", "keep one document and remove the line ---"}
		}
		if root, err = build(doc.Body, 0); err != nil {
			return nil, err
		}
	}
	if root == nil {
		root = &value{shape: nothing, at: place{1, 1}}
	}
	return root, nil
}

// parseYAML calls the library. A panic in it, on text that no person wrote, is an
// error like any other.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("cannot be read as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// clean returns the text as the library wants it: UTF-8 without byte order mark,
// lines ended by \n, nested no deeper than its recursion bears.
func clean(data []byte) ([]byte, error) {
	switch {
	case len(data) > maxBytes:
		return nil, &misfit{message: "the file is larger than 256 KiB"}
	case !utf8.Valid(data):
		return nil, &misfit{message: "the file is not UTF-8", hint: "save it as UTF-8"}
	case bytes.IndexByte(data, 0) >= 0:
		return nil, &misfit{message: "the file holds a zero byte", hint: "it is not a text file"}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	if line, deep := deepLine(data); deep {
		return nil, &misfit{place{line, 1}, "brackets or dashes are nested too deeply here", ""}
	}
	return data, nil
}

// deepLine finds the line that opens brackets, or stacks dashes, far beyond
// maxDepth.
func deepLine(data []byte) (int, bool) {
	line, open := 0, 0
	for text := range bytes.Lines(data) {
		line++
		open += bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
		lead := len(text) - len(bytes.TrimLeft(text, "-?:&!* "))
		if open > 20*maxDepth || lead-bytes.Count(text[:lead], []byte(" ")) > maxDepth {
			return line, true
		}
		open = max(0, open-bytes.Count(text, []byte("]"))-bytes.Count(text, []byte("}")))
	}
	return 0, false
}

// syntax says what the library found, and where.
func syntax(err error) error {
	var located yaml.Error
	if !errors.As(err, &located) {
		return &misfit{message: err.Error()}
	}
	m := &misfit{message: "cannot be read as YAML: " + strings.ReplaceAll(located.GetMessage(), "\t", `\t`)}
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		m.at = place{tk.Position.Line, tk.Position.Column}
	}
	return m
}

func placeOf(n ast.Node) place {
	switch n := n.(type) {
	case nil:
		return place{}
	case *ast.MappingNode:
		if len(n.Values) > 0 && (n.Start == nil || n.Start.Type == token.MappingValueType) {
			return placeOf(n.Values[0].Key) // a block mapping names its first colon
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return place{tk.Position.Line, tk.Position.Column}
	}
	return place{}
}

// build turns the tree of the library into values.
func build(n ast.Node, depth int) (*value, error) {
	v := &value{at: placeOf(n)}
	if depth > maxDepth {
		return nil, &misfit{v.at, "the values are nested too deeply", ""}
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		v.shape = nothing
	case *ast.StringNode:
		v.shape, v.text, v.plain = scalar, n.Value, n.Token != nil && n.Token.Type == token.StringType
	case *ast.LiteralNode:
		v.shape = scalar
		if n.Value != nil {
			v.text = n.Value.Value
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		v.shape, v.text, v.plain = scalar, n.GetToken().Value, true
	case *ast.SequenceNode:
		v.shape = list
		for _, item := range n.Values {
			built, err := build(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, built)
		}
	case *ast.MappingNode:
		v.shape = mapping
		return v, v.fill(n.Values, depth)
	case *ast.MappingValueNode:
		v.shape = mapping
		return v, v.fill([]*ast.MappingValueNode{n}, depth)
	default:
		return nil, &misfit{v.at, "this form of YAML is not understood here", "write plain keys and values, without & * ! and <<"}
	}
	return v, nil
}

// fill adds the entries of a mapping.
func (v *value) fill(pairs []*ast.MappingValueNode, depth int) error {
	for _, pair := range pairs {
		at := placeOf(pair.Key)
		key, ok := keyText(pair.Key)
		if !ok {
			return &misfit{at, "a key must be plain text", ""}
		}
		for _, e := range v.entries {
			if e.key == key {
				return &misfit{at, fmt.Sprintf("%q is written twice", key), ""}
			}
		}
		built, err := build(pair.Value, depth+1)
		if err != nil {
			return err
		}
		if built.at == (place{}) || built.shape == nothing {
			built.at = at
		}
		v.entries = append(v.entries, entry{key, at, built})
	}
	return nil
}

func keyText(key ast.MapKeyNode) (string, bool) {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return key.GetToken().Value, true
	}
	return "", false
}
