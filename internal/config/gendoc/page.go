package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/aurorabot/aurora/internal/brain/circuit"
)

//go:embed configuration.md.tmpl
var pageTemplate string

// generate returns the page for the package in dir.
func generate(dir string) ([]byte, error) {
	structs, err := parseStructs(dir)
	if err != nil {
		return nil, err
	}
	page := template.New("configuration.md").Funcs(template.FuncMap{
		"example": func(name string) (string, error) {
			text, err := os.ReadFile(filepath.Join(dir, "gendoc", "examples", name))
			return string(text), err
		},
		"table":       structs.table,
		"tablesBelow": structs.tablesBelow,
		"topology":    func() string { return string(circuit.Default()) },
		"nodeTypes":   nodeTypes,
		"safe":        func() (string, error) { return safeVariables(dir) },
	})
	if _, err := page.Parse(pageTemplate); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := page.Execute(&out, nil); err != nil {
		return nil, err
	}
	return regexp.MustCompile(`\n{3,}`).ReplaceAll(out.Bytes(), []byte("\n\n")), nil
}

var safeNames = regexp.MustCompile(`(?s)var unixVariables = variableRules\{\s*safe:\s*\[\]string\{(.*?)\}`)

// safeVariables names the variables that every child gets.
func safeVariables(dir string) (string, error) {
	source, err := os.ReadFile(filepath.Join(dir, "variables.go"))
	if err != nil {
		return "", err
	}
	var names []string
	if m := safeNames.FindSubmatch(source); m != nil {
		for name := range strings.SplitSeq(string(m[1]), ",") {
			names = append(names, "`"+strings.Trim(strings.TrimSpace(name), `"`)+"`")
		}
	}
	return strings.Join(names, ", ") + ", `LC_*` and the proxy variables (on Windows their equivalents)", nil
}
