package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const forecast = `{"type":"object","properties":{
	"city":{"type":"string","minLength":1},
	"days":{"type":"integer","minimum":1,"maximum":7},
	"unit":{"enum":["celsius","fahrenheit"]},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":2},
	"filter":{"anyOf":[{"type":"object","properties":{"wind":{"type":"number"}},"additionalProperties":false},{"type":"null"}]},
	"code":{"type":"string","pattern":"^[A-Z]+$"}
},"required":["city"],"additionalProperties":false}`

func TestArgumentsAreChecked(t *testing.T) {
	for _, c := range []struct{ schema, args, want string }{
		{forecast, `{"city":"上海","days":7,"unit":"celsius","tags":["a"],"filter":null}`, ``},
		{forecast, `{"city":"上海","days":9}`, `days: must be ≤ 7 (is 9)`},
		{forecast, `{"city":"上海","days":0}`, `days: must be ≥ 1 (is 0)`},
		{forecast, `{"city":"上海","days":"3"}`, `days: must be an integer (is a string)`},
		{forecast, `{"city":"上海","days":1.5}`, `days: must be an integer (is 1.5)`},
		{forecast, `{"city":"上海","days":3.0}`, ``},
		{forecast, `{"city":7,"days":true}`, `city: must be a string (is a number); days: must be an integer (is true)`},
		{forecast, `{"city":""}`, `city: must have at least 1 character (has 0)`},
		{forecast, `{}`, `city: is missing`},
		{forecast, ``, `city: is missing`},
		{forecast, ` null `, `city: is missing`},
		{forecast, `{"citty":"上海"}`, `citty: is not known here (did you mean "city"?); city: is missing (is "citty" meant for it?)`},
		{forecast, `{"City":"上海","city":"上海"}`, `City: is not known here (did you mean "city"?)`},
		{forecast, `{"city":"a","zzzzzzzz":1}`, `zzzzzzzz: is not known here (known: city, days, unit, tags, filter, code)`},
		{forecast, `{"city":"a","unit":"celcius"}`, `unit: must be one of "celsius", "fahrenheit" (is "celcius"); did you mean "celsius"?`},
		{forecast, `{"city":"a","tags":["x",1,"z"]}`, `tags: must have at most 2 items (has 3); tags[1]: must be a string (is a number)`},
		{forecast, `{"city":"a","filter":{"wind":"much"}}`, `filter.wind: must be a number (is a string)`},
		{forecast, `{"city":"a","filter":{"winds":1}}`, `filter.winds: is not known here (did you mean "wind"?)`},
		{forecast, `{"city":"a","filter":7}`, `filter: must be an object or null (is a number)`},
		{forecast, `{"city":"a","code":"secret-value"}`, `code: must match the pattern ^[A-Z]+$`},
		{forecast, `[]`, `must be an object (is an array)`},
		{forecast, `{oops`, `the arguments cannot be read: it is not valid JSON: invalid character 'o' looking for beginning of object key string`},
		// numbers beyond float64 and beyond 53 bits
		{`{"properties":{"n":{"type":"integer","maximum":9007199254740992}}}`, `{"n":9007199254740993}`, `n: must be ≤ 9007199254740992 (is 9007199254740993)`},
		{`{"properties":{"n":{"type":"number","maximum":1e400}}}`, `{"n":1e400}`, ``},
		{`{"properties":{"n":{"type":"number","maximum":1e400}}}`, `{"n":1e401}`, `n: must be ≤ 1e400 (is 1e401)`},
		{`{"properties":{"n":{"type":"number","maximum":7}}}`, `{"n":1e999999999}`, `n: must be ≤ 7 (is 1e999999999)`},
		{`{"properties":{"n":{"type":"number","minimum":7}}}`, `{"n":-1e999999999}`, `n: must be ≥ 7 (is -1e999999999)`},
		{`{"properties":{"n":{"type":"number","multipleOf":0.01}}}`, `{"n":19.99}`, ``},
		// falsy values and unknown keys are as good as any (field fault Q13)
		{`{"type":"object"}`, `{"s":"","n":null,"b":false,"z":0,"l":[],"o":{}}`, ``},
		// what is too deep to be checked
		{`{"type":"object"}`, `{"a":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`, ``},
		// the other keywords
		{`{"properties":{"a":{"const":"x"}}}`, `{"a":"y"}`, `a: must be "x" (is "y")`},
		{`{"properties":{"a":{"exclusiveMinimum":0}}}`, `{"a":0}`, `a: must be > 0 (is 0)`},
		{`{"properties":{"a":{"exclusiveMaximum":5,"multipleOf":2}}}`, `{"a":5}`, `a: must be < 5 (is 5); a: must be a multiple of 2 (is 5)`},
		{`{"properties":{"a":{"maxLength":1}}}`, `{"a":"天气"}`, `a: must have at most 1 character (has 2)`},
		{`{"properties":{"a":{"minItems":2,"uniqueItems":true}}}`, `{"a":[1]}`, `a: must have at least 2 items (has 1)`},
		{`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,2,1.0]}`, `a: items 0 and 2 are equal, and none may repeat`},
		{`{"properties":{"a":{"minProperties":1}}}`, `{"a":{}}`, `a: must have at least 1 key (has 0)`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `must have at most 1 key (has 2)`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `a: is not allowed here`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `b: is missing, and "a" needs it`},
		{`{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`, `b: is not a name allowed here`},
		{`{"properties":{"a":{"contains":{"type":"string"}}}}`, `{"a":[1]}`, `a: does not hold the items it must`},
		{`{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, `a: has a value that is ruled out`},
		{`{"properties":{"a":{"oneOf":[{"type":"integer"},{"type":"number"}]}}}`, `{"a":1}`, `a: fits several of the forms allowed here, and must fit one`},
		{`{"properties":{"a":{"oneOf":[{"const":1},{"const":2}]}}}`, `{"a":3}`, `a: must be one of 1, 2 (is 3)`},
		{`{"properties":{"a":{"anyOf":[{"enum":["x","y"]},{"const":"z"},{"type":"null"}]}}}`, `{"a":"q"}`, `a: must be one of "x", "y", "z" (is "q")`},
		{`{"properties":{"a":{"oneOf":[{"properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["path","mode"]},{"properties":{"kind":{"const":"url"}}}]}}}`, `{"a":{"kind":"file"}}`, `a.mode: is missing; a.path: is missing`},
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `a: is missing; b: is missing`},
		{`{"$ref":"#/$defs/Q","$defs":{"Q":{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/N"}}},"N":{"type":"integer"}}}`, `{"a":"x"}`, `a: must be an integer (is a string)`},
		{`{"properties":{"l":{"items":{"properties":{"a.b":{"type":"integer"}}}}}}`, `{"l":[{},{"a.b":"x"}]}`, `l[1].a.b: must be an integer (is a string)`},
		{`{"properties":{"a":{"type":"array","prefixItems":[{}],"items":false}}}`, `{"a":[1,2]}`, `a[1]: is not allowed here`},
		// recursion
		{`{"properties":{"n":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"n":{"v":2,"n":{}}}`, `n.n.v: is missing`},
	} {
		checker, err := Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
		}
		got := ""
		if err := checker.Check([]byte(c.args)); err != nil {
			got = err.Error()
			var located *ArgumentsError
			if !errors.As(err, &located) || len(located.Problems) == 0 {
				t.Errorf("%T is no *ArgumentsError", err)
			}
		}
		if got != c.want {
			t.Errorf("%s\n with %s\n got  %s\n want %s", c.schema, c.args, got, c.want)
		}
	}
}

func TestEveryDraftIsUnderstood(t *testing.T) {
	for _, c := range []struct{ about, schema, bad, good string }{
		{"draft-04 by name", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `{"a":1}`, `{"a":2}`},
		{"draft-06", `{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"exclusiveMinimum":1}}}`, `{"a":1}`, `{"a":2}`},
		{"draft-07, over https", `{"$schema":"https://json-schema.org/draft-07/schema","properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":[1]}`, `{"a":["x"]}`},
		{"2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`, `{"a":["x",1]}`, `{"a":["x"]}`},
		{"2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"a":[1]}`, `{"a":["x"]}`},
		{"2020-12 by default", `{"properties":{"a":{"prefixItems":[{"type":"string"}],"$anchor":"x"}}}`, `{"a":[1]}`, `{"a":["x"]}`},
		{"no name, but written as of old: tuples", `{"properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":[1]}`, `{"a":["x"]}`},
		{"no name, but written as of old: bounds", `{"properties":{"a":{"maximum":7,"exclusiveMaximum":true}}}`, `{"a":7}`, `{"a":6}`},
		{"an unknown name", `{"$schema":"https://x.example/my-schema","properties":{"a":{"type":"string"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"slips that no draft allows", `{"type":"object","properties":{"a":{"type":"int","description":null}},"required":null}`, `{"a":"x"}`, `{"a":1}`},
	} {
		checker, err := Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if err := checker.Check([]byte(c.bad)); err == nil {
			t.Errorf("%s: %s passed", c.about, c.bad)
		}
		if err := checker.Check([]byte(c.good)); err != nil {
			t.Errorf("%s: %s: %v", c.about, c.good, err)
		}
	}
}

func TestWhatTheServerShouldJudgePasses(t *testing.T) {
	for about, schema := range map[string]string{
		"a format":              `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"string","format":"date-time"}}}`,
		"a pattern beyond Go's": `{"properties":{"a":{"pattern":"^(?=.*b)$"}}}`,
		"content in a string":   `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"contentMediaType":"application/json"}}}`,
		"unknown keywords":      `{"properties":{"a":{"x-widget":"date"}}}`,
		"no schema":             ``,
		"the schema null":       `null`,
		"the schema true":       `true`,
	} {
		checker, err := Compile(json.RawMessage(schema))
		if err != nil {
			t.Errorf("%s: %v", about, err)
		}
		if err := checker.Check([]byte(`{"a":"tomorrow"}`)); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestSchemasThatCannotBeUsedLetEverythingPassAndSaySo(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"allOf":[{"$ref":"#/$defs/d0"}],"$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling.WriteString(`"d40":{"type":"object"}}}`)
	many := `{"properties":{"p":{}` + strings.Repeat(`,"q":{}`, 1) + `,"l":{"anyOf":[` + strings.Repeat(`{},`, maxSubschemas) + `{}]}}}`
	for about, c := range map[string]struct{ schema, want string }{
		"broken JSON":       {`{"type":`, "not valid JSON"},
		"a string":          {`"object"`, "no object"},
		"a file":            {`{"properties":{"a":{"$ref":"file:///etc/hostname"}}}`, "nothing is loaded"},
		"the network":       {`{"$ref":"https://x.example/schema.json"}`, "nothing is loaded"},
		"a place not in it": {`{"properties":{"a":{"$ref":"#/$defs/nope"}}}`, "nope"},
		"endless":           {`{"$ref":"#"}`, "without end"},
		"endless in two":    {`{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#"}]}}}`, "without end"},
		"doubling":          {doubling.String(), "too long"},
		"too many parts":    {many, "parts"},
		"a negative length": {`{"properties":{"a":{"minLength":-1}}}`, "minLength"},
		"a deep schema":     {strings.Repeat(`{"items":`, 300) + `{}` + strings.Repeat(`}`, 300), "deep"},
		"a huge schema":     {`{"x":"` + strings.Repeat("a", maxInput) + `"}`, "bytes"},
	} {
		checker, err := Compile(json.RawMessage(c.schema))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the reason is %v, want something about %q", about, err, c.want)
		}
		if err := checker.Check([]byte(`{"a":1}`)); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
	var nobody *Checker
	if err := nobody.Check([]byte(`{oops`)); err != nil {
		t.Errorf("no checker: %v", err)
	}
}

func TestArgumentsThatWouldTakeForEverPass(t *testing.T) {
	// Given a schema that tries two ways at every step down,
	checker, err := Compile(json.RawMessage(`{"$ref":"#/$defs/N","$defs":{"N":{"anyOf":[
		{"properties":{"n":{"$ref":"#/$defs/N"}},"required":["x"]},
		{"properties":{"n":{"$ref":"#/$defs/N"}},"required":["y"]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	// when the arguments go a few steps down, they are checked,
	if err := checker.Check([]byte(`{"n":{"n":{}}}`)); err == nil {
		t.Error("three steps were not checked")
	}
	// and when they go a hundred steps down, the server is left to judge.
	if err := checker.Check([]byte(strings.Repeat(`{"n":`, 100) + `{}` + strings.Repeat(`}`, 100))); err != nil {
		t.Error(err)
	}
}

func TestManyProblemsMakeAShortMessage(t *testing.T) {
	var schema, args []string
	for i := range 30 {
		schema = append(schema, fmt.Sprintf(`"p%02d":{"type":"string"}`, i))
		args = append(args, fmt.Sprintf(`"p%02d":%d`, i, i))
	}
	checker, err := Compile(json.RawMessage(`{"properties":{` + strings.Join(schema, ",") + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	var located *ArgumentsError
	if !errors.As(checker.Check([]byte(`{`+strings.Join(args, ",")+`}`)), &located) {
		t.Fatal("nothing was found")
	}
	if len(located.Problems) != 30 || !strings.HasSuffix(located.Error(), "p09: must be a string (is a number); and 20 more") {
		t.Errorf("%d problems: %s", len(located.Problems), located)
	}
}

func TestACheckerIsSharedBetweenCallers(t *testing.T) {
	checker, err := Compile(json.RawMessage(forecast))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := checker.Check([]byte(`{"city":"上海","days":9,"filter":{"winds":1}}`)); err == nil || err.Error() !=
					`days: must be ≤ 7 (is 9); filter.winds: is not known here (did you mean "wind"?)` {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}
