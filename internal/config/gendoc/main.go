// Command gendoc writes docs/configuration.md from the comments of the structs in
// internal/config, and from the types of nodes that the brain has. Without -update it prints the page.
//
//	go run ./internal/config/gendoc -update
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	update := flag.Bool("update", false, "write docs/configuration.md instead of printing it")
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	page, err := generate(filepath.Join(root, "internal", "config"))
	if err != nil {
		return err
	}
	if !update {
		_, err = os.Stdout.Write(page)
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "configuration.md"), page, 0o644)
}

// moduleRoot returns the nearest folder around the working directory that holds a
// go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod around the working directory")
		}
		dir = parent
	}
}
