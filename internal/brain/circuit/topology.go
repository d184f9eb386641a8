package circuit

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/names"
)

// A Topology is a circuit as it is written down, and known to be sound.
type Topology struct {
	// File is where it was read from, for people.
	File string
	// Nodes are in the order of the file.
	Nodes []*Spec
}

// A Spec is one node of a topology.
type Spec struct {
	ID string
	// Type is the type's own name, also where the file has an alias.
	Type    string
	Enabled bool
	// Watch and Emit are what the file, or else the type, says.
	Watch, Emit []bus.Target

	kind   Kind
	config *Config
	marks  map[string]place // where watch[0] and the like stand
	at     place
}

// Settings returns the settings of the node, as its type has them.
func (s *Spec) Settings() any { return s.config.Settings }

//go:embed default.yaml
var defaultTopology []byte

// DefaultFile is the name of the topology that is built in.
const DefaultFile = "default topology.yaml"

// Default returns the topology of a home that has none, as a file with comments.
func Default() []byte { return slices.Clone(defaultTopology) }

// Load reads the topology of a file, or the default one if there is no such file.
// An error about its content is an [*Invalid].
func Load(file string, types Registry) (*Topology, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Parse(DefaultFile, defaultTopology, types)
	}
	if err != nil {
		return nil, fmt.Errorf("read the topology: %w", err)
	}
	return Parse(filepath.Base(file), data, types)
}

// Parse reads a topology: a mapping with the one key nodes, a list of mappings
// with the keys id, type, enabled (true), watch, emit and config. Its error is an
// [*Invalid] that lists everything that is wrong.
func Parse(file string, data []byte, types Registry) (*Topology, error) {
	src := &source{file: file}
	root, err := parse(data)
	if err != nil {
		m := &misfit{message: err.Error()}
		errors.As(err, &m)
		src.problem(m.at, "", "", m.message, m.hint)
		return nil, src.err()
	}
	t := &Topology{File: file}
	r := reader{src: src, types: types, ids: make(map[string]place)}
	for _, v := range r.nodes(root) {
		if s := r.node(v); s != nil {
			t.Nodes = append(t.Nodes, s)
		}
	}
	if len(src.problems) == 0 { // else one mistake would be told of twice
		t.checkFlow(src)
	}
	if err := src.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// A reader turns values into specs.
type reader struct {
	src   *source
	types Registry
	ids   map[string]place
}

// nodes returns the list of nodes.
func (r *reader) nodes(root *value) []*value {
	if root.shape != mapping {
		r.src.problem(root.at, "", "", fmt.Sprintf("must be a mapping with the key nodes, not %s", root.shape), "")
		return nil
	}
	var nodes []*value
	at := root.at
	for _, e := range root.entries {
		if e.key != "nodes" {
			r.src.problem(e.at, "", e.key, "is not a key here", `the only one is "nodes"`)
			continue
		}
		at = e.at
		if e.value.shape != list && e.value.shape != nothing {
			r.src.problem(e.value.at, "", "nodes", fmt.Sprintf("must be a list, not %s", e.value.shape), "")
			return nil
		}
		nodes = e.value.items
	}
	if len(nodes) == 0 && len(r.src.problems) == 0 {
		r.src.problem(at, "", "nodes", "has no nodes", "remove the file, and the default topology runs")
	}
	return nodes
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

var nodeKeys = []string{"id", "type", "enabled", "watch", "emit", "config"}

// node reads one node; nil if it cannot be told what it is.
func (r *reader) node(v *value) *Spec {
	s := &Spec{Enabled: true, marks: make(map[string]place), at: v.at}
	if v.shape != mapping {
		r.src.problem(v.at, "", "nodes", fmt.Sprintf("a node must be a mapping, not %s", v.shape), "")
		return nil
	}
	fields := make(map[string]*value)
	for _, e := range v.entries {
		if !slices.Contains(nodeKeys, e.key) {
			hint := "known are " + strings.Join(nodeKeys, ", ")
			if near := names.Near(e.key, nodeKeys, 1); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			r.src.problem(e.at, textOf(v, "id"), e.key, "is not a key of a node", hint)
			continue
		}
		fields[e.key] = e.value
	}
	if !r.identity(s, fields) {
		return nil
	}
	if e := fields["enabled"]; e != nil {
		switch {
		case e.shape == scalar && e.plain && strings.EqualFold(e.text, "false"):
			s.Enabled = false
		case e.shape != scalar || !e.plain || !strings.EqualFold(e.text, "true"):
			r.src.problem(e.at, s.ID, "enabled", "must be true or false", "")
		}
	}
	s.Watch = r.targets(s, "watch", fields["watch"], s.kind.Watch)
	s.Emit = r.targets(s, "emit", fields["emit"], s.kind.Emit)
	r.config(s, fields["config"])
	return s
}

// textOf returns the text of a key, or "".
func textOf(v *value, key string) string {
	for _, e := range v.entries {
		if e.key == key {
			return e.value.text
		}
	}
	return ""
}

// identity reads id and type; false when the type is not known.
func (r *reader) identity(s *Spec, fields map[string]*value) bool {
	switch id := fields["id"]; {
	case id == nil:
		r.src.problem(s.at, "", "id", "is missing", "")
	case id.shape != scalar || !plainID.MatchString(id.text):
		r.src.problem(id.at, "", "id", fmt.Sprintf("%q is not an id", id.text), "letters, digits, _ and - make one, at most 64")
	default:
		s.ID = id.text
		if first, twice := r.ids[s.ID]; twice {
			r.src.problem(id.at, s.ID, "id", fmt.Sprintf("is taken by the node in line %d", first.line), "")
		}
		r.ids[s.ID] = id.at
	}
	typ := fields["type"]
	if typ == nil || typ.shape != scalar {
		r.src.problem(s.at, s.ID, "type", "is missing", "one of "+strings.Join(r.types.Types(), ", "))
		return false
	}
	var known bool
	s.Type, s.kind, known = r.types.find(typ.text)
	if !known {
		hint := "one of " + strings.Join(r.types.Types(), ", ")
		if near := names.Near(typ.text, r.types.Types(), 1); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q? %s", near[0], hint)
		}
		r.src.problem(typ.at, s.ID, "type", fmt.Sprintf("%q is not a type of node", typ.text), hint)
	}
	return known
}

// targets reads watch or emit.
func (r *reader) targets(s *Spec, field string, v *value, usual []string) []bus.Target {
	var globs []*value
	switch {
	case v == nil:
		for _, glob := range usual {
			globs = append(globs, &value{shape: scalar, text: glob, at: s.at})
		}
	case v.shape == list:
		globs = v.items
	case v.shape == scalar:
		globs = []*value{v}
	case v.shape == mapping:
		r.src.problem(v.at, s.ID, field, "must be a list, not a mapping", "")
	}
	var targets []bus.Target
	for _, g := range globs {
		path := fmt.Sprintf("%s[%d]", field, len(targets))
		s.marks[path] = g.at
		t, err := bus.ParseTarget(g.text)
		if g.shape != scalar {
			err = errors.New("must be a text")
		}
		if err != nil {
			r.src.problem(g.at, s.ID, field, fmt.Sprintf("%q: %v", g.text, err), "")
		}
		targets = append(targets, t)
	}
	return targets
}

// config reads the settings of a node and lets them check themselves.
func (r *reader) config(s *Spec, v *value) {
	c := &Config{
		ID: s.ID, Type: s.Type, Watch: s.Watch, Emit: s.Emit,
		gives: s.kind.Gives, src: r.src, at: s.at, marks: make(map[string]place),
	}
	s.config = c
	if s.kind.Settings != nil {
		c.Settings = s.kind.Settings()
	}
	if v != nil {
		c.at = v.at
	}
	before := len(r.src.problems)
	d := decoder{marks: c.marks, wrong: func(at place, field, message, hint string) {
		if field != "" {
			field = "." + field
		}
		r.src.problem(at, s.ID, "config"+field, message, hint)
	}}
	d.decode(c.Settings, v)
	if check, ok := c.Settings.(interface{ Check(*Config) }); ok && len(r.src.problems) == before {
		check.Check(c)
	}
}
