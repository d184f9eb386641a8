package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

var seeds = []string{
	``, `null`, `{}`, `true`, `[]`, `"x"`, forecast, search,
	`{"$ref":"#"}`, `{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]},"B":{"items":{"$ref":"#/$defs/A"}}}}`,
	`{"type":"object","properties":{"l":{"type":["array","null"],"items":[{"enum":[1,"a",null]},{"const":1e400}]}},"required":["l"],"anyOf":[{"required":["l"]}]}`,
	`{"properties":{"a":{"anyOf":[{"type":"string"},{"anyOf":[{"type":["number","null"]},false]}],"description":"d"}}}`,
	`{"$id":"https://x.example/a","$defs":{"b":{"$id":"b","$anchor":"c"}},"properties":{"x":{"$ref":"b#c"}}}`,
	`{"type":"object","properties":{"l":{"type":"array","items":{"enum":["a","b",null]}},"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},"a":{"type":"object"}},"required":["l"],"additionalProperties":{"type":["number","boolean"]}}`,
	`{"properties":{"查询":{"type":"string"},"\ud800":{"default":"\udc00"}},"required":["查询"]}`,
	`{"minimum":1e999999999,"properties":{"n":{"maximum":-1e-999999999,"multipleOf":1e-1000}}}`,
}

// FuzzConvert: whatever a server sends as its schema, each provider gets
// something it can read, of bounded size.
func FuzzConvert(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "demo.tool", "what it does")
	}
	f.Fuzz(func(t *testing.T, schema []byte, canonical, description string) {
		tools := []Tool{
			{Alias: "one", Canonical: canonical, Description: description, InputSchema: schema},
			{Alias: "two", Canonical: "two", InputSchema: json.RawMessage(`{"type":"object"}`)},
		}
		for _, d := range Dialects() {
			e := Convert(d, tools, &Options{Strict: true})
			if len(e.Names) == 0 || e.Names[len(e.Names)-1] != "two" {
				t.Fatalf("one tool took another with it: %+v", e.Left)
			}
			for _, item := range e.Tools {
				if bound := 4*defaultMaxSchema + 8*len(description); len(item) > bound {
					t.Fatalf("%d bytes, over %d", len(item), bound)
				}
			}
			if canonical != "" {
				validExport(t, d, tools, e)
			}
		}
	})
}

// FuzzCheck: no schema and no arguments make the checker fail, what it says is
// one line that does not depend on luck, and nothing passes at one look that the
// validator would have refused.
func FuzzCheck(f *testing.F) {
	for _, s := range seeds {
		for _, args := range []string{`{}`, `{"city":"a","days":9}`, `{"l":[1,2,{"l":[]}],"n":-1e999999999}`, `{"a":{"b":[[1e5]]}}`, `{"l":["a","\u0062"],"n":null,"a":{},"x":-0.5}`} {
			f.Add([]byte(s), []byte(args))
		}
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		checker, err := Compile(schema)
		if err != nil && strings.Contains(err.Error(), "the validator failed") {
			t.Fatal(err)
		}
		failed := checker.Check(args)
		if err != nil && failed != nil {
			t.Fatalf("a schema that cannot be used (%v) refused arguments: %v", err, failed)
		}
		if failed == nil {
			careful := *checker
			careful.shape = nil
			if failed := careful.Check(args); failed != nil {
				t.Fatalf("%s pass at one look, but the validator says %v", args, failed)
			}
			return
		}
		var located *ArgumentsError
		if !errors.As(failed, &located) || failed.Error() == "" || strings.Contains(failed.Error(), "\n") {
			t.Fatalf("%q", failed)
		}
		if again := checker.Check(args); again == nil || again.Error() != failed.Error() {
			t.Fatalf("first %q, then %v", failed, again)
		}
	})
}

// FuzzArguments: pairs never make anything but a JSON object.
func FuzzArguments(f *testing.F) {
	for _, pairs := range []string{"a=1", "tags=a\ntags=[1]\nrange.to=3", "a.b=1\na:={\"b\":2}", "grid=[[1]]\ngrid=[2]", "one=[1]\nany.x.y=z\n.=.\n=\n:="} {
		f.Add([]byte(search), pairs)
	}
	f.Fuzz(func(t *testing.T, schema []byte, pairs string) {
		args, err := Arguments(schema, strings.Split(pairs, "\n"))
		if err != nil {
			return
		}
		if !json.Valid(args) || !bytes.HasPrefix(args, []byte("{")) {
			t.Fatalf("%s", args)
		}
	})
}

// FuzzValue: what is read and written again is the same JSON.
func FuzzValue(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := parse(raw)
		if err != nil {
			return
		}
		out := v.json()
		if len(out) != v.size {
			t.Fatalf("%d bytes, %d foretold: %s", len(out), v.size, out)
		}
		again, err := parse(out)
		if err != nil || !bytes.Equal(again.json(), out) {
			t.Fatalf("%s is not read back: %v", out, err)
		}
	})
}
