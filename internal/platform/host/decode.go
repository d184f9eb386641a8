package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/names"
	"github.com/aurorabot/aurora/internal/platform/policy"
)

const (
	maxName     = 512 // bytes of an upstream name
	maxWarnings = 20  // warnings kept per list
)

// anyObject stands for an input schema that a server left out.
var anyObject = json.RawMessage(`{"type":"object"}`)

// fields are the members of one JSON object by their exact names, which
// decoding into a struct would match in any letter case.
type fields map[string]json.RawMessage

func parseFields(raw json.RawMessage) (fields, error) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, errors.New("it is not an object")
	}
	return f, nil
}

// absent reports whether a field is missing or null, which servers use alike.
func (f fields) absent(name string) bool {
	raw, ok := f[name]
	return !ok || string(raw) == "null"
}

// text returns a string field, "" if absent.
func (f fields) text(name string) (string, error) {
	if f.absent(name) {
		return "", nil
	}
	var s string
	if json.Unmarshal(f[name], &s) != nil {
		return "", fmt.Errorf("its %s is not a string", name)
	}
	return s, nil
}

// object returns an object field as it stands, nil if absent.
func (f fields) object(name string) (json.RawMessage, error) {
	if f.absent(name) {
		return nil, nil
	}
	if raw := f[name]; raw[0] == '{' {
		return raw, nil
	}
	return nil, fmt.Errorf("its %s is not an object", name)
}

// name returns the name field, which must be one that people can type.
func (f fields) name() (string, error) {
	s, err := f.text("name")
	switch {
	case err != nil:
		return "", err
	case s == "":
		return "", errors.New("it has no name")
	case len(s) > maxName:
		return "", fmt.Errorf("its name is longer than %d bytes", maxName)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("its name has control characters")
	case strings.ContainsRune(s, utf8.RuneError):
		return "", errors.New("its name is not valid text")
	}
	return s, nil
}

// texts fills each of the strings from the field of its name.
func (f fields) texts(into map[string]*string) error {
	for _, name := range slices.Sorted(maps.Keys(into)) {
		s, err := f.text(name)
		if err != nil {
			return err
		}
		*into[name] = s
	}
	return nil
}

// warnings gathers what is wrong with one list, bounded.
type warnings struct {
	list []string
	more int
}

func (w *warnings) add(format string, args ...any) {
	if len(w.list) >= maxWarnings {
		w.more++
		return
	}
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

func (w *warnings) all() []string {
	if w.more > 0 {
		return append(w.list, fmt.Sprintf("There are %d more warnings like these.", w.more))
	}
	return w.list
}

// decodeList decodes the items of one list one by one. A broken item is set
// aside with a warning and costs the others nothing; of two with one key the
// first is kept. An item whose JSON is that of an item in old is that item,
// so that what was made for it (a compiled schema) lives on.
func decodeList[T any](what string, items []json.RawMessage, old []*T, decode func(fields) (*T, error), key func(*T) string, raw func(*T) *json.RawMessage) (list []*T, warned []string) {
	var w warnings
	before := make(map[string]*T, len(old)) // by definition
	for _, t := range old {
		before[string(*raw(t))] = t
	}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		item = bytes.TrimSpace(item)
		t := before[string(item)]
		if t == nil {
			f, err := parseFields(item)
			if err == nil {
				t, err = decode(f)
			}
			if err != nil {
				w.add("%s %d%s is set aside: %v.", what, i+1, label(f), err)
				continue
			}
			*raw(t) = item
		}
		k := key(t)
		if seen[k] {
			w.add("%s %q is listed twice; the first one is kept.", what, clip(k))
			continue
		}
		seen[k] = true
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(x, y *T) int { return cmp.Compare(key(x), key(y)) })
	return list, w.all()
}

// label returns the name of a broken item for a warning, if it has one.
func label(f fields) string {
	if s, err := f.text("name"); err == nil && s != "" {
		return fmt.Sprintf(" (%q)", clip(s))
	}
	return ""
}

func (a *app) decodeTools(conf *config.App, items []json.RawMessage, old []*Tool) ([]*Tool, []string) {
	decode := func(f fields) (*Tool, error) { return a.decodeTool(conf, f) }
	return decodeList("Tool", items, old, decode,
		func(t *Tool) string { return t.Upstream },
		func(t *Tool) *json.RawMessage { return &t.Definition })
}

// unlisted warns of tools that the configuration or the manifest speaks of and
// the server does not list: a permission with a mistyped name protects nothing.
func unlisted(conf *config.App, tools []*Tool) []string {
	listed := make(map[string]bool, len(tools))
	for _, t := range tools {
		listed[t.Name] = true
	}
	var w warnings
	for _, name := range conf.ManifestTools {
		if !listed[name] {
			w.add("The manifest names the tool %q, which the server does not list.", clip(name))
		}
		listed[name] = true // said
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Tools)) {
		if !listed[name] {
			w.add("The permissions name the tool %q, which the server does not list.", clip(name))
		}
	}
	return w.all()
}

func (a *app) decodeTool(conf *config.App, f fields) (*Tool, error) {
	name, err := f.name()
	if err != nil {
		return nil, err
	}
	t := &Tool{Upstream: name, App: conf, owner: a, Name: names.Canonical(conf.Package, name)}
	t.Alias = names.Alias(t.Name)
	if err := f.texts(map[string]*string{"title": &t.Title, "description": &t.Description}); err != nil {
		return nil, err
	}
	if t.InputSchema, err = f.object("inputSchema"); err != nil {
		return nil, err
	}
	if t.InputSchema == nil {
		t.InputSchema = anyObject
	}
	// The rest only describes: what is strange about it says nothing, and costs
	// the tool nothing.
	t.OutputSchema, _ = f.object("outputSchema")
	t.Annotations, _ = f.object("annotations")
	if execution, _ := f.object("execution"); execution != nil {
		var e struct{ TaskSupport json.RawMessage }
		_ = json.Unmarshal(execution, &e)
		t.TaskRequired = string(e.TaskSupport) == `"required"`
	}
	hints, title := decodeHints(t.Annotations)
	if t.Title == "" {
		t.Title = title
	}
	t.Risk = a.host.policy.Risk(conf, t.Name, hints)
	t.Enabled = true
	if p, ok := conf.Tools[t.Name]; ok && p.Enabled != nil {
		t.Enabled = *p.Enabled
	}
	return t, nil
}

// decodeHints reads what annotations say of risk. Hints of another type than
// the specification's say nothing.
func decodeHints(raw json.RawMessage) (h policy.Hints, title string) {
	if raw == nil {
		return h, ""
	}
	f, err := parseFields(raw)
	if err != nil {
		return h, ""
	}
	hint := func(name string) *bool {
		switch string(f[name]) {
		case "true":
			return new(true)
		case "false":
			return new(false)
		}
		return nil
	}
	h.ReadOnly, h.Destructive = hint("readOnlyHint"), hint("destructiveHint")
	title, _ = f.text("title")
	return h, title
}

func (a *app) decodeResources(conf *config.App, items []json.RawMessage, old []*Resource) ([]*Resource, []string) {
	decode := func(f fields) (*Resource, error) {
		r := &Resource{App: conf, owner: a}
		err := f.texts(map[string]*string{"uri": &r.URI, "name": &r.Name, "title": &r.Title, "description": &r.Description, "mimeType": &r.MIMEType})
		if err == nil && r.URI == "" {
			err = errors.New("it has no uri")
		}
		return r, err
	}
	return decodeList("Resource", items, old, decode,
		func(r *Resource) string { return r.URI },
		func(r *Resource) *json.RawMessage { return &r.Definition })
}

func (a *app) decodeTemplates(conf *config.App, items []json.RawMessage, old []*Template) ([]*Template, []string) {
	decode := func(f fields) (*Template, error) {
		t := &Template{App: conf, owner: a}
		err := f.texts(map[string]*string{"uriTemplate": &t.URITemplate, "name": &t.Name, "title": &t.Title, "description": &t.Description, "mimeType": &t.MIMEType})
		if err == nil && t.URITemplate == "" {
			err = errors.New("it has no uriTemplate")
		}
		t.match = templatePattern(t.URITemplate)
		return t, err
	}
	return decodeList("Resource template", items, old, decode,
		func(t *Template) string { return t.URITemplate },
		func(t *Template) *json.RawMessage { return &t.Definition })
}

func (a *app) decodePrompts(conf *config.App, items []json.RawMessage, old []*Prompt) ([]*Prompt, []string) {
	decode := func(f fields) (*Prompt, error) {
		name, err := f.name()
		if err != nil {
			return nil, err
		}
		p := &Prompt{Upstream: name, App: conf, owner: a, Name: names.Canonical(conf.Package, name)}
		if err := f.texts(map[string]*string{"title": &p.Title, "description": &p.Description}); err != nil {
			return nil, err
		}
		if !f.absent("arguments") && json.Unmarshal(f["arguments"], &p.Arguments) != nil {
			return nil, errors.New("its arguments are not a list of arguments")
		}
		return p, nil
	}
	return decodeList("Prompt", items, old, decode,
		func(p *Prompt) string { return p.Upstream },
		func(p *Prompt) *json.RawMessage { return &p.Definition })
}
