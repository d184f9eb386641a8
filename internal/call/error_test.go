package call

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Every code is stable and has a section in the manual, and the manual has no
// code that does not exist.
func TestEveryCodeIsInTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	inManual := map[string]bool{}
	for line := range strings.Lines(string(manual)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			inManual[strings.TrimSpace(name)] = true
		}
	}
	for _, code := range codes(t) {
		if !inManual[code] {
			t.Errorf("docs/errors.md has no section %s", code)
		}
		if !strings.Contains(string(manual), "| [`"+code+"`](#"+strings.ToLower(code)+")") {
			t.Errorf("the table of docs/errors.md has no row for %s", code)
		}
		delete(inManual, code)
	}
	for code := range inManual {
		t.Errorf("docs/errors.md describes %s, which does not exist", code)
	}
}

// codes reads the constants of type Code out of the source.
func codes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		for _, v := range spec.Values {
			code, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, code)
		}
		return true
	})
	if len(found) == 0 {
		t.Fatal("no codes found")
	}
	return found
}
