package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// hidden is a secret that no problem may tell.
const hidden = "zq9-0f4c-hidden"

// newFuzzReader returns a reader in an empty home. Its environment holds the
// secret.
func newFuzzReader(home string) *reader {
	return newReader(Home{Dir: home}, Options{
		Env: []string{"PATH=/bin", "HOME=/home/me", "SECRET=" + hidden}, Self: "/usr/bin/aurora", LookPath: anyProgram,
	})
}

// checkProblems asserts what holds for every problem.
func checkProblems(t *testing.T, problems []Problem) {
	t.Helper()
	for i, p := range problems {
		switch {
		case p.Message == "" || p.File == "" || p.Line < 0 || p.Column < 0:
			t.Errorf("incomplete: %+v", p)
		case strings.Contains(p.String(), hidden):
			t.Errorf("tells a secret: %s", p)
		case !utf8.ValidString(p.String()):
			t.Errorf("not UTF-8: %q", p)
		case i > 0 && p.rank == problems[i-1].rank && p.Line < problems[i-1].Line:
			t.Errorf("out of order: %s", p)
		}
	}
}

// FuzzLoad takes the text for each of the three kinds of YAML files in turn.
func FuzzLoad(f *testing.F) {
	stories, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, story := range stories {
		text, err := os.ReadFile(story)
		if err != nil {
			f.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(text), "-- apps/config.yml --\n"); ok {
			text, _, _ := strings.Cut(after, "\n-- ")
			f.Add([]byte(text))
		}
	}
	f.Add([]byte("apps: {a: {command: [\"${SECRET}\", \"${SECRET\"], cwd: \"${SECRET}\"}}"))
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newFuzzReader(home)
		r.parseSettings(text, r.open("aurora.yml"))
		checkProblems(t, r.finish().Problems)

		r = newFuzzReader(home)
		r.options.Bundled = []Bundled{{Key: "a", Manifest: text}}
		r.parseApps([]byte("apps: {a: }"), r.open("apps/config.yml"))
		checkProblems(t, r.finish().Problems)

		r = newFuzzReader(home)
		r.parseApps(text, r.open("apps/config.yml"))
		r.checkTogether()
		c := r.finish()
		checkProblems(t, c.Problems)
		for _, app := range c.Apps {
			if len(c.AppProblems(app.Key)) == 0 && app.Disabled == "" && len(app.MCP.Command) == 0 && app.MCP.URL == "" {
				t.Errorf("app %q has neither a way to reach it nor a problem", app.Key)
			}
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, text := range []string{"", "$", "$$", "${", "${}", "${A}", "${A:-b}", "${A:-${B:-c}}", "${file:x}", "x${SECRET}y", "${A:-", "$${A}", "${a b}", "${A:-}}"} {
		f.Add(text)
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		r := newFuzzReader(home)
		value, faults := r.expand.expand(text)
		if !strings.Contains(text, "${") && (value != text || len(faults) > 0) {
			t.Errorf("%q became %q, %v", text, value, faults)
		}
		for _, fault := range faults {
			if strings.Contains(fmt.Sprint(fault), hidden) {
				t.Errorf("%q: %v", text, fault)
			}
		}
	})
}

func FuzzEnvFile(f *testing.F) {
	for _, text := range []string{"", "A=b", "export A = 'b'", "A=\"x\ny\"", "A='", "A=\"\\", "=x", "A", "#", "\uFEFFA=b\r\nB=c", "A=\"b\" c"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var problems []Problem
		values := parseEnv(text, &source{file: ".env", problems: &problems})
		for name := range values {
			if !isVariable(name) {
				t.Errorf("a variable is called %q", name)
			}
		}
		checkProblems(t, problems)
	})
}
