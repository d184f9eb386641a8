package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/names"
)

// definitions are tools as real servers send them.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (d definition) tool(pkg string) Tool {
	canonical := names.Canonical(pkg, d.Name)
	return Tool{
		Alias: names.Alias(canonical), Canonical: canonical, App: pkg,
		Title: d.Title, Description: d.Description, InputSchema: d.InputSchema,
	}
}

// registry reads a corpus of 755 tools of 82 servers that lies beside the
// repository where there is room for it.
func registry(t testing.TB) []Tool {
	const file = "../../../shared/data/tool-corpus/registry-tools.json"
	raw, err := os.ReadFile(filepath.FromSlash(file))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no corpus of tools at shared/data/tool-corpus")
	}
	if err != nil {
		t.Fatal(err)
	}
	var servers []struct {
		Server string       `json:"server"`
		Tools  []definition `json:"tools"`
	}
	if err := json.Unmarshal(raw, &servers); err != nil {
		t.Fatal(err)
	}
	var out []Tool
	for _, s := range servers {
		for _, d := range s.Tools {
			out = append(out, d.tool(s.Server))
		}
	}
	return out
}

// real reads the definitions under testdata/real: whole tool lists of servers,
// as recorded from them.
func real(t testing.TB) []Tool {
	files, err := filepath.Glob("testdata/real/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	var out []Tool
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []definition
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, d := range list {
			out = append(out, d.tool(strings.TrimSuffix(filepath.Base(file), ".json")))
		}
	}
	return out
}

func TestEveryRealToolReachesEveryModel(t *testing.T) {
	for name, read := range map[string]func(testing.TB) []Tool{"registry": registry, "recorded": real} {
		t.Run(name, func(t *testing.T) {
			tools := read(t)
			for _, d := range Dialects() {
				e := Convert(d, tools, &Options{Max: len(tools)})
				validExport(t, d, tools, e)
				for _, l := range e.Left {
					t.Errorf("%s: %s was left out: %s", d, l.Canonical, l.Reason)
				}
				// Twice the same gives the same bytes.
				again := Convert(d, tools, &Options{Max: len(tools)})
				for i := range e.Tools {
					if string(e.Tools[i]) != string(again.Tools[i]) {
						t.Fatalf("%s: %s\n%s", d, e.Tools[i], again.Tools[i])
					}
				}
			}
			for _, tool := range tools {
				if _, err := Compile(tool.InputSchema); err != nil {
					t.Errorf("%s cannot be checked: %v", tool.Canonical, err)
				}
			}
			t.Logf("%d tools", len(tools))
		})
	}
}

func TestSoundRealSchemasAreNotTouched(t *testing.T) {
	for name, read := range map[string]func(testing.TB) []Tool{"registry": registry, "recorded": real} {
		t.Run(name, func(t *testing.T) {
			for _, tool := range read(t) {
				v, err := parse(tool.InputSchema)
				if err != nil || v.get("type").str() != "object" || v.get("properties") == nil || strings.Contains(string(tool.InputSchema), `"$`) {
					continue
				}
				item := Convert(OpenAI, []Tool{tool}, nil).Tools[0]
				if got := parameters(t, OpenAI, item); got != string(v.json()) {
					t.Errorf("%s\ngot  %s\nwant %s", tool.Canonical, got, v.json())
				}
			}
		})
	}
}

// thousand returns a catalog as large as they come.
func thousand(b *testing.B) []Tool {
	base := real(b)
	out := make([]Tool, 1000)
	for i := range out {
		out[i] = base[i%len(base)]
		out[i].Alias = fmt.Sprintf("%.50s_%d", out[i].Alias, i)
	}
	return out
}

func BenchmarkConvert1000(b *testing.B) {
	tools := thousand(b)
	for _, d := range Dialects() {
		b.Run(string(d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e := Convert(d, tools, &Options{Max: len(tools)}); len(e.Names) != len(tools) {
					b.Fatal(e.Left)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	tools := thousand(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := Compile(tools[i%len(tools)].InputSchema); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck checks arguments that are seen at one look, and others for
// which the validator is needed.
func BenchmarkCheck(b *testing.B) {
	large := `{"path":"x","who":"` + strings.Repeat("a 上海 line\\n", 1<<16) + `"}`
	for _, c := range []struct{ name, schema, args string }{
		{"any object", `{"type":"object"}`, `{"city":"上海","days":3}`},
		{"types and names", page, `{"path":"x","lines":[1,2],"mode":"read"}`},
		{"bounds", forecast, `{"city":"上海","days":3}`},
		{"1 MiB any object", `{"type":"object"}`, large},
		{"1 MiB types and names", page, large},
		{"1 MiB bounds", `{"properties":{"who":{"minLength":1}}}`, large},
	} {
		b.Run(c.name, func(b *testing.B) {
			checker, err := Compile(json.RawMessage(c.schema))
			if err != nil {
				b.Fatal(err)
			}
			args := []byte(c.args)
			b.ReportAllocs()
			b.SetBytes(int64(len(args)))
			for b.Loop() {
				if err := checker.Check(args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
