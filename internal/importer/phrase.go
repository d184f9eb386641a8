package importer

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aurorabot/aurora/internal/short"
)

// A phrase is a text of a foreign configuration, understood: what stands for
// itself, what stands for something else, and what is a secret.
type phrase []part

// A part is one of: a literal, a variable, an input, a secret.
type part struct {
	literal string
	// variable is what stands between ${ and } in our files, but for a default.
	variable string
	// fallback is what the variable is when it is not set; nil: it must be set.
	fallback phrase
	// input is the name of a question that the client asks its user.
	input string
	// secret is what goes to .env and is referred to. A text that our files would
	// take for a variable goes there, too.
	secret string
	// suggest is a name for the secret or the input.
	suggest string
}

// plain returns the text of a phrase that stands for itself.
func (p phrase) plain() (string, bool) {
	var b strings.Builder
	for _, part := range p {
		if part.literal == "" {
			return "", false
		}
		b.WriteString(part.literal)
	}
	return b.String(), true
}

// A speaker understands texts of one file, or of one project in it.
type speaker struct {
	// workspace is the folder that the client has open; empty: not known.
	workspace string
	inputs    map[string]*value // those that the file declares, by id
	separator string            // of paths
}

// variableName is the form of our variables.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// editorOnly are variables that mean something only inside an editor.
var editorOnly = regexp.MustCompile(`^(?:command|config|file\w*|relativeFile\w*|selectedText|lineNumber|columnNumber|exec\w+|extension\w*|defaultBuildTask|activeEditor\w*)(?::|$)`)

// understand reads a text. tilde tells whether "~/" at its beginning means the
// folder of the user in our files.
func (s *speaker) understand(raw string, tilde bool) (phrase, error) {
	var p phrase
	if rest, ok := strings.CutPrefix(raw, "${userHome}"); ok && tilde && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		p, raw = append(p, part{literal: "~"}), rest
	}
	for raw != "" {
		start := strings.Index(raw, "${")
		if start != 0 {
			literal := raw
			if start > 0 {
				literal = raw[:start]
			}
			p = append(p, part{literal: literal})
			raw = raw[len(literal):]
			continue
		}
		end := closing(raw[2:])
		if end < 0 {
			p = append(p, part{secret: raw, suggest: "TEXT"})
			break
		}
		one, err := s.reference(raw[2 : 2+end])
		if err != nil {
			return nil, err
		}
		p = append(p, one)
		raw = raw[2+end+1:]
	}
	return p, nil
}

// closing returns the index of the brace that closes a variable, or -1.
func closing(text string) int {
	open := 1
	for i := range len(text) {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			open++
		case text[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// reference understands what stands between ${ and }.
func (s *speaker) reference(inside string) (part, error) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	name = strings.TrimPrefix(name, "env:")
	if variableName.MatchString(name) && !isEditorWord(name) {
		v := part{variable: name}
		if hasFallback {
			var err error
			if v.fallback, err = s.understand(fallback, false); err != nil {
				return part{}, err
			}
			if v.fallback == nil {
				v.fallback = phrase{}
			}
		}
		return v, nil
	}
	word, rest, _ := strings.Cut(inside, ":")
	switch {
	case word == "input":
		return s.input(rest)
	case inside == "userHome":
		return part{variable: "HOME"}, nil
	case inside == "/", inside == "pathSeparator":
		return part{literal: s.separator}, nil
	case word == "workspaceFolder", word == "workspaceRoot", inside == "workspacePath", inside == "cwd":
		if s.workspace == "" {
			return part{}, fmt.Errorf("${%s} is a folder that the editor has open, which is not known here; write its path", brief(inside))
		}
		return part{literal: s.workspace}, nil
	case inside == "workspaceFolderBasename":
		if s.workspace == "" {
			return part{}, fmt.Errorf("${%s} is a folder that the editor has open, which is not known here; write its name", brief(inside))
		}
		return part{literal: filepath.Base(s.workspace)}, nil
	case word == "file" && rest != "":
		if !filepath.IsAbs(rest) && !strings.HasPrefix(rest, "~/") {
			if s.workspace == "" {
				return part{}, fmt.Errorf("${%s} names a file relative to a folder that is not known here; write its whole path", brief(inside))
			}
			rest = filepath.Join(s.workspace, rest)
		}
		return part{variable: "file:" + rest}, nil
	case editorOnly.MatchString(inside):
		return part{}, fmt.Errorf("${%s} means something only inside the editor", brief(inside))
	}
	return part{secret: "${" + inside + "}", suggest: "TEXT"}, nil
}

// input understands a question that the client asks its user.
func (s *speaker) input(id string) (part, error) {
	p := part{input: id, suggest: screaming(id)}
	declared := s.inputs[id]
	if text(declared.get("type")) == "command" {
		return p, fmt.Errorf("${input:%s} is answered by a command of the editor", brief(id))
	}
	if usual := text(declared.get("default")); usual != "" && !strings.ContainsAny(usual, "{}") {
		p.fallback = phrase{{literal: usual}}
	}
	return p, nil
}

func isEditorWord(name string) bool {
	switch name {
	case "userHome", "pathSeparator", "workspaceFolder", "workspaceRoot", "workspacePath", "workspaceFolderBasename", "cwd":
		return true
	}
	return editorOnly.MatchString(name)
}

// A span is a part of a text that is a secret.
type span struct {
	start, end int
	suggest    string // a name for it
}

// carve understands a text of which some spans are secrets.
func (s *speaker) carve(raw string, secrets []span, tilde bool) (phrase, error) {
	var p phrase
	last := 0
	literal := func(to int) error {
		if to <= last {
			return nil
		}
		more, err := s.understand(raw[last:to], tilde && last == 0)
		p = append(p, more...)
		return err
	}
	for _, secret := range secrets {
		value := raw[secret.start:secret.end]
		if value == "" || secret.start < last || strings.Contains(value, "${") {
			continue // it refers to a secret, and is none
		}
		if err := literal(secret.start); err != nil {
			return nil, err
		}
		p = append(p, part{secret: value, suggest: secret.suggest})
		last = secret.end
	}
	if err := literal(len(raw)); err != nil {
		return nil, err
	}
	return p, nil
}

// brief shortens a text for a message.
func brief(text string) string { return short.Runes(text, 60) }
