package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

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
