package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A source is one Go file of the module.
type source struct {
	path string // from the root of the module
	file *ast.File
	set  *token.FileSet
	test bool
	main bool
}

func (s source) place(n ast.Node) string {
	p := s.set.Position(n.Pos())
	p.Filename = s.path
	return p.String()
}

// sources parses every Go file of the module, for whatever system.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	root := filepath.FromSlash("../..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out = append(out, source{filepath.ToSlash(rel), file, set, strings.HasSuffix(path, "_test.go"), file.Name.Name == "main"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Nothing happens before main, and nothing but main ends the process.
func TestNoWorkBeforeMainAndNoEndButItsReturn(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: no work is done in init", s.place(n))
				}
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok || s.main || s.test {
					break
				}
				switch call := x.Name + "." + n.Sel.Name; call {
				case "log.Fatal", "log.Fatalf", "log.Fatalln", "os.Exit":
					if !mayExit(s.path) {
						t.Errorf("%s: %s ends the process; return an error instead", s.place(n), call)
					}
				}
			}
			return true
		})
	}
}

// mayExit lists the files that end a process on purpose: scripted servers whose
// script says so, and the second Ctrl-C.
func mayExit(path string) bool {
	return strings.HasPrefix(path, "internal/testkit/") || path == "internal/cli/signals.go"
}

// notes are words that stand for work left undone.
var notes = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestNoWorkIsLeftUndone(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			if s.path != "internal/house/code_test.go" && notes.MatchString(group.Text()) {
				t.Errorf("%s: %s", s.place(group), strings.TrimSpace(group.Text()))
			}
		}
	}
}

// What others can use, others can read about.
func TestExportedThingsAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.main {
			continue
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && !obvious(d) {
					t.Errorf("%s: %s has no comment", s.place(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					name, doc := "", d.Doc
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						name = spec.Name.Name
						if spec.Doc != nil {
							doc = spec.Doc
						}
					case *ast.ValueSpec:
						name = spec.Names[0].Name
						if spec.Doc != nil {
							doc = spec.Doc
						} else if spec.Comment != nil {
							doc = spec.Comment
						}
					}
					if ast.IsExported(name) && doc == nil {
						t.Errorf("%s: %s has no comment", s.place(spec), name)
					}
				}
			}
		}
	}
}

// obvious reports whether a method needs no comment: it is not seen outside,
// since its type is not, or it implements an interface that everybody knows.
func obvious(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	if name, ok := typ.(*ast.Ident); ok && !name.IsExported() {
		return true
	}
	switch d.Name.Name {
	case "Error", "String", "Unwrap", "Close", "Read", "Write", "MarshalJSON", "UnmarshalJSON", "UnmarshalYAML":
		return true
	}
	return false
}
