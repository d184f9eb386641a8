package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/redact"
)

func TestAHomeCanBeTriedBeforeItIsWritten(t *testing.T) {
	dir := write(t, map[string]string{"apps/config.yml": "apps:\n  old: {command: [x]}\n", ".env": "KEY=from-disk-123\n"})
	home := Home{dir}
	known := redact.New()
	c, err := Load(Options{
		Home: dir, Env: []string{"PATH=/bin"}, LookPath: anyProgram, Redact: known,
		Texts: map[string][]byte{
			home.AppsFile():             []byte("apps:\n  new: {command: [x], env: {KEY: \"${KEY}\"}}\n"),
			home.EnvFile():              []byte("KEY=tried-4567\n"),
			home.ManifestFile("new"):    []byte("package: org.new\n"),
			filepath.Join(dir, "other"): nil,
		},
	})
	if err != nil || len(c.Errors()) > 0 || len(c.Apps) != 1 || c.Apps[0].Package != "org.new" {
		t.Fatalf("%v, %v", err, c)
	}
	if c.Redact != known || known.String("tried-4567") == "tried-4567" {
		t.Error("the redactor did not learn the secret")
	}
	if text, _ := os.ReadFile(home.AppsFile()); string(text) != "apps:\n  old: {command: [x]}\n" {
		t.Errorf("the file on disk is %q now", text)
	}

	// A file that is said not to be there is not.
	c, err = Load(Options{Home: dir, Env: []string{"PATH=/bin"}, LookPath: anyProgram, Texts: map[string][]byte{home.AppsFile(): nil}})
	if err != nil || !c.DefaultApps || len(c.Errors()) > 0 {
		t.Errorf("%v, %+v", err, c.Problems)
	}
}

func TestFilesAreKnownByWhatTheyHeld(t *testing.T) {
	dir := write(t, map[string]string{
		"apps/config.yml": "apps:\n  a: {command: [x], env: {A: \"${file:secret}\", B: \"${file:none}\"}}\n  b: {manifest: m.yaml}\n",
		"secret":          "one", "m.yaml": "mcp: {command: [x]}",
	})
	read := func() map[string]string { return load(t, dir).Files }
	files := read()
	for name, there := range map[string]bool{
		"apps/config.yml": true, "secret": true, "m.yaml": true,
		"aurora.yml": false, ".env": false, "none": false, "apps/a/manifest.yaml": false,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		digest, known := files[path]
		if !known || (digest != "") != there || digest != Digest(path) {
			t.Errorf("%s: %q, %t", name, digest, known)
		}
	}
	if len(files) != 7 {
		t.Errorf("%d files: %v", len(files), files)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := read(); again[filepath.Join(dir, "secret")] == files[filepath.Join(dir, "secret")] || again[filepath.Join(dir, "m.yaml")] != files[filepath.Join(dir, "m.yaml")] {
		t.Error("a digest does not follow its file")
	}
}

func TestAnAppThatIsAlwaysThereComesLast(t *testing.T) {
	always := append(weather(), Bundled{Key: "own", Manifest: []byte("package: im.own\nmcp: {command: [aurora]}\n"), Always: true})
	for name, c := range map[string]struct{ file, want string }{
		"no file":                {"", "aurora-app-weather own"},
		"a file without it":      {"apps: {other: {command: [x]}}\n", "other own"},
		"a file that has it":     {"apps: {own: {enabled: false}, other: {command: [x]}}\n", "own other"},
		"a file without any app": {"apps:\n", "own"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.file != "" {
				if err := os.MkdirAll(filepath.Join(home, "apps"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, "apps", "config.yml"), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Load(Options{Home: home, Env: []string{}, Bundled: always, Self: "/usr/bin/aurora", LookPath: anyProgram})
			if err != nil || len(got.Errors()) > 0 {
				t.Fatal(err, got.Problems)
			}
			var keys []string
			for _, a := range got.Apps {
				keys = append(keys, a.Key)
			}
			if s := strings.Join(keys, " "); s != c.want {
				t.Errorf("the apps are %s, want %s", s, c.want)
			}
		})
	}
}
