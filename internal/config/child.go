package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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
			if SoundsSecret(name) && !isExistingPath(value) {
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
	if w.options.LookPath == nil {
		return words
	}
	found, err := w.options.LookPath(words[0], w.app.MCP.Env, w.app.MCP.Dir)
	if err != nil {
		message, hint := explainProgram(words[0], err)
		w.problem(l.src, at, message, hint)
		return words
	}
	words[0] = found
	return words
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
			list := quoteWords(shellWords(line.words[0]))
			l.src.problem(at, "is neither one word nor an existing file", "write it as a list: ["+strings.Join(list, ", ")+"]")
			return words, false
		}
	}
	return words, ok
}

// shellWords cuts a line into words as people mean it who know a shell: at
// blanks outside quotes, which go.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune // 0: outside
	open := false  // a word has begun, be it empty
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

// quoteWords puts those words in quotes that YAML would not read as text.
func quoteWords(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, ` ,[]{}&*#?|<>=!%@:"'`+"`$\\") || strings.HasPrefix(word, "-") {
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
		return []string{variables.python, file}, true
	case ".js", ".mjs", ".cjs":
		return []string{"node", file}, true
	}
	return []string{file}, true
}
