package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func weather() []Bundled {
	return []Bundled{{Key: "aurora-app-weather", Manifest: []byte("package: im.polaris.weather\nmcp: {command: [aurora, app, run, weather]}\n")}}
}

func TestANewHomeIsAccepted(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		home := filepath.Join(t.TempDir(), "我的 机器人")
		written, err := Init(home, lang)
		if err != nil {
			t.Fatal(err)
		}
		if len(written) != len(initFiles) {
			t.Errorf("%s: wrote %v", lang, written)
		}
		c, err := Load(Options{Home: home, Bundled: weather(), Self: "/usr/bin/aurora"})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Problems) > 0 {
			t.Errorf("%s: %v", lang, c.Problems)
		}
		if app := c.App("aurora-app-weather"); app == nil || app.Disabled != "" || len(c.Apps) != 1 {
			t.Errorf("%s: apps %v", lang, c.Apps)
		}
		if c.Settings.User.Language != lang {
			t.Errorf("%s: the bot speaks %s", lang, c.Settings.User.Language)
		}
		if info, err := os.Stat(c.Home.EnvFile()); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: .env is %v, %v", lang, info.Mode(), err)
		}
	}
}

func TestFilesThatExistAreKept(t *testing.T) {
	home := t.TempDir()
	mine := filepath.Join(home, "aurora.yml")
	if err := os.WriteFile(mine, []byte("log: {level: debug}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	first, err := Init(home, "en")
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(first, "aurora.yml") || len(first) != len(initFiles)-1 {
		t.Errorf("wrote %v", first)
	}
	if text, _ := os.ReadFile(mine); string(text) != "log: {level: debug}\n" {
		t.Errorf("my file became %s", text)
	}
	if again, err := Init(home, "zh"); err != nil || len(again) != 0 {
		t.Errorf("the second time wrote %v, %v", again, err)
	}
}

func TestAHomeThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(file, "en"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}

// A setting that is switched off begins with # and no blank; switching all of
// them on must give a home in which only what the machine lacks is missing.
func TestTheExamplesInANewHomeAreRight(t *testing.T) {
	off := regexp.MustCompile(`(?m)^( *)#(\S| {2,})`)
	for _, lang := range []string{"en", "zh"} {
		home := t.TempDir()
		if _, err := Init(home, lang); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"apps/config.yml", "aurora.yml", ".env"} {
			path := filepath.Join(home, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			on := off.ReplaceAllString(string(text), "$1$2")
			on = regexp.MustCompile(`(?m)^([A-Z_]+)=$`).ReplaceAllString(on, "$1=value-of-mine")
			if err := os.WriteFile(path, []byte(on), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Load(Options{
			Home: home, Bundled: weather(), Self: "/usr/bin/aurora",
			LookPath: func(name string, _ []string, _ string) (string, error) { return "/bin/" + name, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		// The model is the one example that has no effect yet.
		if len(c.Problems) != 1 || c.Problems[0].Field != "llm" || !c.Problems[0].Warning || len(c.Apps) != 5 {
			t.Errorf("%s: %d apps, %v", lang, len(c.Apps), c.Problems)
		}
		if c.Settings.LLM.Preset != "deepseek" || c.Settings.LLM.APIKey != "value-of-mine" {
			t.Errorf("%s: llm is %+v", lang, c.Settings.LLM.Model)
		}
	}
}
