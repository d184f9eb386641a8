package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A server is one server of a foreign configuration, understood.
type server struct {
	name    string
	at      place
	refused string // why it cannot be an app; empty: it can

	description string
	disabled    bool
	transport   string // empty: it follows from command or url
	command     []phrase
	cwd         phrase
	env         []named
	url         phrase
	headers     []named
	insecure    bool
	slowStart   bool     // its program may have to be downloaded first
	callTimeout int      // seconds; 0: not said
	toolsOff    []string // tools that are switched off
	notes       []string
}

type named struct {
	name string
	phrase
}

// A reading is what the servers of one file are read with.
type reading struct {
	speaker
	// read returns the text of a file, for env files.
	read func(path string) ([]byte, error)
	// exists tells whether there is a file.
	exists func(path string) bool
	// envFile reads the text of an env file.
	envFile func(text []byte) (map[string]string, error)
}

// server understands one server.
func (r *reading) server(f found) (s server) {
	s = server{name: f.name, at: f.at, disabled: f.disabled}
	if f.project != "" {
		inner := *r
		inner.workspace = f.project
		r = &inner
	}
	if f.entry.kind != objectKind {
		s.refused = fmt.Sprintf("it is %s, not a server", f.entry.kind)
		return s
	}
	if f.before != (place{}) {
		s.notes = append(s.notes, fmt.Sprintf("its name stands twice, in line %d and in line %d; the last one counts, as it does for other programs", f.before.line, f.at.line))
	}
	s.twice(f.entry, "")
	e := &entry{reading: r, server: &s, of: f.entry, seen: map[string]bool{}}
	if err := e.fill(); err != nil {
		s.refused = err.Error()
	}
	return s
}

// twice notes what stands more than once in an object, of which the last counts.
func (s *server) twice(of *value, within string) {
	count := map[string]int{}
	for _, m := range of.members {
		if count[m.name]++; count[m.name] == 2 {
			s.notes = append(s.notes, fmt.Sprintf("%s stands twice%s; the last one counts", m.name, within))
		}
		if m.value.kind == objectKind && within == "" {
			s.twice(m.value, " in its "+m.name)
		}
	}
}

// An entry is a server while it is read.
type entry struct {
	*reading
	*server
	of   *value
	seen map[string]bool // members that were looked at
}

// take returns a member under the first of its names that it has.
func (e *entry) take(names ...string) *value {
	var first *value
	for _, name := range names {
		v := e.of.get(name)
		if v == nil {
			continue
		}
		e.seen[name] = true
		if v.kind != nullKind && first == nil {
			first = v
		}
	}
	return first
}

func (e *entry) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// fill fills the server from the entry.
func (e *entry) fill() error {
	transport, err := e.kind()
	if err != nil {
		return err
	}
	for _, step := range []func() error{e.program, e.environment, e.address, e.switches} {
		if err := step(); err != nil {
			return err
		}
	}
	hasCommand, hasURL := len(e.command) > 0, len(e.url) > 0
	switch {
	case !hasCommand && !hasURL && text(e.take("source")) == "extension":
		return fmt.Errorf("it comes from an extension of Zed, and its command stands nowhere in the file")
	case !hasCommand && !hasURL:
		return fmt.Errorf("it has neither a command nor a url")
	case transport == "stdio" && !hasCommand:
		return fmt.Errorf("it has no command, though its type says that it is a program")
	case transport != "" && transport != "stdio" && !hasURL:
		return fmt.Errorf("it has no url, though its type says that it is remote")
	case hasCommand && hasURL && transport == "":
		return fmt.Errorf("it has a command and a url, and no type that says which counts")
	case hasCommand && hasURL && transport == "stdio":
		e.url, e.headers = nil, nil
		e.note("the url was left out, since its type is %q", transport)
	case hasCommand && hasURL:
		e.command, e.env, e.cwd = nil, nil, nil
		e.note("the command was left out, since its type is %q", transport)
	}
	if len(e.url) > 0 {
		if len(e.env) > 0 {
			e.env = nil
			e.note("env was left out: a remote server has no environment of ours")
		}
		if err := e.reach(transport); err != nil {
			return err
		}
	} else if len(e.headers) > 0 {
		e.headers = nil
		e.note("headers were left out: a program has none")
	}
	e.rest()
	return e.checkZero()
}

// kind reads the type of the server.
func (e *entry) kind() (string, error) {
	v := e.take("type", "transport", "transportType")
	if v == nil {
		return "", nil
	}
	if v.kind == objectKind { // {"transport": {"type": "stdio"}}
		v = v.get("type")
	}
	switch strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(text(v))) {
	case "stdio", "local", "command":
		return "stdio", nil
	case "http", "https", "streamablehttp", "streamable", "remote":
		return "streamable-http", nil
	case "sse", "httpsse":
		return "sse", nil
	case "ws", "websocket":
		return "", fmt.Errorf("its type is %q, and Aurora does not speak MCP over WebSocket", brief(text(v)))
	}
	return "", fmt.Errorf("its type %q is unknown; there are stdio, http and sse", brief(text(v)))
}

// m returns the first of several members that an object has.
func m(v *value, names ...string) *value {
	for _, name := range names {
		if found := v.get(name); found != nil {
			return found
		}
	}
	return nil
}

// environment reads the variables of an env file beside those of env, which win.
func (e *entry) environment() error {
	v := e.take("envFile")
	if v == nil {
		return nil
	}
	p, err := e.understand(text(v), true)
	if err != nil {
		return err
	}
	path, ok := p.plain()
	if !ok || path == "" {
		return fmt.Errorf("its envFile is not the path of a file")
	}
	if !isAbsolute(path) && e.workspace == "" {
		return fmt.Errorf("its envFile %q is relative to a folder that is not known here; write its whole path", brief(path))
	}
	content, err := e.read(e.path(path))
	if err != nil {
		return fmt.Errorf("its envFile %s cannot be read", brief(path))
	}
	values, err := e.envFile(content)
	if err != nil {
		return fmt.Errorf("its envFile %s: %w", brief(path), err)
	}
	var names []string
	for name := range values {
		if !slices.ContainsFunc(e.env, func(n named) bool { return n.name == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := values[name]
		p := phrase{{literal: value}}
		if isSecret(name, value) || strings.Contains(value, "${") { // nothing is expanded in an env file
			p = phrase{{secret: value, suggest: screaming(name)}}
		}
		if value == "" {
			p = nil
		}
		e.env = append(e.env, named{name, p})
	}
	e.note("of %s it got %s; later changes of that file do not count", brief(path), count(len(names), "variable"))
	return nil
}

// variables reads env.
func (e *entry) variables(v *value) error {
	switch {
	case v == nil || v.kind == nullKind:
		return nil
	case v.kind == listKind: // ["NAME=value"]
		for _, item := range v.items {
			name, value, ok := strings.Cut(text(item), "=")
			if !ok {
				return fmt.Errorf("its env is a list of something else than NAME=value")
			}
			if err := e.variable(name, value); err != nil {
				return err
			}
		}
		return nil
	case v.kind != objectKind:
		return fmt.Errorf("its env is %s", v.kind)
	}
	for i, m := range v.members {
		switch {
		case slices.ContainsFunc(v.members[i+1:], func(later member) bool { return later.name == m.name }):
		case m.value.kind == objectKind || m.value.kind == listKind:
			return fmt.Errorf("the value of %s in its env is %s", brief(m.name), m.value.kind)
		case m.value.kind == nullKind:
			e.note("env %s was left out: it has no value", brief(m.name))
		default:
			if err := e.variable(m.name, m.value.text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *entry) variable(name, value string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%q in its env is not the name of a variable", brief(name))
	}
	var spans []span
	suggest := screaming(name)
	if isSecret(name, value) {
		if spans = urlSecrets(value); len(spans) == 0 {
			spans = []span{{0, len(value), suggest}}
		}
		e.example(name, value)
	}
	p, err := e.carve(value, spans, false)
	if err != nil {
		return fmt.Errorf("env %s: %w", brief(name), err)
	}
	if len(p) == 1 && p[0].input != "" {
		p[0].suggest = suggest
	}
	e.env = append(e.env, named{name, p})
	return nil
}

// example notes that a secret is none yet.
func (e *entry) example(name, value string) {
	if placeholder.MatchString(value) {
		e.note("the value of %s looks like an example; write the real one into .env", brief(name))
	}
}

// switches reads what is switched off, and limits.
func (e *entry) switches() error {
	if v := e.take("disabled"); v != nil {
		e.disabled = e.disabled || v.kind == boolKind && v.text == "true"
	}
	if v := e.take("enabled"); v != nil {
		e.disabled = e.disabled || v.kind == boolKind && v.text == "false"
	}
	if v := e.take("isActive"); v != nil {
		e.disabled = e.disabled || v.kind == boolKind && v.text == "false"
	}
	if v := e.take("disabledTools", "excludeTools"); v != nil {
		names, err := e.words("disabledTools", v)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name != "" && !strings.Contains(name, "*") && !slices.Contains(e.toolsOff, name) {
				e.toolsOff = append(e.toolsOff, name)
			}
		}
	}
	cline := e.of.get("autoApprove") != nil || e.of.get("alwaysAllow") != nil || e.of.get("disabled") != nil
	if v := e.take("autoApprove", "alwaysAllow"); v != nil && (len(v.items) > 0 || v.text == "true") {
		e.note("that %s may run without asking was not taken over; here the risk of a tool decides (permissions.tools, and policy in aurora.yml)", toolNames(v))
	}
	if v := e.take("timeout"); v != nil {
		seconds, err := strconv.Atoi(v.text)
		if cline && err == nil && 1 <= seconds && seconds <= 3600 {
			e.callTimeout = seconds
		} else {
			e.note("timeout %s was left out, since clients do not agree on its unit; write call_timeout_seconds or health_timeout_seconds", brief(v.text))
		}
	}
	e.description = strings.TrimSpace(text(e.take("description")))
	return nil
}

func toolNames(v *value) string {
	var names []string
	for _, item := range v.items {
		names = append(names, brief(item.text))
	}
	if len(names) == 0 {
		return "its tools"
	}
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}

// decoration are members that change nothing.
var decoration = []string{
	"name", "title", "displayName", "id", "version", "gallery", "source", "author", "homepage", "icon", "logoUrl", "tags",
	"provider", "providerUrl", "registryUrl", "$schema", "_comment", "comment", "dev", "watchPaths", "isBuiltin", "installed",
	"description", "tools_count", "longRunning", "remote_configured",
}

// rest names what was not understood.
func (e *entry) rest() {
	for _, m := range e.of.members {
		empty := m.value.kind == nullKind || m.value.kind == listKind && len(m.value.items) == 0 || m.value.kind == objectKind && len(m.value.members) == 0
		switch {
		case e.seen[m.name], empty, slices.Contains(decoration, m.name), strings.HasPrefix(m.name, "//"):
		case m.name == "oauth" || m.name == "auth" || m.name == "authorization":
			e.note("%s was left out; a token can stand in headers", m.name)
		case m.name == "settings":
			e.note("settings was left out: only its extension in Zed understands it")
		default:
			e.note("%s was left out: it has no counterpart here", brief(m.name))
		}
		e.seen[m.name] = true
	}
}

// checkZero refuses what no program and no header can hold.
func (e *entry) checkZero() error {
	all := slices.Concat(e.command, []phrase{e.cwd, e.url})
	for _, n := range slices.Concat(e.env, e.headers) {
		all = append(all, n.phrase)
	}
	for _, p := range all {
		for _, part := range p {
			if strings.Contains(part.literal+part.secret, "\x00") {
				return fmt.Errorf("a text in it holds a zero byte")
			}
		}
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
