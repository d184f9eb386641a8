package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAppsAndToolsAreSwitchedInTheFile(t *testing.T) {
	const file = `apps:
  one: # the first
    mcp: {command: [x]}
  two:
    enabled: false # not now
    mcp:
      enabled: false
      command: [x]
  three:
    package: org.three
    mcp: {command: [x]}
    permissions:
      tools:
        run: {risk: high} # by its short name
        org.three.walk: {enabled: false}
`
	text := []byte(file)
	app := func(key string) *App {
		dir := write(t, map[string]string{"apps/config.yml": string(text)})
		c := load(t, dir)
		if len(c.Errors()) > 0 {
			t.Fatalf("%v\n%s", c.Errors(), text)
		}
		return c.App(key)
	}
	step := func(next []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text = next
	}
	step(SwitchApp(text, app("one"), true))
	step(SwitchApp(text, app("two"), false))
	step(SwitchTool(text, app("three"), "org.three.fly", true))
	step(SwitchTool(text, app("three"), "org.three.walk", false))
	if string(text) != file {
		t.Errorf("switching to what is so wrote\n%s", text)
	}
	step(SwitchApp(text, app("one"), false))
	step(SwitchApp(text, app("two"), true))
	step(SwitchTool(text, app("three"), "org.three.run", false))
	step(SwitchTool(text, app("three"), "org.three.walk", true))
	step(SwitchTool(text, app("three"), "org.three.fly", false))
	const want = `apps:
  one: # the first
    enabled: false
    mcp: {command: [x]}
  two:
    enabled: true # not now
    mcp:
      enabled: true
      command: [x]
  three:
    package: org.three
    mcp: {command: [x]}
    permissions:
      tools:
        run: {risk: high, enabled: false} # by its short name
        org.three.walk: {enabled: true}
        org.three.fly:
          enabled: false
`
	if string(text) != want {
		t.Errorf("the file is\n%s", text)
	}
	three := app("three")
	for tool, on := range map[string]bool{"org.three.run": false, "org.three.walk": true, "org.three.fly": false} {
		if got := three.Tools[tool].Enabled; got == nil || *got != on {
			t.Errorf("%s is %v", tool, got)
		}
	}
	if app("one").Disabled == "" || app("two").Disabled != "" {
		t.Error("an app is not switched")
	}
}

func TestFilesAreReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	env, link, real := filepath.Join(dir, ".env"), filepath.Join(dir, "apps", "config.yml"), filepath.Join(dir, "real.yml")
	if err := os.WriteFile(env, []byte("A=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// New files come with their folders and rights, old ones lose what they must.
	err := Replace(
		Replacement{Path: env, Before: []byte("A=1\n"), After: []byte("A=2\n"), Private: true},
		Replacement{Path: link, After: []byte("apps:\n")},
	)
	if err != nil {
		t.Fatal(err)
	}
	check := func(path, text string, mode fs.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != text || info.Mode().Perm() != mode {
			t.Errorf("%s holds %q (%v), rights %v", path, got, err, info.Mode())
		}
	}
	check(env, "A=2\n", 0o600)
	check(link, "apps:\n", 0o644)

	// A link stays one.
	if err := errors.Join(os.Rename(link, real), os.Symlink(real, link)); err != nil {
		t.Skip(err)
	}
	if err := Replace(Replacement{Path: link, Before: []byte("apps:\n"), After: []byte("apps: {}\n")}); err != nil {
		t.Fatal(err)
	}
	check(real, "apps: {}\n", 0o644)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link became a file")
	}

	// All or nothing: the second is not what it was.
	err = Replace(
		Replacement{Path: env, Before: []byte("A=2\n"), After: []byte("A=3\n"), Private: true},
		Replacement{Path: link, Before: []byte("else"), After: []byte("x")},
	)
	if !errors.Is(err, ErrFileChanged) {
		t.Errorf("%v", err)
	}
	check(env, "A=2\n", 0o600)
	check(real, "apps: {}\n", 0o644)

	// Not even when the first is replaced already.
	staged, err := stage(Replacement{Path: env, Before: []byte("A=2\n"), After: []byte("A=3\n"), Private: true})
	if err == nil {
		err = os.Rename(staged.temp, staged.path)
	}
	if err == nil {
		err = staged.takeBack()
	}
	if err != nil {
		t.Fatal(err)
	}
	check(env, "A=2\n", 0o600)
	if names, _ := filepath.Glob(filepath.Join(dir, ".aurora-*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}
