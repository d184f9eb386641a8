package config

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/aurorabot/aurora/internal/platform/proc"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata/*.txtar, and docs/configuration.md")

// TestStories loads the home folder that each testdata/*.txtar holds and compares
// what comes out with the want sections of the archive:
//
//	want          the problems, one a line
//	want.apps     the apps, without what is the default
//	want.env      the environments of the children
//	want.settings lines of aurora.yml as they were understood
//
// Other sections are files of the home, but for these:
//
//	env           our own environment; without it PATH=/bin
//	only          the keys to preflight
//	programs      the programs in PATH; without it aurora, node, npx, python3, uv, uvx
//	bundled/KEY   the manifest of an app inside the binary
//
// The home is shown as HOME. -update rewrites the want sections.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			config, home := tell(t, archive)
			changed := false
			for i, section := range archive.Files {
				var got string
				switch section.Name {
				case "want":
					got = showProblems(config)
				case "want.apps":
					got = showApps(config)
				case "want.env":
					got = showEnvironments(config)
				case "want.settings":
					got = showSettings(config, string(section.Data))
				default:
					continue
				}
				got = strings.ReplaceAll(got, home, "HOME")
				if got == string(section.Data) {
					continue
				}
				if *update {
					archive.Files[i].Data = []byte(got)
					changed = true
					continue
				}
				t.Errorf("%s: section %s\n--- want\n%s--- got\n%s(go test ./internal/config -update rewrites it)", file, section.Name, section.Data, got)
			}
			if changed {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// tell writes the home of a story and loads it.
func tell(t *testing.T, archive *txtar.Archive) (*Config, string) {
	t.Helper()
	home := t.TempDir()
	options := Options{Home: home, Env: []string{"PATH=/bin", "HOME=/home/me", "TZ=Asia/Shanghai", "LANG=zh_CN.UTF-8"}, Self: "/usr/bin/aurora"}
	programs := strings.Fields("aurora node npx python3 uv uvx")
	for _, section := range archive.Files {
		switch name := section.Name; {
		case strings.HasPrefix(name, "want"):
		case name == "env":
			options.Env = strings.Split(strings.TrimSuffix(string(section.Data), "\n"), "\n")
		case name == "only":
			options.Only = strings.Fields(string(section.Data))
		case name == "programs":
			programs = strings.Fields(string(section.Data))
		case strings.HasPrefix(name, "bundled/"):
			options.Bundled = append(options.Bundled, Bundled{Key: strings.TrimPrefix(name, "bundled/"), Manifest: section.Data})
		default:
			path := filepath.Join(home, filepath.FromSlash(name))
			if strings.HasSuffix(name, "/") {
				mustMkdir(t, path)
				continue
			}
			mustMkdir(t, filepath.Dir(path))
			mode := os.FileMode(0o600)
			if bytes.HasPrefix(section.Data, []byte("#!")) {
				mode = 0o700
			}
			if err := os.WriteFile(path, bytes.ReplaceAll(section.Data, []byte("HOME"), []byte(home)), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	options.LookPath = func(name string, env []string, dir string) (string, error) {
		switch {
		case hasSeparator(name):
			return proc.LookPath(name, env, dir)
		case slices.Contains(programs, name):
			return "/bin/" + name, nil
		}
		return "", fmt.Errorf("%q was not found in PATH: %w", name, fs.ErrNotExist)
	}
	config, err := Load(options)
	if err != nil {
		t.Fatal(err)
	}
	return config, home
}

func mustMkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

func showProblems(c *Config) string {
	var out strings.Builder
	for _, p := range c.Problems {
		fmt.Fprintln(&out, p)
	}
	return out.String()
}

func showApps(c *Config) string {
	var out strings.Builder
	for _, app := range c.Apps {
		fmt.Fprintf(&out, "%s: %s\n", app.Key, app.Package)
		show := func(name string, value any, usual any) {
			if fmt.Sprint(value) != fmt.Sprint(usual) {
				fmt.Fprintf(&out, "  %s: %v\n", name, value)
			}
		}
		m := app.MCP
		show("disabled", app.Disabled, "")
		show("name", app.Name, app.Key)
		show("version", app.Version, "")
		show("description", app.Description, "")
		show("startup", string(app.Startup), "{}")
		show("transport", m.Transport, Stdio)
		if m.Command != nil {
			show("command", fmt.Sprintf("%q", m.Command), "")
		}
		show("dir", m.Dir, c.Home.Dir)
		show("url", m.URL, "")
		for _, name := range sortedKeys(m.Headers) {
			show("header "+name, m.Headers[name], "")
		}
		for _, name := range sortedKeys(m.HeaderSources) {
			show("header "+name+" comes from", m.HeaderSources[name], "")
		}
		m.TLS.Digest = "" // of files that are not the same everywhere
		show("tls", m.TLS, TLS{})
		show("insecure", m.Insecure, false)
		show("protocol", m.Protocol, "auto")
		show("health timeout", m.HealthTimeout, 10*time.Second)
		show("call timeout", m.CallTimeout, 30*time.Second)
		show("call max", m.CallMax, 10*time.Minute)
		show("restart", m.Restart, Restart{true, 3, 2 * time.Second})
		show("trust", app.Trust, TrustNormal)
		show("pin", app.Pin, PinAuto)
		show("people", app.People, false)
		show("events", app.Events, []string{})
		show("reply", app.Reply, "")
		show("capabilities", app.Capabilities, Capabilities{nil, "deny", "deny"})
		for _, name := range sortedKeys(app.Tools) {
			enabled := ""
			if e := app.Tools[name].Enabled; e != nil {
				enabled = fmt.Sprintf(" enabled=%t", *e)
			}
			show("tool "+name, app.Tools[name].Risk+enabled, "")
		}
		show("manifest tools", app.ManifestTools, []string{})
	}
	return out.String()
}

func showEnvironments(c *Config) string {
	var out strings.Builder
	for _, app := range c.Apps {
		fmt.Fprintf(&out, "%s:\n", app.Key)
		for _, line := range app.MCP.Env {
			fmt.Fprintf(&out, "  %s\n", line)
		}
	}
	return out.String()
}

// showSettings prints the fields that the lines of want name, as "path = value".
func showSettings(c *Config, want string) string {
	s := c.Settings
	all := map[string]any{
		"user": s.User, "startup": s.Startup, "llm": s.LLM.Model, "llm.limits": s.LLM.Limits,
		"brain": s.Brain, "policy.defaults": s.Policy.Defaults, "policy.approval": s.Policy.Approval,
		"policy.rules": s.Policy.Rules, "policy.limits": s.Policy.Limits, "policy.builtin": s.Policy.Builtin,
		"amp.spools": s.AMP.Spools, "gateway": s.Gateway, "console": s.Console, "retention": s.Retention, "log": s.Log,
		"llm.roles.fast": s.LLM.Roles.Fast,
	}
	var out strings.Builder
	for line := range strings.Lines(want) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " = ")
		value, known := all[path]
		if !known {
			value = "not shown by this test"
		}
		fmt.Fprintf(&out, "%s = %+v\n", path, value)
	}
	return out.String()
}
