package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// structs are the struct types of a package, by name.
type structs map[string]*ast.StructType

// parseStructs reads the Go files of a folder, tests aside.
func parseStructs(dir string) (structs, error) {
	all := structs{}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return all, nil
}

// A row is one key of a file.
type row struct {
	key     string
	kind    ast.Expr
	tag     reflect.StructTag
	comment string
}

// tablesElsewhere are structs that have their table in the text of the page, or
// among the keys of another struct.
var tablesElsewhere = []string{"mcpEntry", "manifestMCP", "manifestTool", "Model"}

// ownTables are the structs whose inline keys have a table elsewhere.
var ownTables = []string{"appEntry", "manifestMCP"}

// rows returns the keys of a struct, those of inline structs among them.
func (all structs) rows(name string) ([]row, error) {
	s, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("there is no struct %s", name)
	}
	var rows []row
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		tag := reflect.StructTag(text)
		key, tagged := tag.Lookup("yaml")
		switch {
		case !tagged:
			continue
		case key == ",inline":
			if !slices.Contains(ownTables, name) {
				inner, err := all.rows(typeName(f.Type))
				if err != nil {
					return nil, err
				}
				rows = append(rows, inner...)
			}
			continue
		}
		comment := strings.Join(strings.Fields(f.Doc.Text()), " ")
		if comment == "" {
			return nil, fmt.Errorf("%s.%s has no comment", name, f.Names[0].Name)
		}
		rows = append(rows, row{key, f.Type, tag, comment})
	}
	return rows, nil
}

// table returns the keys of a struct as a table. path is where the struct stands.
func (all structs) table(name, path string) (string, error) {
	rows, err := all.rows(name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| key | kind | default | meaning |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", r.key, all.kind(r), defaultOf(r), all.meaning(r, path))
	}
	return out.String(), nil
}

// tablesBelow returns a heading and a table for each struct below a struct.
func (all structs) tablesBelow(name, path string) (string, error) {
	rows, err := all.rows(name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, r := range rows {
		inner, suffix := all.inner(r.kind)
		if inner == "" || slices.Contains(tablesElsewhere, inner) {
			continue
		}
		at := strings.TrimPrefix(path+"."+r.key+suffix, ".")
		table, err := all.table(inner, at)
		if err != nil {
			return "", err
		}
		below, err := all.tablesBelow(inner, at)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "### %s\n\n%s%s\n\n%s\n%s", at, r.comment, later(r), table, below)
	}
	return out.String(), nil
}

// inner returns the struct below a field, and what its path has at the end.
func (all structs) inner(kind ast.Expr) (name, suffix string) {
	switch kind := kind.(type) {
	case *ast.StarExpr:
		return all.inner(kind.X)
	case *ast.ArrayType:
		name, _ = all.inner(kind.Elt)
		return name, "[]"
	case *ast.MapType:
		name, _ = all.inner(kind.Value)
		return name, ".NAME"
	case *ast.Ident:
		if _, ok := all[kind.Name]; ok && kind.Name != "commandLine" {
			return kind.Name, ""
		}
	}
	return "", ""
}

// kind says in words what a key takes.
func (all structs) kind(r row) string {
	if r.tag.Get("one") != "" && typeName(r.kind) == "string" {
		return "word"
	}
	switch name := typeName(r.kind); name {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "int":
		return "whole number"
	case "Duration":
		if r.tag.Get("unit") == "s" {
			return "seconds"
		}
		return "time"
	case "Size":
		return "size"
	case "RawMessage":
		return "anything"
	case "commandLine":
		return "list of texts, or a text"
	case "[]string":
		if r.tag.Get("one") != "" {
			return "list of words"
		}
		return "list of texts"
	case "map[string]string":
		return "texts by name"
	}
	switch _, suffix := all.inner(r.kind); suffix {
	case "[]":
		return "list"
	case ".NAME":
		return "by name"
	}
	return "section"
}

func defaultOf(r row) string {
	if computed := r.tag.Get("computed"); computed != "" {
		return strings.ReplaceAll(computed, "|", `\|`)
	}
	text, ok := r.tag.Lookup("default")
	if !ok {
		return ""
	}
	return "`" + text + "`"
}

// meaning is the comment of a key with what its tags say.
func (all structs) meaning(r row, path string) string {
	text := r.comment
	if aliases := r.tag.Get("alias"); aliases != "" {
		text += " Also written " + code(aliases, " or ") + "."
	}
	if words := r.tag.Get("one"); words != "" {
		text += " One of " + code(words, ", ") + "."
	}
	least, most := r.tag.Get("min"), r.tag.Get("max")
	switch {
	case least != "" && most != "":
		text += fmt.Sprintf(" From %s to %s.", least, most)
	case least != "":
		text += fmt.Sprintf(" At least %s.", least)
	}
	if r.tag.Get("expand") != "" {
		text += " *Expanded.*"
	}
	text += later(r)
	name, suffix := all.inner(r.kind)
	switch {
	case name == "Model":
		text += " Its keys are `preset`, `base_url`, `api_key` and `model`."
	case name != "" && !slices.Contains(tablesElsewhere, name):
		at := strings.TrimPrefix(path+"."+r.key+suffix, ".")
		text += fmt.Sprintf(" See [%s](#%s).", at, anchor(at))
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// later says what holds instead of a key that has no effect yet.
func later(r row) string {
	why := r.tag.Get("later")
	if why == "" {
		return ""
	}
	return " **No effect in this version:** " + why + "."
}

// anchor is the name that GitHub gives to a heading.
func anchor(heading string) string {
	return strings.NewReplacer(".", "", "[", "", "]", "").Replace(strings.ToLower(heading))
}

func code(words, between string) string {
	list := strings.Split(words, "|")
	for i, word := range list {
		list[i] = "`" + word + "`"
	}
	return strings.Join(list, between)
}

// typeName writes a type as Go does, without packages and pointers.
func typeName(kind ast.Expr) string {
	switch kind := kind.(type) {
	case *ast.Ident:
		return kind.Name
	case *ast.StarExpr:
		return typeName(kind.X)
	case *ast.SelectorExpr:
		return kind.Sel.Name
	case *ast.ArrayType:
		return "[]" + typeName(kind.Elt)
	case *ast.MapType:
		return "map[" + typeName(kind.Key) + "]" + typeName(kind.Value)
	}
	return ""
}
