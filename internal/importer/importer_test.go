package importer

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aurorabot/aurora/internal/config"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata/*.txtar")

// TestImports imports the source of each testdata/*.txtar into its home and
// compares what comes of it. The sections are
//
//	source PATH    the text to import, at this path; - is the standard input
//	env            our own environment; without it PATH and HOME
//	programs       the programs in PATH; without it those that people use
//	home/…, user/… files of the home and of the user's folder
//	want           what is said about it
//	want/…         the files of the home afterwards
//
// After that the home must be one that `aurora check` accepts, and the same import
// must find nothing to do. WORK stands for the folder of the test. -update
// rewrites the want sections.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no imports: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := set(t, archive)
			got := s.play(t)
			if slices.EqualFunc(wanted(archive), got, func(a, b txtar.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
				return
			}
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want") })
				archive.Files = append(archive.Files, got...)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("--- want\n%s--- got\n%s", txtar.Format(&txtar.Archive{Files: wanted(archive)}), txtar.Format(&txtar.Archive{Files: got}))
		})
	}
}

func wanted(archive *txtar.Archive) []txtar.File {
	return slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool { return !strings.HasPrefix(f.Name, "want") })
}

// A stage is what one import is played on.
type stage struct {
	work   string
	open   bool // the secrets are no secrets
	source Source
	home   config.Options
}

var usualPrograms = strings.Fields("aurora npx node uvx uv python3 docker bunx deno")

func set(t *testing.T, archive *txtar.Archive) *stage {
	t.Helper()
	s := &stage{work: t.TempDir()}
	programs := usualPrograms
	s.home = config.Options{Home: filepath.Join(s.work, "home"), Self: "/usr/bin/aurora", Bundled: []config.Bundled{{
		Key: "aurora-app-weather", Manifest: []byte("package: im.polaris.weather\nmcp: {command: [aurora, app, run, weather]}\n"),
	}}}
	s.home.Env = []string{"PATH=/bin", "HOME=" + filepath.Join(s.work, "user")}
	place := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("WORK"), []byte(s.work)) }
	if err := os.MkdirAll(s.home.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name, data := f.Name, place(f.Data)
		switch {
		case strings.HasPrefix(name, "want"):
			continue
		case name == "env":
			s.home.Env = append(s.home.Env, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")...)
			continue
		case name == "programs":
			programs = strings.Fields(string(data))
			continue
		case name == "source -":
			s.source = Source{Text: data}
			continue
		}
		if path, ok := strings.CutPrefix(name, "source "); ok {
			name = path
			s.source = Source{Path: filepath.Join(s.work, path), Text: data}
		}
		path := filepath.Join(s.work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.home.LookPath = func(name string, _ []string, _ string) (string, error) {
		if slices.Contains(programs, name) {
			return "/bin/" + name, nil
		}
		if filepath.IsAbs(name) {
			return name, nil
		}
		return "", fmt.Errorf("%q was not found in PATH: %w", name, os.ErrNotExist)
	}
	return s
}

// play imports, and returns the want sections.
func (s *stage) play(t *testing.T) []txtar.File {
	t.Helper()
	plan, err := Make(s.source, Options{Home: s.home})
	hide := func(text string) []byte { return []byte(strings.ReplaceAll(text, s.work, "WORK")) }
	if err != nil {
		return []txtar.File{{Name: "want", Data: hide(err.Error() + "\n")}}
	}
	said := describe(plan)
	if err := plan.Write(); err != nil {
		t.Fatal(err)
	}
	want := []txtar.File{{Name: "want", Data: hide(said)}}
	for _, f := range []string{"apps/config.yml", ".env"} {
		if text, err := os.ReadFile(filepath.Join(s.home.Home, filepath.FromSlash(f))); err == nil {
			want = append(want, txtar.File{Name: "want/" + f, Data: hide(string(text))})
		}
	}
	s.check(t, plan, said)
	return want
}

func describe(p *Plan) string {
	var b strings.Builder
	for _, a := range p.Apps {
		fmt.Fprintf(&b, "%d:%d %q %s", a.Line, a.Column, a.Name, a.Result)
		if a.Key != "" {
			fmt.Fprintf(&b, " as %s (%s)", a.Key, a.Package)
		}
		if a.Result != Refused && !a.Enabled {
			b.WriteString(", switched off")
		}
		if a.Reason != "" {
			b.WriteString(": " + a.Reason)
		}
		b.WriteString("\n")
		for _, name := range a.Secrets {
			fmt.Fprintf(&b, "  secret: %s\n", name)
		}
		for _, note := range a.Notes {
			fmt.Fprintf(&b, "  note: %s\n", note)
		}
	}
	if len(p.Files) == 0 {
		b.WriteString("nothing to do\n")
	}
	return b.String()
}

// check checks what holds for every import.
func (s *stage) check(t *testing.T, plan *Plan, said string) {
	t.Helper()
	c, err := config.Load(s.home)
	if err != nil || len(c.Errors()) > 0 {
		t.Errorf("the home is not accepted: %v, %v", err, c.Errors())
	}
	for _, a := range plan.Apps {
		if a.Result == Added {
			if app := c.App(a.Key); app == nil || app.Package != a.Package || (app.Disabled == "") != a.Enabled {
				t.Errorf("the app %s is not what was said: %+v", a.Key, app)
			}
		}
	}
	// Secrets are in .env, which is nobody else's business, and nowhere else.
	env, _ := readFile(c.Home.EnvFile())
	apps, _ := readFile(c.Home.AppsFile())
	values, _ := config.ParseEnv(env)
	for _, name := range plan.Secrets {
		if secret := values[name]; !s.open && len(secret) >= 10 && (strings.Contains(said, secret) || bytes.Contains(apps, []byte(secret))) {
			t.Errorf("the secret %s is told", name)
		}
	}
	if info, err := os.Stat(c.Home.EnvFile()); err == nil && len(plan.Secrets) > 0 && info.Mode().Perm() != 0o600 {
		t.Errorf(".env has the rights %v", info.Mode())
	}
	// The second time nothing is left to do.
	again, err := Make(s.source, Options{Home: s.home})
	if err != nil || len(again.Files) > 0 {
		t.Errorf("the second time: %v\n%s", err, describe(again))
	}
	for _, a := range again.Apps {
		if a.Result == Added {
			t.Errorf("the second time %q was added", a.Name)
		}
	}
}

func TestAHomeThatChangesMeanwhileIsLeftAlone(t *testing.T) {
	s := set(t, &txtar.Archive{Files: []txtar.File{
		{Name: "home/apps/config.yml", Data: []byte("apps: {}\n")},
		{Name: "source -", Data: []byte(`{"a": {"command": "npx", "env": {"API_KEY": "sk-0123456789abcdef"}}}`)},
	}})
	plan, err := Make(s.source, Options{Home: s.home})
	if err != nil || len(plan.Files) != 2 {
		t.Fatalf("%v, %+v", err, plan)
	}
	path := filepath.Join(s.home.Home, "apps", "config.yml")
	if err := os.WriteFile(path, []byte("apps:\n  mine: {command: npx}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(); !errors.Is(err, config.ErrFileChanged) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(s.home.Home, ".env")); err == nil {
		t.Error("half of it was written")
	}
}
