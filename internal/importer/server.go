package importer

import (
	"fmt"
	"path/filepath"
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

// program reads command, args and cwd.
func (e *entry) program() error {
	v := e.take("command")
	args := e.take("args", "arguments")
	env := e.take("env", "environment")
	if v != nil && v.kind == objectKind { // as Zed wrote it
		for _, m := range v.members {
			switch m.name {
			case "path", "command":
			case "args":
				args = m.value
			case "env":
				env = m.value
			default:
				e.note("%s was left out: it has no counterpart here", brief("command."+m.name))
			}
		}
		if v = m(v, "path", "command"); v == nil {
			return fmt.Errorf("its command names no program")
		}
	}
	e.seen["env"] = true
	if err := e.variables(env); err != nil {
		return err
	}
	words, err := e.words("command", v)
	if err != nil {
		return err
	}
	more, err := e.words("args", args)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		if len(more) > 0 {
			return fmt.Errorf("it has args but no command")
		}
		return nil
	}
	if v.kind == stringKind && strings.ContainsAny(words[0], " \t") && !e.exists(e.path(words[0])) && !strings.Contains(words[0], "${") {
		split, ok := splitWords(words[0])
		if !ok {
			return fmt.Errorf("a quote in its command is not closed")
		}
		if words, err = e.assignments(split); err != nil {
			return err
		}
		e.note("the command was one text and is a list now: %s", brief(strings.Join(withoutSecrets(words), " ")))
	}
	words = append(words, more...)
	if base := strings.ToLower(filepath.Base(strings.ReplaceAll(words[0], `\`, "/"))); (base == "cmd" || base == "cmd.exe") && len(words) > 2 && strings.EqualFold(words[1], "/c") {
		words = words[2:]
		e.note("cmd /c was left out: Aurora finds programs on Windows by itself")
	}
	if err := e.folder(words); err != nil {
		return err
	}
	before := ""
	for i, word := range words {
		var spans []span
		if i > 0 {
			spans = argumentSecrets(before, word)
		}
		p, err := e.carve(word, spans, true)
		if err != nil {
			return err
		}
		e.command = append(e.command, p)
		before = word
	}
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(words[0])), ".exe") {
	case "npx", "bunx", "uvx", "pipx", "docker", "podman", "npm", "pnpm", "yarn", "bun", "uv", "deno":
		e.slowStart = true
	}
	return nil
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

// words reads a text or a list of texts. Numbers and truth values are texts, too.
func (e *entry) words(name string, v *value) ([]string, error) {
	switch {
	case v == nil || v.kind == nullKind:
		return nil, nil
	case v.kind == stringKind && name == "args":
		return nil, fmt.Errorf("its args are a text, not a list")
	case v.kind == stringKind && strings.TrimSpace(v.text) == "":
		return nil, nil
	case v.kind == stringKind:
		return []string{v.text}, nil
	case v.kind != listKind:
		return nil, fmt.Errorf("its %s is %s", name, v.kind)
	}
	var words []string
	for _, item := range v.items {
		if item.kind == listKind || item.kind == objectKind || item.kind == nullKind {
			return nil, fmt.Errorf("its %s holds %s", name, item.kind)
		}
		words = append(words, item.text)
	}
	return words, nil
}

// assignments takes what a shell would take for variables, NAME=VALUE before the
// program, off a command, and sets them. What env says of a name counts.
func (e *entry) assignments(words []string) ([]string, error) {
	for len(words) > 1 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok || !variableName.MatchString(name) {
			break
		}
		if !slices.ContainsFunc(e.env, func(n named) bool { return n.name == name }) {
			if err := e.variable(name, value); err != nil {
				return nil, err
			}
		}
		words = words[1:]
	}
	return words, nil
}

// splitWords splits a command as a shell would, as far as quotes and blanks go.
func splitWords(text string) ([]string, bool) {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}

// withoutSecrets returns words with secrets hidden, for a note.
func withoutSecrets(words []string) []string {
	shown := slices.Clone(words)
	for i := 1; i < len(words); i++ {
		for _, s := range slices.Backward(argumentSecrets(words[i-1], words[i])) {
			shown[i] = shown[i][:s.start] + "…" + shown[i][s.end:]
		}
	}
	return shown
}

// folder reads cwd. Clients run a project's servers in its folder; that is said
// only where it matters: where a word of the command is a file in it.
func (e *entry) folder(words []string) error {
	if v := e.take("cwd", "workingDirectory", "working_directory"); v != nil {
		if v.kind != stringKind {
			return fmt.Errorf("its cwd is %s", v.kind)
		}
		p, err := e.understand(v.text, true)
		if err != nil {
			return err
		}
		if plain, ok := p.plain(); ok && !isAbsolute(plain) {
			if e.workspace == "" {
				return fmt.Errorf("its cwd %q is relative to a folder that is not known here; write its whole path", brief(plain))
			}
			p = phrase{{literal: filepath.Join(e.workspace, plain)}}
		}
		e.cwd = p
		if dir, ok := p.plain(); ok && isRelativeProgram(words[0]) {
			words[0] = filepath.Join(dir, words[0])
		}
		return nil
	}
	if e.workspace == "" {
		return nil
	}
	for i, word := range words {
		if strings.Contains(word, "${") || isAbsolute(word) || i > 0 && !strings.Contains(word, ".") || i == 0 && !strings.ContainsAny(word, `/\`) {
			continue
		}
		if e.exists(filepath.Join(e.workspace, word)) {
			e.cwd = phrase{{literal: e.workspace}}
			break
		}
	}
	if isRelativeProgram(words[0]) {
		words[0] = filepath.Join(e.workspace, words[0])
	}
	return nil
}

func isRelativeProgram(word string) bool {
	return strings.ContainsAny(word, `/\`) && !isAbsolute(word) && !strings.Contains(word, "${")
}

// path makes a path of the file absolute, roughly: to see whether there is a file.
func (e *entry) path(name string) string {
	if e.workspace == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.workspace, name)
}

func isAbsolute(path string) bool {
	return filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) || drive(path)
}

// drive tells whether a path begins with the letter of a drive.
func drive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
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

// address reads url and headers.
func (e *entry) address() error {
	if v := e.take(urlNames...); v != nil {
		if v.kind != stringKind {
			return fmt.Errorf("its url is %s", v.kind)
		}
		raw := strings.TrimSpace(v.text)
		spans := urlSecrets(raw)
		for _, s := range spans {
			e.example("the url", raw[s.start:s.end])
		}
		var err error
		if e.url, err = e.carve(raw, spans, false); err != nil {
			return fmt.Errorf("url: %w", err)
		}
	}
	v := e.take("headers", "requestHeaders")
	if v == nil {
		return nil
	}
	if v.kind != objectKind {
		return fmt.Errorf("its headers are %s", v.kind)
	}
	for _, m := range v.members {
		if m.value.kind == objectKind || m.value.kind == listKind || m.value.kind == nullKind {
			return fmt.Errorf("the header %s is %s", brief(m.name), m.value.kind)
		}
		value := m.value.text
		var spans []span
		if isSecret(m.name, value) {
			c := credentials(m.name, value)
			spans = []span{c}
			e.example(m.name, value[c.start:])
		}
		p, err := e.carve(value, spans, false)
		if err != nil {
			return fmt.Errorf("header %s: %w", brief(m.name), err)
		}
		e.headers = append(e.headers, named{m.name, p})
	}
	return nil
}

// reach decides how to speak with a remote server.
func (e *entry) reach(transport string) error {
	url := ""
	for _, part := range e.url {
		url += part.literal
	}
	if scheme, _, ok := strings.Cut(e.url[0].literal, ":"); e.url[0].literal != "" && (!ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")) {
		return fmt.Errorf("its url does not begin with https:// or http://")
	}
	path, _, _ := strings.Cut(url, "?")
	switch {
	case transport == "sse":
		e.transport = "sse"
	case transport == "" && strings.HasSuffix(strings.TrimSuffix(path, "/"), "/sse"):
		e.transport = "sse"
		e.note("its url ends with /sse, so it is spoken to in the old way (transport: sse)")
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(url), "http://"); ok && !isLocal(rest) {
		e.insecure = true
		e.note("its url begins with http://, so everybody on the way can read along; write https:// if the server knows it")
	}
	return nil
}

// isLocal tells whether a URL without its scheme is of this machine.
func isLocal(rest string) bool {
	host := rest
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(inner, "]")
	} else {
		host, _, _ = strings.Cut(host, ":")
	}
	return host == "" || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
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
