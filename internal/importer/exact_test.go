package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/names"
)

// Whatever stands in args, env and headers, the app gets it as the client would
// have given it: dollars, quotes, braces, blanks, lines.
func TestWhatIsImportedArrivesAsItWas(t *testing.T) {
	variable := regexp.MustCompile(`\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*(?::-|\})|\$\{(?:input|file|workspace|cwd)`)
	pieces := []string{"$", "${", "}", "{", "$$", "${x y}", "${%}", "'", `"`, `\`, "#", " ", "\n", "\t", "上海", "🌧", "a", "B1", ":", ",", "=", "&", "*", "!", "%", "~", "-", "[", "sk-invented0123456789", "null", "true", "0x1F", "\u2028"}
	for range 60 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 6))
		some := func() string {
			for {
				var b strings.Builder
				for range r.IntN(6) {
					b.WriteString(pieces[r.IntN(len(pieces))])
				}
				if s := b.String(); !variable.MatchString(s) {
					return s
				}
			}
		}
		var args []string
		env := map[string]string{}
		headers := map[string]string{}
		for i := range r.IntN(5) {
			args = append(args, some())
			env[fmt.Sprintf("%s_%d", []string{"TOKEN", "PLAIN", "path"}[r.IntN(3)], i)] = some()
			headers[fmt.Sprintf("X-%s-%d", []string{"Api-Key", "Plain"}[r.IntN(2)], i)] = strings.NewReplacer("\n", "", "\t", "").Replace(some())
		}
		source, err := json.Marshal(map[string]any{
			"local":  map[string]any{"command": "npx", "args": args, "env": env},
			"remote": map[string]any{"url": "https://example.com/mcp", "headers": headers},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := set(t, &txtar.Archive{Files: []txtar.File{{Name: "source -", Data: source}}})
		s.open = true // the same pieces stand elsewhere, too
		plan, err := Make(s.source, Options{Home: s.home})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, source)
		}
		if err := plan.Write(); err != nil {
			t.Fatal(err)
		}
		s.check(t, plan, describe(plan))
		c, err := config.Load(s.home)
		if err != nil || c.App("local") == nil || c.App("remote") == nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, source, describe(plan))
		}
		local, remote := c.App("local"), c.App("remote")
		for i, arg := range args {
			if strings.HasPrefix(arg, "~/") || arg == "~" {
				args[i] = local.MCP.Command[i+1] // the folder of the user, as a shell would have made it
			}
		}
		if got := local.MCP.Command[1:]; !slices.Equal(got, args) && len(args) > 0 {
			t.Errorf("seed %d: the arguments are %q, want %q", seed, got, args)
		}
		for name, value := range env {
			if !slices.Contains(local.MCP.Env, name+"="+value) {
				t.Errorf("seed %d: env %s is not %q", seed, name, value)
			}
		}
		for name, value := range headers {
			if got := remote.MCP.Headers[name]; got != strings.TrimSpace(value) {
				t.Errorf("seed %d: header %s is %q, want %q", seed, name, got, value)
			}
		}
		if t.Failed() {
			t.Fatalf("%s\n%s", source, plan.Files[len(plan.Files)-1].After)
		}
	}
}

// FuzzParse compares with a strict reader what is strict JSON, and looks for texts
// that are too much for this one.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"mcpServers": {"a": {"command": "x", "args": ["\u4e0a\ud83c\udf27", 1e5, true, null]}}}`,
		"// x\n{\"a\": /* y */ [1,], }", `"a": {}`, "{\u201ca\u201d: 1}", `{"a": "\q"}`, `[[[[`, "\xff\xfe{\x00}\x00", "{\"a\"\n1}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parse(data)
		if err != nil {
			syntax, ok := err.(*SyntaxError)
			if !ok || syntax.Line < 1 || syntax.Column < 1 || syntax.Message == "" {
				t.Errorf("%#v", err)
			}
		}
		var strict any
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		if json.Valid(data) && d.Decode(&strict) == nil && invalidUTF8(string(data)) < 0 && depth(strict) < maxDepth {
			if err != nil {
				t.Fatalf("strict JSON is refused: %v", err)
			}
			if loose := v.any(); !reflect.DeepEqual(loose, strict) {
				t.Errorf("%v, want %v", loose, strict)
			}
		}
		if err != nil {
			return
		}
		servers, inputs, err := find(v)
		if err != nil {
			return
		}
		r := newReading(Source{}, inputs, &home{})
		r.read = func(string) ([]byte, error) { return []byte("A=b\n"), nil }
		r.exists = func(string) bool { return false }
		for _, found := range servers {
			s := r.server(found)
			if s.refused == "" {
				s.items(&namer{secret: func(string, string) string { return "S" }, input: func(string, string) string { return "I" }})
				if key := base(&s); key == "" || !names.ValidPackage(packageOf(&s, key)) {
					t.Errorf("%q has the key %q and the package %q", s.name, key, packageOf(&s, key))
				}
			}
		}
	})
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	case map[string]any:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	default:
		return 0
	}
	return deepest + 1
}

// any returns a value as encoding/json would.
func (v *value) any() any {
	switch v.kind {
	case boolKind:
		return v.text == "true"
	case numberKind:
		return json.Number(v.text)
	case stringKind:
		return v.text
	case listKind:
		list := []any{}
		for _, item := range v.items {
			list = append(list, item.any())
		}
		return list
	case objectKind:
		object := map[string]any{}
		for _, m := range v.members {
			object[m.name] = m.value.any()
		}
		return object
	}
	return nil
}

func TestKeysCanBeFilesAndPackagesAreLawful(t *testing.T) {
	for name, want := range map[string]string{
		"weather": "weather", "My Server": "My-Server", "天气": "天气", "a/b": "a-b", "..": "", "-x-": "x", "x.": "x", "@a/b": "a-b",
		"https://github.com/x/y.git": "y", "nul": "nul-app", "a--b": "a-b", "a.-b": "a-b", "été": "été", "🌧": "", "_x_": "_x_",
	} {
		if got := keyOf(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
	if key := keyOf(strings.Repeat("很长", 100)); len(key) > 60 || strings.ContainsRune(key, '\uFFFD') {
		t.Errorf("a long name became %q", key)
	}
}
