package testkit

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/txtar"
)

// An Archive is a txtar file: prose, then named sections.
type Archive struct {
	Path    string
	Comment string
	files   []section
}

type section struct {
	name string
	text string
	line int // of the first line of text, counted from 1
}

// Load reads the archive at path.
func Load(path string) (*Archive, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("testkit: %w", err)
	}
	return ParseArchive(path, data), nil
}

// ParseArchive returns the archive in data; path is for messages only.
func ParseArchive(path string, data []byte) *Archive {
	tx := txtar.Parse(data)
	a := &Archive{Path: path, Comment: string(tx.Comment)}
	line := 1 + strings.Count(a.Comment, "\n")
	for _, f := range tx.Files {
		a.files = append(a.files, section{f.Name, string(f.Data), line + 1})
		line += 1 + strings.Count(string(f.Data), "\n")
	}
	return a
}

// Section returns the text of the section called name and the line of the
// archive on which it begins.
func (a *Archive) Section(name string) (text string, line int, ok bool) {
	for _, s := range a.files {
		if s.name == name {
			return s.text, s.line, true
		}
	}
	return "", 0, false
}

// Sections returns the names of all sections in order.
func (a *Archive) Sections() []string {
	var names []string
	for _, s := range a.files {
		names = append(names, s.name)
	}
	return names
}

const serverPrefix = "server: "

// Servers returns the names of the scripts in the archive, in order.
func (a *Archive) Servers() []string {
	var names []string
	for _, s := range a.files {
		if name, ok := strings.CutPrefix(s.name, serverPrefix); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// Server returns the script in the section "server: NAME".
func (a *Archive) Server(name string) (*Script, error) {
	for _, s := range a.files {
		if n, ok := strings.CutPrefix(s.name, serverPrefix); ok && strings.TrimSpace(n) == name {
			return parse(a.Path, name, s.text, s.line)
		}
	}
	return nil, fmt.Errorf("testkit: %s: no section %q; there are %s", a.Path, serverPrefix+name, strings.Join(a.Sections(), ", "))
}

// Open returns the script that ref names: "FILE#NAME" for one server of an
// archive, "FILE" for a plain script or for an archive that holds one server.
func Open(ref string) (*Script, error) {
	path, name, named := strings.Cut(ref, "#")
	a, err := Load(path)
	if err != nil {
		return nil, err
	}
	if named {
		return a.Server(name)
	}
	switch servers := a.Servers(); {
	case len(a.files) == 0:
		return Parse(path, a.Comment)
	case len(servers) == 1:
		return a.Server(servers[0])
	default:
		return nil, fmt.Errorf("testkit: %s holds %d servers; write %s#NAME", path, len(servers), path)
	}
}
