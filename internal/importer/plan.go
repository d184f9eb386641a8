package importer

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/aurorabot/aurora/internal/config"
)

// A Source is the text that is imported.
type Source struct {
	// Path is where it comes from; empty: it does not come from a file. What is
	// relative in it is relative to the folder that the client had open, which
	// the path tells for files of projects.
	Path string
	Text []byte
}

// Options say where the servers go.
type Options struct {
	// Home is the home, with what is around it.
	Home config.Options
	// Lang is the language of the comments of a file that is made: zh or en.
	Lang string
}

// A Result is what becomes of one server.
type Result string

// The results.
const (
	Added   Result = "added"   // it becomes an app
	Present Result = "present" // there is an app that means the same
	Refused Result = "refused" // it cannot be an app
)

// An App is what becomes of one server, in the order of the source.
type App struct {
	// Name is that of the server in the source; empty: it has none.
	Name string `json:"name"`
	// Line and Column are where it stands.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Result Result `json:"result"`
	// Key and Package are those of the app; empty if it was refused.
	Key     string `json:"key"`
	Package string `json:"package"`
	// Enabled is false for an app that is added switched off, or is off already.
	Enabled bool `json:"enabled"`
	// Reason says why it was refused, or why it is off although it was on; a
	// sentence without its first word, the server.
	Reason string `json:"reason"`
	// Secrets are the variables of .env that it uses and that were added.
	Secrets []string `json:"secrets"`
	// Notes say what was changed, left out, or is to be done.
	Notes []string `json:"notes"`
}

// A Plan is an import that has not been done yet.
type Plan struct {
	Apps []App
	// Files are what [Plan.Write] writes, in its order; empty: nothing is to do.
	Files []config.Replacement
	// Entries are the lines that apps/config.yml gets.
	Entries string
	// Secrets are the names of the variables that .env gets.
	Secrets []string
}

// Refused returns how many servers were refused.
func (p *Plan) Refused() int {
	n := 0
	for _, a := range p.Apps {
		if a.Result == Refused {
			n++
		}
	}
	return n
}

// Write does the import: all of it, or nothing.
func (p *Plan) Write() error { return config.Replace(p.Files...) }

// Make works out an import. It writes nothing. The error is a [*SyntaxError] if
// the source cannot be read, a [*HomeError] if the home cannot be added to.
func Make(src Source, o Options) (*Plan, error) {
	root, err := parse(src.Text)
	if err != nil {
		return nil, err
	}
	list, inputs, err := find(root)
	if err != nil {
		return nil, err
	}
	h, err := openHome(o.Home)
	if err != nil {
		return nil, &HomeError{err.Error()}
	}
	r := newReading(src, inputs, h)
	m := &merge{home: h, options: o, from: src.Path}
	for _, f := range list {
		m.servers = append(m.servers, r.server(f))
	}
	return m.plan()
}

// A HomeError says why a home cannot be added to.
type HomeError struct{ Message string }

func (e *HomeError) Error() string { return e.Message }

func newReading(src Source, inputs *value, h *home) *reading {
	r := &reading{
		speaker: speaker{workspace: workspace(src.Path, h.outer), inputs: map[string]*value{}, separator: string(filepath.Separator)},
		read:    os.ReadFile,
		exists: func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		},
		envFile: func(text []byte) (map[string]string, error) {
			values, problems := config.ParseEnv(text)
			if len(problems) > 0 {
				return nil, errors.New(problems[0].String())
			}
			return values, nil
		},
	}
	if inputs != nil {
		for _, item := range inputs.items {
			r.inputs[text(item.get("id"))] = item
		}
	}
	return r
}

// workspace returns the folder that a client has open when it reads a file at this
// path; empty for files that are not of a project.
func workspace(path string, env map[string]string) string {
	if path == "" {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(path)
	switch filepath.Base(dir) {
	case ".vscode", ".cursor", ".roo", ".zed", ".windsurf", ".gemini", ".amazonq", ".kiro":
		dir = filepath.Dir(dir)
	default:
		if filepath.Base(path) != ".mcp.json" {
			return ""
		}
	}
	home, set := env["HOME"]
	if !set {
		home, _ = os.UserHomeDir()
	}
	if dir == filepath.Clean(home) {
		return "" // what stands there is for all projects
	}
	return dir
}
