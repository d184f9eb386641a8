package toolschema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// convert returns what one tool with this schema looks like to a model: its
// parameters, or "left: reason", or "none".
func convert(t *testing.T, d Dialect, schema string) string {
	t.Helper()
	e := Convert(d, []Tool{{Alias: "demo__tool", Canonical: "demo.tool", Description: "d", InputSchema: json.RawMessage(schema)}}, nil)
	if len(e.Left) > 0 {
		return "left: " + e.Left[0].Reason
	}
	return parameters(t, d, e.Tools[0])
}

func parameters(t *testing.T, d Dialect, item json.RawMessage) string {
	t.Helper()
	v, err := parse(item)
	if err != nil {
		t.Fatalf("%s is %s: %v", item, err, err)
	}
	var p *value
	switch d {
	case OpenAI:
		p = v.get("function").get("parameters")
	case Anthropic:
		p = v.get("input_schema")
	case Gemini:
		p = v.get("functionDeclarations").items[0].get("parameters")
	}
	if p == nil {
		return "none"
	}
	return string(p.json())
}

func TestReferencesAreWrittenOut(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"C01: pydantic style, a description beside the reference": {
			`{"type":"object","$defs":{"Q":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}},"properties":{"q":{"$ref":"#/$defs/Q","description":"d"}},"required":["q"]}`,
			`{"type":"object","properties":{"q":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"description":"d"}},"required":["q"]}`,
		},
		"a description of its own wins over the target's": {
			`{"type":"object","definitions":{"Q":{"type":"string","description":"old"}},"properties":{"q":{"$ref":"#/definitions/Q","description":"new"},"p":{"$ref":"#/definitions/Q"}}}`,
			`{"type":"object","properties":{"q":{"type":"string","description":"new"},"p":{"type":"string","description":"old"}}}`,
		},
		"constraints beside a reference both hold": {
			`{"type":"object","$defs":{"Q":{"type":"integer","minimum":1}},"properties":{"q":{"$ref":"#/$defs/Q","minimum":5}}}`,
			`{"type":"object","properties":{"q":{"allOf":[{"type":"integer","minimum":1}],"minimum":5}}}`,
		},
		"the root is a reference": {
			`{"$ref":"#/$defs/Q","$defs":{"Q":{"type":"object","properties":{"a":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`,
		},
		"anchors, ids, escaped pointers, any place": {
			`{"$id":"https://x.example/s","type":"object","properties":{"a":{"$ref":"#here"},"b":{"$ref":"item"},"c":{"$ref":"#/x-parts/a~1b%20c"},"d":{"$ref":"#/properties/a0/items"},"a0":{"type":"array","items":{"type":"boolean"}}},"x-parts":{"a/b c":{"type":"null"}},"$defs":{"h":{"$anchor":"here","type":"string"},"i":{"$id":"item","type":"number"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"null"},"d":{"type":"boolean"},"a0":{"type":"array","items":{"type":"boolean"}}},"x-parts":{"a/b c":{"type":"null"}}}`,
		},
		"a reference to elsewhere is dropped, nothing is loaded": {
			`{"type":"object","properties":{"a":{"$ref":"https://x.example/other.json","description":"d"},"b":{"$ref":"file:///etc/hostname"},"c":{"$ref":"#/nowhere"}}}`,
			`{"type":"object","properties":{"a":{"description":"d"},"b":{},"c":{}}}`,
		},
		"what only looks like a reference stays": {
			`{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"object"},"$schema":{"default":{"$ref":"#/x"}}},"required":["$ref"]}`,
			`{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"object"},"$schema":{"default":{"$ref":"#/x"}}},"required":["$ref"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := convert(t, OpenAI, c.schema); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRecursionIsCut(t *testing.T) {
	bomb := func(levels int) string {
		var b strings.Builder
		b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
		for i := range levels {
			fmt.Fprintf(&b, `"d%d":{"type":"object","properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
		}
		fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, levels)
		return b.String()
	}
	for name, schema := range map[string]string{
		"a tree":               `{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`,
		"itself":               `{"$ref":"#"}`,
		"itself in itself":     `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`,
		"itself in a property": `{"type":"object","properties":{"child":{"$ref":"#"}}}`,
		"A to B to A":          `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
		"25 levels of two":     bomb(25),
		"2000 levels of two":   bomb(2000),
		"a filter of ten ways": `{"type":"object","properties":{"f":{"$ref":"#/$defs/F"}},"$defs":{"F":{"anyOf":[` +
			strings.Repeat(`{"type":"object","properties":{"a":{"$ref":"#/$defs/F"},"b":{"$ref":"#/$defs/F"}}},`, 10) + `{"type":"string"}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range Dialects() {
				e := Convert(d, []Tool{
					{Alias: "bad", Canonical: "bad", InputSchema: json.RawMessage(schema)},
					{Alias: "good", Canonical: "good", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
				}, nil)
				if len(e.Names) != 2 {
					t.Fatalf("%s: not both tools are there: %v", d, e.Left)
				}
				size := 0
				for _, item := range e.Tools {
					size += len(item)
					if !json.Valid(item) || strings.Contains(string(item), "$ref") {
						t.Fatalf("%s: %.300s", d, item)
					}
				}
				if size > defaultMaxSchema {
					t.Errorf("%s: %d bytes", d, size)
				}
				if name != "itself" && len(e.Notes) == 0 {
					t.Errorf("%s: nobody is told of the cut", d)
				}
			}
		})
	}
	t.Run("a tree is shown three levels deep", func(t *testing.T) {
		got := convert(t, OpenAI, `{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","description":"a node","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`)
		node := `{"type":"object","description":"a node"}`
		for range 3 {
			node = `{"type":"object","description":"a node","properties":{"kids":{"type":"array","items":` + node + `}}}`
		}
		if want := `{"type":"object","properties":{"root":` + node + `}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestToolsWithoutParameters(t *testing.T) {
	for _, schema := range []string{
		``, `null`, `{}`, `true`, `{"type":"object"}`, `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}`,
		`{"type":"object","properties":null,"required":null}`, `{"type":"object","properties":[],"description":null}`,
		`{"type":"string"}`, `{"type":["array","null"]}`, `{"type":["object","null"]}`, `{"type":"dict"}`, `{"type":"nonsense"}`,
	} {
		for d, want := range map[Dialect]string{
			OpenAI: `{"type":"object","properties":{}}`, Anthropic: `{"type":"object","properties":{}}`, Gemini: "none",
		} {
			if got := convert(t, d, schema); got != want {
				t.Errorf("%s %s: got %s, want %s", d, schema, got, want)
			}
		}
	}
	if got := convert(t, OpenAI, `{"properties":{"a":{}}}`); got != `{"type":"object","properties":{"a":{}}}` {
		t.Errorf("properties without a type: %s", got)
	}
}

func TestOddToolsAreLeftOutAlone(t *testing.T) {
	e := Convert(OpenAI, []Tool{
		{Alias: "good", Canonical: "good", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Alias: "text", Canonical: "text", InputSchema: json.RawMessage(`"x"`)},
		{Alias: "list", Canonical: "list", InputSchema: json.RawMessage(`[1]`)},
		{Alias: "broken", Canonical: "broken", InputSchema: json.RawMessage(`{"type":`)},
		{Alias: "deep", Canonical: "deep", InputSchema: json.RawMessage(strings.Repeat(`{"items":`, 300) + `{}` + strings.Repeat(`}`, 300))},
		{Alias: "huge", Canonical: "huge", InputSchema: json.RawMessage(`{"x":"` + strings.Repeat("a", maxInput) + `"}`)},
		{Alias: "im.dotted", Canonical: "im.dotted"},
		{Alias: "", Canonical: "nameless"},
		{Alias: strings.Repeat("a", 65), Canonical: "long"},
		{Alias: "twin", Canonical: "twin.a"},
		{Alias: "twin", Canonical: "twin.b"},
	}, nil)
	if !slices.Equal(e.Names, []string{"good"}) {
		t.Errorf("in the request: %v", e.Names)
	}
	var left []string
	for _, l := range e.Left {
		if l.Reason == "" {
			t.Errorf("%s was left out without a reason", l.Canonical)
		}
		left = append(left, l.Canonical)
	}
	if want := []string{"text", "list", "broken", "deep", "huge", "im.dotted", "nameless", "long", "twin.a", "twin.b"}; !slices.Equal(left, want) {
		t.Errorf("left out %v, want %v", left, want)
	}
}

func TestLargeSchemasAreShownLoosely(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"type":"string"}`)
	for i := range 3000 {
		fmt.Fprintf(&b, `,"property_%d":{"type":"string","description":"one of many"}`, i)
	}
	b.WriteString(`}}`)
	e := Convert(OpenAI, []Tool{{Alias: "big", Canonical: "big", InputSchema: json.RawMessage(b.String())}}, nil)
	if got := parameters(t, OpenAI, e.Tools[0]); got != `{"type":"object","properties":{}}` || len(e.Notes) != 1 {
		t.Errorf("got %.100s, notes %q", got, e.Notes)
	}
	e = Convert(OpenAI, []Tool{{Alias: "big", Canonical: "big", InputSchema: json.RawMessage(b.String())}}, &Options{MaxSchema: 1 << 20})
	if got := parameters(t, OpenAI, e.Tools[0]); got != b.String() || len(e.Notes) != 0 {
		t.Errorf("a higher limit was not used: %d bytes, notes %q", len(got), e.Notes)
	}
}

func TestWhatIsSoundStaysAsItIs(t *testing.T) {
	for _, schema := range []string{
		// numbers and strings keep their text, keys their order
		`{"zeta":1,"type":"object","properties":{"b":{"type":"integer","default":9007199254740993,"maximum":1e400,"minimum":-0.10},"a":{"type":"string","default":"<b>&\u00e9\/"}},"alpha":{"x":[1,{"$schema":2}]}}`,
		// C06: nullable fields and boolean schemas, for OpenAI
		`{"type":"object","properties":{"l":{"type":["array","null"],"items":{"type":["object","null"],"properties":{"v":true}}},"s":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"a":{"type":"array"}}}`,
		// C08: never strict, nothing narrowed
		`{"type":"object","properties":{"meta":{"type":"object","description":"any keys"},"n":{"type":"integer","default":3}},"required":[]}`,
		// combinations below the top
		`{"type":"object","properties":{"x":{"oneOf":[{"const":"a"},{"enum":["b",1,null]}],"not":{"const":7}}},"additionalProperties":{"type":"string"},"if":{"required":["x"]},"then":{"required":["y"]}}`,
	} {
		for _, d := range []Dialect{OpenAI, Anthropic} {
			if got := convert(t, d, schema); got != schema {
				t.Errorf("%s\ngot  %s\nwant %s", d, got, schema)
			}
		}
	}
}

func TestSlipsOfServersAreMended(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"int","description":null,"required":true},"b":{"type":["str","null","any"]},"c":"string","d":{"type":"any","enum":[]}},"required":["a",7,"a"]}`: `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":["string","null"]},"d":{}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"items":"string","type":"array","anyOf":"x","minLength":"3"}}}`:                                                                                        `{"type":"object","properties":{"a":{"type":"array"}}}`,
	} {
		if got := convert(t, OpenAI, schema); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTheTopIsAlwaysAnObject(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"allOf joins": {
			`{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}],"required":["c"],"properties":{"c":{}}}`,
			`{"type":"object","required":["c","a","b"],"properties":{"c":{},"a":{"type":"string"},"b":{"type":"string"}}}`,
		},
		"anyOf requires what all require, and keeps both meanings of a name": {
			`{"anyOf":[{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},{"type":"object","properties":{"kind":{"const":"url"},"url":{"type":"string"}},"required":["url","kind"]},{"type":"null"}]}`,
			`{"type":"object","properties":{"kind":{"anyOf":[{"const":"file"},{"const":"url"}]},"path":{"type":"string"},"url":{"type":"string"}},"required":["kind"]}`,
		},
		"a union behind references": {
			`{"$ref":"#/$defs/U","$defs":{"U":{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]},"A":{"properties":{"a":{"type":"string"}}},"B":{"properties":{"a":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`,
		},
		"not, enum and const go": {
			`{"type":"object","properties":{"a":{}},"not":{"required":["a"]},"enum":[{}],"const":{}}`,
			`{"type":"object","properties":{"a":{}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range []Dialect{OpenAI, Anthropic} {
				if got := convert(t, d, c.schema); got != c.want {
					t.Errorf("%s\ngot  %s\nwant %s", d, got, c.want)
				}
			}
		})
	}
}

func TestGemini(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"C06: nullable arrays of nullable objects": {
			`{"type":["array","null"],"items":{"type":["object","null"],"properties":{"v":true}}}`,
			`{"type":"array","nullable":true,"items":{"type":"object","nullable":true,"properties":{"v":{}}}}`,
		},
		"C06: anyOf with null": {
			`{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}`,
			`{"type":"string","nullable":true,"default":null}`,
		},
		"C06: every array has items": {`{"type":"array"}`, `{"type":"array","items":{}}`},
		"several types":              {`{"type":["string","integer","null"],"description":"d","minLength":2,"minimum":3}`, `{"anyOf":[{"type":"string","nullable":true,"minLength":2,"description":"d"},{"type":"integer","nullable":true,"minimum":3,"description":"d"}]}`},
		"a real choice":              {`{"description":"d","anyOf":[{"type":"string","description":"own"},{"type":"array","items":{"type":"number"}}]}`, `{"anyOf":[{"type":"string","description":"own"},{"type":"array","items":{"type":"number"},"description":"d"}]}`},
		"choices in choices":         {`{"oneOf":[{"anyOf":[{"type":"string"},{"type":"number"}]},{"type":"boolean"}]}`, `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"}]}`},
		"a choice that only requires": {
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		},
		"allOf is joined": {
			`{"description":"outer","allOf":[{"type":"object","description":"inner","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
			`{"type":"object","description":"outer","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`,
		},
		"an enum of strings":        {`{"enum":["a","b","","a",null]}`, `{"type":"string","nullable":true,"enum":["a","b"]}`},
		"an enum of numbers":        {`{"type":"integer","enum":[1,2],"description":"d"}`, `{"type":"integer","description":"d (one of: 1, 2)"}`},
		"a mixed enum":              {`{"enum":["a",1,true]}`, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","description":"(one of: 1)"},{"type":"boolean","description":"(one of: true)"}]}`},
		"a constant":                {`{"const":"x"}`, `{"type":"string","enum":["x"]}`},
		"a type and an enum beside": {`{"type":"number","enum":[1,2.5]}`, `{"type":"number","description":"(one of: 1, 2.5)"}`},
		"unknown formats become words": {
			`{"type":"string","format":"uri","description":"where"}`, `{"type":"string","description":"where (format: uri)"}`,
		},
		"known formats stay": {`{"type":"string","format":"date-time"}`, `{"type":"string","format":"date-time"}`},
		"open objects":       {`{"type":"object","additionalProperties":{"type":"string"},"minProperties":1}`, `{"type":"object","minProperties":1}`},
		"required names exist": {
			`{"type":"object","properties":{"a":{"type":"string"},"gone":false},"required":["a","gone","ghost"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		},
		"tuples":                        {`{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"minItems":2}`, `{"type":"array","minItems":2,"items":{"anyOf":[{"type":"string"},{"type":"number"}]}}`},
		"bounds":                        {`{"type":"integer","exclusiveMinimum":0,"maximum":1e400,"multipleOf":5}`, `{"type":"integer","minimum":0}`},
		"a default beyond every number": {`{"type":"number","default":1e400}`, `{"type":"number"}`},
		"the type is plain to see":      {`{"properties":{"a":{"items":{"type":"string"}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
		"foreign keywords go":           {`{"type":"string","x-order":1,"$comment":"c","examples":["e"],"readOnly":true,"nullable":true}`, `{"type":"string","nullable":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := convert(t, Gemini, `{"type":"object","properties":{"p":`+c.schema+`}}`)
			if want := `{"type":"object","properties":{"p":` + c.want + `}}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestAnthropicKeys(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"$filter":{"type":"string"},"a":{"type":"string"}},"required":["a"]}`:            `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		`{"type":"object","properties":{"查询":{"type":"string"}},"required":["查询"]}`:                                      `left: Anthropic takes no property called "查询", and it is required`,
		`{"type":"object","properties":{"o":{"type":"object","properties":{"a b":{}},"required":["a b"]}}}`:              `{"type":"object","properties":{"o":{"type":"object"}}}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a b":{},"c":{}}}}}}`: `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"c":{}}}}}}`,
	} {
		if got := convert(t, Anthropic, schema); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := convert(t, OpenAI, schema); got != schema {
			t.Errorf("OpenAI lost something: %s", got)
		}
	}
}

func TestStrictOnlyWhereNothingChanges(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                                            true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                         false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                                                             false,
		`{"type":"object","properties":{"meta":{"type":"object"}},"required":["meta"],"additionalProperties":false}`:                                                                      false,
		`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"type":"integer"}}},"required":["a","b"],"additionalProperties":false}`:               true,
		`{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`:                                                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}},"required":["a"],"additionalProperties":false}`:                                                 false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"object","properties":{},"additionalProperties":false}]}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`:                                                                                           false,
	} {
		tool := Tool{Alias: "t", Canonical: "t", InputSchema: json.RawMessage(schema)}
		item := string(Convert(OpenAI, []Tool{tool}, &Options{Strict: true}).Tools[0])
		if got := strings.HasSuffix(item, `,"strict":true}}`); got != want {
			t.Errorf("strict %v, want %v: %s", got, want, item)
		}
		if item := string(Convert(OpenAI, []Tool{tool}, nil).Tools[0]); strings.Contains(item, "strict") {
			t.Errorf("strict without being asked: %s", item)
		}
	}
}

func TestTheItemsOfEachProvider(t *testing.T) {
	tools := []Tool{
		{Alias: "a__x", Canonical: "a.x", Description: "Does <x> & more", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		{Alias: "a__y", Canonical: "a.y"},
	}
	for d, want := range map[Dialect]string{
		OpenAI:    `[{"type":"function","function":{"name":"a__x","description":"Does <x> & more","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}},{"type":"function","function":{"name":"a__y","description":"a.y","parameters":{"type":"object","properties":{}}}}]`,
		Anthropic: `[{"name":"a__x","description":"Does <x> & more","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"a__y","description":"a.y","input_schema":{"type":"object","properties":{}}}]`,
		Gemini:    `[{"functionDeclarations":[{"name":"a__x","description":"Does <x> & more","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"a__y","description":"a.y"}]}]`,
	} {
		var got []string
		for _, item := range Convert(d, tools, nil).Tools {
			got = append(got, string(item))
		}
		if s := "[" + strings.Join(got, ",") + "]"; s != want {
			t.Errorf("%s\ngot  %s\nwant %s", d, s, want)
		}
		if e := Convert(d, nil, nil); e.Tools == nil || len(e.Tools) != 0 {
			t.Errorf("%s: no tools give %v", d, e.Tools)
		}
	}
}

func TestDescriptionsNameTheTool(t *testing.T) {
	for _, c := range []struct {
		tool Tool
		want string
	}{
		{Tool{Alias: "a__x", Canonical: "a.x", Description: " does x \n"}, "does x"},
		{Tool{Alias: "a__x", Canonical: "a.x", Title: "The X", Description: "does x"}, "does x"},
		{Tool{Alias: "a__x", Canonical: "a.x", Title: "The X"}, "The X"},
		{Tool{Alias: "a__x", Canonical: "a.x"}, "a.x"},
		{Tool{Alias: "demo_x4kplxdm67q", Canonical: "demo.天气", Description: "查天气"}, "demo.天气: 查天气"},
		{Tool{Alias: "demo_x4kplxdm67q", Canonical: "demo.天气", Title: "天气", Description: "查天气"}, "天气 (demo.天气): 查天气"},
		{Tool{Alias: "demo_x4kplxdm67q", Canonical: "demo.天气"}, "demo.天气"},
	} {
		if got := describe(c.tool); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDescriptionsAreTrimmedBetweenCharacters(t *testing.T) {
	long := strings.Repeat("天气", 10_000)
	schema := `{"type":"object","properties":{"a":{"type":"string","description":"` + long + `"}}}`
	tool := Tool{Alias: "t", Canonical: "t", Description: long, InputSchema: json.RawMessage(schema)}
	for _, c := range []struct {
		opt  *Options
		want int
	}{{nil, 1024}, {&Options{MaxDescription: 10}, 10}, {&Options{MaxDescription: 1}, 1}} {
		e := Convert(OpenAI, []Tool{tool}, c.opt)
		v, err := parse(e.Tools[0])
		if err != nil {
			t.Fatal(err)
		}
		f := v.get("function")
		for got, want := range map[string]int{
			f.get("description").str(): c.want,
			f.get("parameters").get("properties").get("a").get("description").str(): maxInner,
		} {
			if n := utf8.RuneCountInString(got); n != want || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
				t.Errorf("%d characters, want %d: %.60q", n, want, got)
			}
		}
		if len(e.Notes) != 2 {
			t.Errorf("notes: %q", e.Notes)
		}
	}
}

func TestTheLimitOfTools(t *testing.T) {
	var tools []Tool
	add := func(app string, n int) {
		for i := range n {
			name := fmt.Sprintf("%s__t%d", app, i)
			tools = append(tools, Tool{Alias: name, Canonical: strings.ReplaceAll(name, "__", "."), App: app})
		}
	}
	add("big", 140)
	add("own", 2)
	add("s1", 1)
	add("s2", 1)
	count := func(e Export) map[string]int {
		n := map[string]int{}
		for _, name := range e.Names {
			app, _, _ := strings.Cut(name, ".")
			n[app]++
		}
		return n
	}
	t.Run("C09: small apps stay whole, the large one fills the room", func(t *testing.T) {
		e := Convert(OpenAI, tools, &Options{Own: []string{"own"}})
		if n := count(e); len(e.Tools) != 128 || n["own"] != 2 || n["s1"] != 1 || n["s2"] != 1 || n["big"] != 124 {
			t.Errorf("%v", n)
		}
		if e.Names[0] != "big.t0" || e.Names[123] != "big.t123" || e.Names[127] != "s2.t0" {
			t.Error("the order is not that of the tools given")
		}
		if len(e.Left) != 16 || e.Left[0].Canonical != "big.t124" {
			t.Errorf("left out: %v", e.Left)
		}
	})
	t.Run("tools asked for come before whole apps, own apps before those", func(t *testing.T) {
		e := Convert(OpenAI, tools, &Options{Max: 4, Own: []string{"own"}, Keep: []string{"big.t139", "s2.*", "s1"}})
		if want := []string{"big.t139", "own.t0", "own.t1", "s2.t0"}; !slices.Equal(e.Names, want) {
			t.Errorf("got %v, want %v", e.Names, want)
		}
	})
	t.Run("everything at the limit", func(t *testing.T) {
		if e := Convert(Gemini, tools, &Options{Max: len(tools)}); len(e.Names) != len(tools) || len(e.Left) != 0 {
			t.Errorf("%d of %d", len(e.Names), len(tools))
		}
	})
}

func TestTextIsAlwaysUnicode(t *testing.T) {
	e := Convert(OpenAI, []Tool{{
		Alias: "t_x", Canonical: "t.\xb9", Title: "\xe3", Description: "\xb9\xe3 caf\xe9",
		InputSchema: json.RawMessage("{\"type\":\"object\",\"properties\":{\"\\ud800k\":{\"default\":\"\\udc00 \\ud83c\\udf27 \xb9\"}}}"),
	}}, nil)
	item := string(e.Tools[0])
	if !utf8.ValidString(item) || strings.Contains(item, `\ud8`) && !strings.Contains(item, `\ud83c\udf27`) || strings.Contains(item, `\udc00`) {
		t.Errorf("%q", item)
	}
	if got := parameters(t, OpenAI, e.Tools[0]); got != `{"type":"object","properties":{"�k":{"default":"� 🌧 �"}}}` {
		t.Errorf("%s", got)
	}
}

// validExport fails when a provider would refuse what was exported.
func validExport(t *testing.T, d Dialect, tools []Tool, e Export) {
	t.Helper()
	if len(e.Names)+len(e.Left) != len(tools) {
		t.Fatalf("%d in, %d out, %d left", len(tools), len(e.Names), len(e.Left))
	}
	name := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	check := func(f *value, key string) {
		t.Helper()
		if !name.MatchString(f.get("name").str()) || f.get("description").str() == "" {
			t.Fatalf("%s", f.json())
		}
		p := f.get(key)
		if p == nil && d == Gemini {
			return
		}
		if p.get("type").str() != "object" || p.get("properties") == nil || p.get("properties").kind != object {
			t.Fatalf("%s", f.json())
		}
		for _, k := range []string{"$schema", "$id", "$ref", "$defs", "allOf", "anyOf", "oneOf", "not"} {
			if p.get(k) != nil {
				t.Fatalf("%s at the top: %s", k, f.json())
			}
		}
		if d == Gemini {
			validGemini(t, p)
		}
	}
	for _, item := range e.Tools {
		if !json.Valid(item) || !utf8.Valid(item) {
			t.Fatalf("%s", item)
		}
		v, err := parse(item)
		if err != nil {
			t.Fatal(err)
		}
		switch d {
		case OpenAI:
			check(v.get("function"), "parameters")
		case Anthropic:
			check(v, "input_schema")
		case Gemini:
			for _, f := range v.get("functionDeclarations").items {
				check(f, "parameters")
			}
		}
	}
}

// validGemini fails on anything outside Gemini's Schema type.
func validGemini(t *testing.T, s *value) {
	t.Helper()
	if any := s.get("anyOf"); any != nil && len(s.members) != 1 {
		t.Fatalf("something beside anyOf: %s", s.json())
	}
	for _, m := range s.members {
		switch m.name {
		case "type":
			if m.value.kind != text {
				t.Fatalf("%s", s.json())
			}
			if m.value.str() == "array" && s.get("items") == nil {
				t.Fatalf("an array without items: %s", s.json())
			}
		case "nullable", "title", "description", "format", "default", "minimum", "maximum", "minLength", "maxLength",
			"minItems", "maxItems", "minProperties", "maxProperties", "pattern":
		case "enum":
			for _, v := range m.value.items {
				if v.kind != text || v.str() == "" || s.get("type").str() != "string" {
					t.Fatalf("%s", s.json())
				}
			}
		case "required":
			for _, n := range m.value.texts() {
				if s.get("properties").get(n) == nil {
					t.Fatalf("%q is required and unknown: %s", n, s.json())
				}
			}
		case "properties", "items", "anyOf":
			if m.name == "properties" && len(m.value.members) == 0 {
				t.Fatalf("empty properties: %s", s.json())
			}
			eachSchema(m, func(v *value) *value {
				validGemini(t, v)
				return v
			})
		default:
			t.Fatalf("the keyword %s: %s", m.name, s.json())
		}
	}
}
