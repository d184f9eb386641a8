package config

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/platform/proc"
)

// write makes a home with these files.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// load loads a home in which every program without a path exists.
func load(t testing.TB, home string, env ...string) *Config {
	t.Helper()
	c, err := Load(Options{Home: home, Env: append([]string{"PATH=/bin", "TZ=UTC", "HOME=/home/me"}, env...), Self: "/usr/bin/aurora", LookPath: anyProgram})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func anyProgram(name string, env []string, dir string) (string, error) {
	if hasSeparator(name) {
		return proc.LookPath(name, env, dir)
	}
	return "/bin/" + name, nil
}

func TestAMissingHomeIsAnErrorWithItsPath(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nope")
	if _, err := Load(Options{Home: missing}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing home: %v", err)
	}
	file := filepath.Join(write(t, map[string]string{"file": ""}), "file")
	if _, err := Load(Options{Home: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file for a home: %v", err)
	}
}

func TestAHomeWithBlanksAndChineseIsAHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "我的 机器人")
	if err := os.MkdirAll(filepath.Join(home, "apps"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "apps", "config.yml"), []byte("apps: {a: {command: uvx}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, home)
	if len(c.Problems) > 0 || c.App("a").MCP.Dir != home {
		t.Errorf("dir %q, problems %v", c.App("a").MCP.Dir, c.Problems)
	}
}

func TestTheExamplesInTheManualAreRight(t *testing.T) {
	files := map[string]string{"secrets/notes.key": "k-123456\n"}
	for example, name := range map[string]string{
		"config.yml": "apps/config.yml", "manifest.yaml": "apps/notes/manifest.yaml", "aurora.yml": "aurora.yml", "env": ".env",
	} {
		text, err := os.ReadFile(filepath.Join("gendoc", "examples", example))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	home := write(t, files)
	c, err := Load(Options{Home: home, Env: []string{"PATH=/bin", "HOME=" + home}, Bundled: weather(), Self: "/usr/bin/aurora", LookPath: anyProgram})
	if err != nil {
		t.Fatal(err)
	}
	if errs := c.Errors(); len(errs) > 0 {
		t.Error(errs)
	}
	if len(c.Apps) != 4 || len(c.Settings.Policy.Rules) != 3 {
		t.Errorf("%d apps, %d rules", len(c.Apps), len(c.Settings.Policy.Rules))
	}
}

func TestWhateverIsSecretIsKnownToTheRedactor(t *testing.T) {
	home := write(t, map[string]string{
		".env":       "DB_PASSWORD='correct horse'\nLOCALE=zh_CN.UTF-8\nMY_TOKEN=tok-00001\n",
		"secret.txt": "from-a-file\n",
		"aurora.yml": "llm: {api_key: literal-llm-key, roles: {fast: {api_key: literal-role-key}}}\n",
		"apps/config.yml": `apps:
  local:
    command: [uvx, --api-key=literal-flag-1, --token, literal-flag-2, "${ODD}", "${file:secret.txt}", "${WHERE}", "${CITY}"]
    env: {API_KEY: literal-env-key, Language: chinese, SESSION_COOKIE: literal-cookie, KEYBOARD: qwertyuiop, KEY_FILE: /etc/hosts}
  remote:
    url: https://user:literal-pass@host/mcp?token=literal-query&city=beijing
    headers: {Authorization: Bearer literal-bearer, X-Api-Key: "${KEY}", Accept-Language: chinese}
`,
	})
	c := load(t, home, "ODD=x7Yq-99zz-plain", "WHERE=/srv/data/notes", "CITY=Shanghai", "KEY=from-environment")
	if errs := c.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, secret := range []string{
		"correct horse", "tok-00001", "from-a-file", "literal-llm-key", "literal-role-key", "literal-flag-1", "literal-flag-2",
		"x7Yq-99zz-plain", "literal-env-key", "literal-cookie", "literal-pass", "literal-query", "literal-bearer", "from-environment",
	} {
		if got := c.Redact.String("<" + secret + ">"); got != "<•••>" {
			t.Errorf("%s is shown as %s", secret, got)
		}
	}
	for _, ordinary := range []string{"zh_CN.UTF-8", "chinese", "qwertyuiop", "/etc/hosts", "/srv/data/notes", "Shanghai", "beijing", home} {
		if got := c.Redact.String(ordinary); got != ordinary {
			t.Errorf("%s is hidden as %s", ordinary, got)
		}
	}
}

func TestNoProblemTellsASecret(t *testing.T) {
	home := write(t, map[string]string{
		".env": "NO EQUALS zq9-hidden-1\nBROKEN=\"zq9-hidden-2\nKEY=zq9-hidden-3",
		"apps/config.yml": `apps:
  a: {command: ["${SECRET}", x], cwd: "${SECRET}", env: {"A=B": "${SECRET}"}}
  b: {url: "${SECRET}", headers: {"Bad Name": "${SECRET}", X: "${SECRET}"}}
  c: {url: "http://${SECRET}/mcp"}
  d: {manifest: "x", trust: "sk-zq9-hidden-4567", command: "${SECRET} b"}
  e: {url: "${SECRET}://host"}
`,
	})
	c := load(t, home, "SECRET=zq9/hidden\n5", "KEY=x")
	if len(c.Problems) < 8 {
		t.Errorf("only %d problems: %v", len(c.Problems), c.Problems)
	}
	for _, p := range c.Problems {
		if text := fmt.Sprintf("%s %+v", p, p); strings.Contains(text, "zq9") {
			t.Errorf("%s", text)
		}
	}
}

func TestALooseEnvFileIsAWarning(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no mode bits here")
	}
	home := write(t, map[string]string{".env": "A=b\n", "apps/config.yml": ""})
	if err := os.Chmod(filepath.Join(home, ".env"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := load(t, home)
	if len(c.Problems) != 1 || !c.Problems[0].Warning || c.Problems[0].File != ".env" || len(c.Errors()) != 0 {
		t.Errorf("%+v", c.Problems)
	}
}

func TestAFileThatCannotBeReadIsAProblem(t *testing.T) {
	home := write(t, map[string]string{"aurora.yml/x": "", "apps/config.yml/x": "", ".env/x": "", "apps/a/manifest.yaml/x": ""})
	c := load(t, home)
	if len(c.Problems) != 3 || c.DefaultApps {
		t.Errorf("default apps %t, problems %v", c.DefaultApps, c.Problems)
	}
	dangling := write(t, map[string]string{"apps/x": ""})
	if err := os.Symlink("nowhere", filepath.Join(dangling, "apps", "config.yml")); err == nil {
		if c := load(t, dangling); len(c.Errors()) != 1 || c.DefaultApps {
			t.Errorf("a dangling link: default apps %t, problems %v", c.DefaultApps, c.Problems)
		}
	}
}

func TestOddEncodingsAreReadOrNamed(t *testing.T) {
	const good = "apps:\n  a: {command: uvx}\n"
	for name, c := range map[string]struct{ text, problem string }{
		"byte order mark": {"\uFEFF" + good, ""},
		"CRLF":            {strings.ReplaceAll(good, "\n", "\r\n"), ""},
		"CR":              {strings.ReplaceAll(good, "\n", "\r"), ""},
		"no last newline": {strings.TrimSuffix(good, "\n"), ""},
		"UTF-16":          {"\xFF\xFEa\x00p\x00", "UTF-16"},
		"GBK":             {"apps:\n  a: {command: uvx, name: \xCC\xEC}\n", "apps/config.yml:2:27: the file is not UTF-8"},
		"zero byte":       {"apps:\n  a\x00: {}\n", "zero byte"},
		"deep":            {strings.Repeat("[", 1<<19), "nested too deeply"},
		"dashes":          {strings.Repeat("- ", 1<<18), "nested too deeply"},
		"large":           {strings.Repeat("#", maxFileBytes+1), "larger than 1 MiB"},
		"laughs":          {laughs(), "too many values"},
	} {
		config := load(t, write(t, map[string]string{"apps/config.yml": c.text}))
		got := showProblems(config)
		if c.problem == "" && (got != "" || config.App("a") == nil) || c.problem != "" && !strings.Contains(got, c.problem) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// laughs is a file that has ten values and means ten thousand million.
func laughs() string {
	var out strings.Builder
	out.WriteString("apps:\n  a:\n    command: uvx\n    startup:\n      x0: &x0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\n")
	for i := range 10 {
		alias := fmt.Sprintf("*x%d", i)
		fmt.Fprintf(&out, "      x%d: &x%d [%s]\n", i+1, i+1, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias, alias, alias}, ", "))
	}
	return out.String()
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "5m": 5 * time.Minute, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute,
		"250ms": 250 * time.Millisecond, "1.5h": 90 * time.Minute, "0": 0, "0s": 0, "1d12h": 36 * time.Hour,
	} {
		if got, err := parseDuration(text, false); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]time.Duration{"30": 30 * time.Second, "0.1": 100 * time.Millisecond, "1e2": 100 * time.Second, "30s": 30 * time.Second} {
		if got, err := parseDuration(text, true); err != nil || got != want {
			t.Errorf("%s seconds is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "s", "10", "-1s", "-1", "10 s", "1h-3m", "ten", "NaN", "inf", "1e400", "0x1p4", "1_0", "999999999d", "9999999d9999999d999999d", "1.s", "１０s"} {
		if got, err := parseDuration(text, false); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	for _, text := range []string{"NaN", "inf", "-inf", "-0.5", "1e400", "1e12", "0x10", "infinity"} {
		if got, err := parseDuration(text, true); err == nil {
			t.Errorf("%q seconds is %v", text, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{"512B": 512, "64KiB": 65536, "1MiB": 1 << 20, "10MB": 10_000_000, "1.5kb": 1500, "2 GiB": 2 << 30} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "10", "MiB", "-1MiB", "1M", "1TiB", "1e3B", "99999999999GiB", "1 MiB "} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestTheHomeNamesItsPlaces(t *testing.T) {
	h := Home{Dir: filepath.FromSlash("/h")}
	got := []string{h.AppsFile(), h.SettingsFile(), h.EnvFile(), h.Data("a", "b"), h.RunDir(), h.LogDir(), h.AppData("k"), h.ManifestFile("k")}
	want := []string{"/h/apps/config.yml", "/h/aurora.yml", "/h/.env", "/h/data/a/b", "/h/data/run", "/h/data/log", "/h/data/app_data/k", "/h/apps/k/manifest.yaml"}
	for i := range want {
		want[i] = filepath.FromSlash(want[i])
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAnAppIsFoundByItsKeyWithItsProblems(t *testing.T) {
	c := load(t, write(t, map[string]string{"apps/config.yml": "apps:\n  a: {command: uvx}\n  b: {command: uvx, x: 1}\n"}))
	if c.App("a") == nil || c.App("c") != nil {
		t.Error("a is there, c is not")
	}
	if len(c.AppProblems("a")) != 0 || len(c.AppProblems("b")) != 1 {
		t.Errorf("problems: %v", c.Problems)
	}
}

// A machine's own zone and language must be ones that the settings accept.
func TestTheSystemHasAZone(t *testing.T) {
	for _, tz := range []string{"", "CST-8", "/etc/localtime", ":Asia/Shanghai", "Local"} {
		if _, err := time.LoadLocation(systemZone(tz)); err != nil {
			t.Errorf("%q: %v", tz, err)
		}
	}
}

func BenchmarkTwentyApps(b *testing.B) {
	var text strings.Builder
	text.WriteString("apps:\n")
	for i := range 20 {
		fmt.Fprintf(&text, `  app-%d:
    enabled: true
    package: org.example.app%d
    startup: {city: 上海, limit: 100, list: [1, 2, 3]}
    mcp:
      transport: stdio
      command: [uvx, server-%d]
      args: ["--verbose", "~/data", "${HOME}"]
      env: {API_KEY: "${KEY}", LEVEL: debug}
      health_timeout_seconds: 10.0
      restart: {enabled: true, max_attempts: 3, backoff_seconds: 2}
    trust: normal
    events: ["weather.*"]
    permissions:
      tools:
        org.example.app%d.get: {risk: low, enabled: true}
`, i, i, i, i)
	}
	files := map[string]string{"apps/config.yml": text.String(), ".env": "KEY=sk-0123456789\n"}
	if settings, err := os.ReadFile("gendoc/examples/aurora.yml"); err == nil {
		files["aurora.yml"] = strings.ReplaceAll(string(settings), "${DEEPSEEK_API_KEY}", "x")
	}
	home := write(b, files)
	b.ReportAllocs()
	for b.Loop() {
		if c := load(b, home); len(c.Errors()) > 0 {
			b.Fatal(c.Errors())
		}
	}
}

// Every field of every file must have a decoder for its type, and a default that
// parses: both would panic.
func TestEveryFieldCanBeDecoded(t *testing.T) {
	for _, text := range []string{"x", "[x]", "{x: y}", "[[x]]", "[{x: y}]"} {
		root, problem := parseTree([]byte(text))
		if problem != nil {
			t.Fatal(problem)
		}
		for _, file := range []reflect.Type{reflect.TypeFor[appEntry](), reflect.TypeFor[manifestFile](), reflect.TypeFor[Settings]()} {
			decodeEach(t, file, root)
		}
	}
}

func decodeEach(t *testing.T, typ reflect.Type, n *node) {
	for _, f := range fieldsOf(typ, nil) {
		ft := typ.FieldByIndex(f.index).Type
		v := reflect.New(ft).Elem()
		applyDefaults(v)
		src := &source{places: map[string]place{}, keys: map[string]place{}, problems: new([]Problem), structs: structs{}}
		src.decode(n, f.key, v, f.tag)
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice && ft != reflect.TypeFor[[]byte]() || ft.Kind() == reflect.Map {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && ft != reflect.TypeFor[commandLine]() {
			decodeEach(t, ft, n)
		}
	}
}

// Files that are none: whoever reads a pipe waits for ever, and some have no end.
func TestFilesThatAreNoneAreNotWaitedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such files there")
	}
	for _, name := range []string{".env", "apps/config.yml", "aurora.yml"} {
		home := write(t, map[string]string{"apps/x": ""})
		pipe := filepath.Join(home, filepath.FromSlash(name))
		if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := showProblems(load(t, home)); !strings.Contains(got, name+": the file cannot be read: it is a pipe or a socket, not a file") {
			t.Errorf("%s: %s", name, got)
		}
		if err := errors.Join(os.Remove(pipe), os.Symlink("/dev/zero", pipe)); err != nil {
			t.Fatal(err)
		}
		if got := showProblems(load(t, home)); !strings.Contains(got, name+": the file cannot be read: it is larger than 16 MiB") {
			t.Errorf("%s: %s", name, got)
		}
		if Digest(pipe) == "" {
			t.Error("it is taken for one that is not there")
		}
		if err := errors.Join(os.Remove(pipe), os.Symlink(os.DevNull, pipe)); err != nil {
			t.Fatal(err)
		}
		if got := showProblems(load(t, home)); strings.Contains(got, "cannot be read") { // how people hide a file
			t.Errorf("%s: %s", name, got)
		}
	}
}
