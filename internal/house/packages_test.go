package house

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPackagesAreNamedAfterWhatTheyHold(t *testing.T) {
	for _, p := range packages(t, "linux") {
		for _, word := range []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "shared", "base"} {
			if p.Name == word || filepath.Base(p.path) == word {
				t.Errorf("%s: a package called %s says nothing of what it holds", p.path, word)
			}
		}
	}
}

func TestEveryPackageStatesItsPromises(t *testing.T) {
	for _, p := range packages(t, "linux") {
		if p.Name == "main" || p.path == "examples" {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.path)
		}
		// A package of one file has its comment there.
		if len(p.GoFiles) > 1 && !slices.Contains(p.GoFiles, "doc.go") && strings.HasPrefix(p.path, "internal/") {
			t.Errorf("%s has no doc.go", p.path)
		}
	}
}

func TestMainIsShort(t *testing.T) {
	raw, err := os.ReadFile(filepath.FromSlash("../../cmd/aurora/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n >= 40 {
		t.Errorf("cmd/aurora/main.go has %d lines, and must stay under 40", n)
	}
}
