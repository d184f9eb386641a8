package config

import (
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// connect fills in how to reach the app. What depends on this machine (programs,
// variables, folders) is a problem only if the app runs.
func (r *reader) connect(d *draft) {
	layers := d.layers()
	m := &d.app.MCP
	m.Protocol = pick(layers, "protocol", func(c *connection) string { return c.Protocol })
	m.HealthTimeout = pick(layers, "health_timeout_seconds", func(c *connection) time.Duration { return c.HealthTimeout })
	m.CallTimeout = pick(layers, "call_timeout_seconds", func(c *connection) time.Duration { return c.CallTimeout })
	m.CallMax = pick(layers, "call_max_seconds", func(c *connection) time.Duration { return c.CallMax })
	m.Insecure = pick(layers, "insecure", func(c *connection) bool { return c.Insecure })
	m.Restart = Restart{
		Enabled:     pick(layers, "restart.enabled", func(c *connection) bool { return c.Restart.Enabled }),
		MaxAttempts: pick(layers, "restart.max_attempts", func(c *connection) int { return c.Restart.MaxAttempts }),
		Backoff:     pick(layers, "restart.backoff_seconds", func(c *connection) time.Duration { return c.Restart.Backoff }),
	}
	if m.CallMax < m.CallTimeout {
		if l := first(layers, "call_max_seconds"); l != nil {
			l.src.problem(l.path("call_max_seconds"), fmt.Sprintf("is less than call_timeout_seconds, %v", m.CallTimeout), "")
		} else {
			m.CallMax = m.CallTimeout
		}
	}
	headers := r.headers(d, layers)
	transport, ok := r.transport(d, layers)
	if !ok {
		return
	}
	m.Transport = transport
	w := wiring{reader: r, draft: d, layers: layers}
	if !r.runs(d) {
		w.silent = true
	}
	if transport == Stdio {
		w.local()
	} else {
		w.remote(headers)
	}
}

// pick returns the value of a key from the strongest layer that sets it, or its
// default.
func pick[V any](layers []*layer, key string, of func(*connection) V) V {
	if l := first(layers, key); l != nil {
		return of(l.conn)
	}
	return of(layers[0].conn)
}

// readTransport knows every spelling of a transport.
func readTransport(text string) (Transport, bool) {
	switch fold(text) {
	case "stdio":
		return Stdio, true
	case "http", "streamablehttp":
		return StreamableHTTP, true
	case "sse":
		return SSE, true
	}
	return "", false
}

// transport decides how to speak with the app. The entry's own transport counts
// first, then what its command or url implies, then the manifest.
func (r *reader) transport(d *draft, layers []*layer) (Transport, bool) {
	entry, all := layers[:2], layers
	if l := first(entry, "transport"); l != nil {
		return d.named(l, layers)
	}
	command, address := first(entry, "command"), first(entry, "url")
	switch {
	case command != nil && address != nil:
		address.src.problemAtKey(address.path("url"), "the app has a command and a url", "remove one, or say which counts with transport: stdio or transport: streamable-http")
		return "", false
	case command != nil:
		return Stdio, true
	case address != nil:
		if l := first(all, "transport"); l != nil {
			if t, ok := readTransport(l.conn.Transport); ok && t != Stdio {
				return t, true
			}
		}
		return StreamableHTTP, true
	}
	if l := first(all, "transport"); l != nil {
		return d.named(l, layers)
	}
	command, address = first(all, "command"), first(all, "url")
	hasEntry := d.manifest != nil && d.manifest.file.MCP.Entry != ""
	switch {
	case command != nil || hasEntry:
		return Stdio, true
	case address != nil:
		return StreamableHTTP, true
	}
	if !d.misspelled() {
		d.src.report(d.at, "mcp.command", "the app has neither a command nor a url", r.nothingHint(d), false)
	}
	return "", false
}

// misspelled tells whether something is wrong with the app already that may be
// the reason why it has no command or url.
func (d *draft) misspelled() bool {
	return slices.ContainsFunc(*d.src.problems, func(p Problem) bool {
		if p.App != d.key || p.Warning {
			return false
		}
		first, _, _ := strings.Cut(p.Field, ".")
		return p.Message == unknownKey || slices.Contains([]string{"", "mcp", "command", "url", "manifest"}, first)
	})
}

// named reads the transport that a layer names, and warns of what it makes void.
func (d *draft) named(l *layer, layers []*layer) (Transport, bool) {
	t, ok := readTransport(l.conn.Transport)
	if !ok {
		hint := choices(l.conn.Transport, []string{string(Stdio), string(StreamableHTTP), string(SSE)})
		l.src.problem(l.path("transport"), fmt.Sprintf("unknown transport %q", brief(l.conn.Transport)), hint)
		return "", false
	}
	void := "command"
	if t == Stdio {
		void = "url"
	}
	if other := first(layers[:2], void); other != nil {
		at := other.src.keys[other.path(void)]
		other.src.report(at, other.path(void), fmt.Sprintf("has no meaning with transport: %s", l.conn.Transport), "", true)
	}
	return t, true
}

// nothingHint says what to do about an app that says nothing about itself.
func (r *reader) nothingHint(d *draft) string {
	if d.manifest != nil && d.manifest.file.Type == "legacy" {
		return "its manifest says type: legacy, which speaks no MCP"
	}
	var bundled []string
	for _, b := range r.options.Bundled {
		bundled = append(bundled, b.Key)
	}
	if near := nearest(d.key, bundled); near != "" {
		return fmt.Sprintf("did you mean the bundled app %q?", near)
	}
	for _, b := range bundled {
		if strings.HasSuffix(b, "-"+d.key) {
			return fmt.Sprintf("did you mean the bundled app %q?", b)
		}
	}
	return fmt.Sprintf("write mcp.command or mcp.url, or put a manifest at apps/%s/manifest.yaml", d.key)
}

// A wiring works out what depends on this machine.
type wiring struct {
	*reader
	*draft
	layers []*layer
	// silent keeps problems to itself, because the app does not run.
	silent bool
}

func (w *wiring) problem(src *source, path, message, hint string) {
	if !w.silent {
		src.problem(path, message, hint)
	}
}

// faults reports what is wrong with the expansions of one field.
func (w *wiring) faults(src *source, path string, faults []fault) bool {
	for _, f := range faults {
		w.problem(src, path, f.message, f.hint)
	}
	return len(faults) > 0
}

// missing reports that the transport needs a key that nobody sets.
func (w *wiring) missing(key, hint string) {
	l := first(w.layers, "transport")
	l.src.report(l.src.place(l.path("transport")), l.path(key), "is missing", hint, false)
}

// local works out command, working directory and environment of a child.
func (w *wiring) local() {
	m := &w.app.MCP
	m.Dir = w.folder()
	m.Env = w.environment()
	m.Command = w.command()
	if len(m.Command) > 0 {
		addArgumentSecrets(w.config.Redact, m.Command[1:])
	}
}

func (w *wiring) folder() string {
	home := w.config.Home.Dir
	l := first(w.layers, "cwd")
	if l == nil || l.conn.Cwd == "" {
		return home
	}
	at := l.path("cwd")
	value, faults := w.expand.word(l.conn.Cwd)
	if w.faults(l.src, at, faults) {
		return home
	}
	dir := w.expand.path("", value)
	if info, err := os.Stat(dir); err != nil {
		w.problem(l.src, at, "the working directory "+dir+" cannot be used: "+reason(err), "relative paths start from the home folder")
	} else if !info.IsDir() {
		w.problem(l.src, at, "the working directory "+dir+" is not a folder", "")
	}
	return dir
}

// environment returns the complete environment of the child, sorted: the safe
// part of ours, what every app gets, the manifest's, the entry's.
func (w *wiring) environment() []string {
	settings := &w.config.Settings
	env := w.safe.clone()
	env.set("AURORA_APP_PACKAGE", w.app.Package)
	env.set("AURORA_APP_DATA_DIR", w.config.Home.AppData(w.key))
	env.set("AURORA_APP_STARTUP", string(w.app.Startup))
	env.set("AURORA_USER_TZ", settings.User.TimeZone)
	env.set("AURORA_USER_LANG", settings.User.Language)
	env.set("PYTHONUTF8", "1")
	for _, l := range slices.Backward(w.layers) {
		for _, name := range sortedKeys(l.conn.Env) {
			at := l.path("env") + "." + name
			value, faults := w.expand.expand(l.conn.Env[name])
			if w.faults(l.src, at, faults) {
				continue
			}
			if name == "" || strings.ContainsAny(name, "=\x00") {
				l.src.problemAtKey(at, "is not the name of a variable", "")
				continue
			}
			if strings.Contains(value, "\x00") {
				w.problem(l.src, at, "the value holds a zero byte", "")
				continue
			}
			if soundsSecret(name) && !isExistingPath(value) {
				w.config.Redact.Add(value)
			}
			if (name == "AURORA_APP_CONFIG" || name == "AURORA_APP_DATA_DIR") && value != "" {
				value = w.expand.path(l.conn.Env[name], value)
			}
			env.set(name, value)
		}
	}
	return env.list()
}

// command returns the program and its arguments.
func (w *wiring) command() []string {
	l, at := first(w.layers, "command"), ""
	var words []string
	var ok bool
	var program string // as it is written, for hints
	switch {
	case l != nil:
		at = l.path("command")
		words, ok = w.words(l, at)
		if len(l.conn.Command.words) > 0 {
			program = l.conn.Command.words[0]
		}
	case w.manifest != nil && w.manifest.file.MCP.Entry != "":
		l = w.layers[len(w.layers)-1]
		at = "mcp.entry"
		words, ok = w.entryWords()
		program = words[0]
	default:
		w.missing("command", "write the program and its arguments as a list")
		return nil
	}
	// Arguments belong to the command of their own layer or of a weaker one.
	if a := first(w.layers, "args"); a != nil && w.strength(a) <= w.strength(l) {
		for i, arg := range a.conn.Args {
			value, faults := w.expand.word(arg)
			w.faults(a.src, fmt.Sprintf("%s[%d]", a.path("args"), i), faults)
			words = append(words, value)
		}
	}
	if !ok || len(words) == 0 {
		return words
	}
	for i, word := range words {
		if strings.Contains(word, "\x00") {
			w.problem(l.src, at, fmt.Sprintf("word %d holds a zero byte", i+1), "")
			return words
		}
	}
	if program == "aurora" && w.options.Self != "" {
		words[0] = w.options.Self
		return words
	}
	if hasSeparator(words[0]) && !filepath.IsAbs(words[0]) {
		words[0] = filepath.Join(w.config.Home.Dir, words[0])
	}
	found, err := w.options.LookPath(words[0], w.app.MCP.Env, w.app.MCP.Dir)
	if err != nil {
		w.problem(l.src, at, "the command cannot be run: "+notFound(err), programHint(words[0], err))
		return words
	}
	words[0] = found
	return words
}

// notFound returns the text of a look-up error without what Go adds to it.
func notFound(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+fs.ErrNotExist.Error())
	return strings.TrimSuffix(text, ": "+fs.ErrPermission.Error())
}

// strength is 0 for the entry in apps/config.yml, in either spelling, and 1 for
// the manifest.
func (w *wiring) strength(l *layer) int {
	if l.src == w.src {
		return 0
	}
	return 1
}

// expansionForm finds expansions roughly, to see whether there are blanks beside them.
var expansionForm = regexp.MustCompile(`\$\{[^}]*\}`)

// words expands the command of a layer. It tells whether the program is known.
func (w *wiring) words(l *layer, at string) ([]string, bool) {
	line := l.conn.Command
	if len(line.words) == 0 || line.words[0] == "" {
		w.problem(l.src, at, "is empty", "write the program and its arguments as a list")
		return nil, false
	}
	ok := true
	words := make([]string, 0, len(line.words))
	for i, word := range line.words {
		value, faults := w.expand.word(word)
		field := at
		if !line.text {
			field = fmt.Sprintf("%s[%d]", at, i)
		}
		if w.faults(l.src, field, faults) && i == 0 {
			ok = false
		}
		words = append(words, value)
	}
	if ok && words[0] == "" {
		w.problem(l.src, at, "the program is an empty text", "")
		return words, false
	}
	if ok && line.text && strings.ContainsAny(expansionForm.ReplaceAllString(line.words[0], "x"), " \t\n") {
		if path := w.expand.path("", words[0]); exists(path) {
			words[0] = path
		} else {
			list := quoteWords(strings.Fields(line.words[0]))
			l.src.problem(at, "is neither one word nor an existing file", "write it as a list: ["+strings.Join(list, ", ")+"]")
			return words, false
		}
	}
	return words, ok
}

// quoteWords puts those words in quotes that YAML would not read as text.
func quoteWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if strings.ContainsAny(word, `,[]{}&*#?|<>=!%@:"'`+"`$\\") || strings.HasPrefix(word, "-") {
			quoted[i] = fmt.Sprintf("%q", word)
		}
	}
	return quoted
}

// entryWords returns the command for the entry of a manifest.
func (w *wiring) entryWords() ([]string, bool) {
	file := w.manifest.file.MCP.Entry
	if !filepath.IsAbs(file) {
		file = filepath.Join(w.manifest.folder, file)
	}
	if info, err := os.Stat(file); err != nil {
		w.problem(w.manifest.src, "mcp.entry", "the entry "+w.shown(file)+" cannot be read: "+reason(err), "it is relative to the folder of the manifest")
		return []string{file}, false
	} else if info.IsDir() {
		w.problem(w.manifest.src, "mcp.entry", "the entry "+w.shown(file)+" is a folder", "")
		return []string{file}, false
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".py":
		return []string{pythonProgram, file}, true
	case ".js", ".mjs", ".cjs":
		return []string{"node", file}, true
	}
	return []string{file}, true
}

// remote works out URL and headers of a remote server.
func (w *wiring) remote(headers map[string]string) {
	m := &w.app.MCP
	m.Headers = headers
	l := first(w.layers, "url")
	if l == nil {
		w.missing("url", "write the address of the server")
		return
	}
	at := l.path("url")
	value, faults := w.expand.expand(l.conn.URL)
	if w.faults(l.src, at, faults) {
		return
	}
	value = strings.TrimSpace(value)
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		hint := "it looks like https://host/mcp"
		if err == nil && u.Scheme == "" && value != "" {
			hint = "it begins with https:// or http://"
		}
		w.problem(l.src, at, "is not an address", hint)
		return
	}
	addURLSecrets(w.config.Redact, u)
	switch strings.ToLower(u.Scheme) {
	case "https":
	case "http":
		if !m.Insecure && !isLoopback(u.Hostname()) {
			w.problem(l.src, at, "http:// to another machine can be read and changed on the way", "write https://, or insecure: true if the way is safe")
		}
	case "ws", "wss":
		w.problem(l.src, at, "MCP is not spoken over WebSocket", "ask for the server's http address")
	default:
		w.problem(l.src, at, fmt.Sprintf("unknown scheme %s://", u.Scheme), "write https:// or http://")
	}
	m.URL = value
}

// isLoopback tells whether a host is this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ownHeaders are set by Aurora in each request, by the rules of MCP and HTTP.
var ownHeaders = []string{
	"accept", "connection", "content-length", "content-type", "host", "last-event-id",
	"mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "transfer-encoding",
}

// headers joins and expands the headers of all layers, by canonical spelling.
func (r *reader) headers(d *draft, layers []*layer) map[string]string {
	w := wiring{reader: r, draft: d, layers: layers, silent: !r.runs(d)}
	joined := map[string]string{}
	for _, l := range slices.Backward(layers) {
		spelled := map[string]string{}
		for _, name := range sortedKeys(l.conn.Headers) {
			at := l.path("headers") + "." + name
			folded := strings.ToLower(name)
			if other, twice := spelled[folded]; twice {
				l.src.problemAtKey(at, fmt.Sprintf("is the same header as %q", other), "keep one of the two")
				continue
			}
			spelled[folded] = name
			switch {
			case !isHeaderName(name):
				l.src.problemAtKey(at, "is not the name of a header", "a name has letters, digits and - only")
				continue
			case slices.Contains(ownHeaders, folded):
				l.src.report(l.src.keys[at], at, "is set by Aurora itself; this one is not sent", "", true)
				continue
			}
			value, faults := w.expand.expand(l.conn.Headers[name])
			if w.faults(l.src, at, faults) {
				continue
			}
			addHeaderSecret(r.config.Redact, name, value)
			value = strings.TrimSpace(value)
			if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				w.problem(l.src, at, "the value holds a line end or another control character", "")
				continue
			}
			for present := range joined {
				if strings.EqualFold(present, name) {
					delete(joined, present)
				}
			}
			joined[name] = value
		}
	}
	if len(joined) == 0 {
		return nil
	}
	return joined
}

// isHeaderName knows the tokens of RFC 9110, section 5.6.2.
func isHeaderName(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}
