package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

func TestTheManualIsThatOfTheCode(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := generate(filepath.Join(root, "internal", "config"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(there, page) {
		t.Errorf("docs/configuration.md is not what internal/config says (%v); run\n\tgo run ./internal/config/gendoc -update", err)
	}
}

func TestEveryLinkInTheManualLeadsSomewhere(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := generate(filepath.Join(root, "internal", "config"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(page, -1) {
		heading := string(m[1])
		if headings[anchor(heading)] {
			t.Errorf("the heading %q stands twice", heading)
		}
		headings[anchor(regexp.MustCompile(`[/]`).ReplaceAllString(heading, ""))] = true
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllSubmatch(page, -1) {
		if !headings[string(m[1])] {
			t.Errorf("no heading for #%s", m[1])
		}
	}
}

func TestTheManualNamesWhatAppsAreTold(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "appkit", "env.go"))
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`"(AURORA_[A-Z_]+)"`).FindAllSubmatch(source, -1)
	if len(told) == 0 {
		t.Error("appkit/env.go names no variables")
	}
	for _, m := range told {
		if !bytes.Contains(manual, []byte("`"+string(m[1])+"`")) {
			t.Errorf("docs/configuration.md does not mention %s, which appkit reads", m[1])
		}
	}
}
