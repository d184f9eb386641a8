package toolschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const page = `{"$schema":"http://json-schema.org/draft-07/schema#","title":"Page","type":"object","description":"d","properties":{
	"path":{"type":"string","description":"where","default":"x","format":"uri"},
	"mode":{"type":"string","enum":["read","写"]},
	"lines":{"type":"array","items":{"type":"integer"}},
	"ratio":{"type":"number"},
	"on":{"type":"boolean"},
	"who":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"Who"},
	"meta":{"type":"object","additionalProperties":{"type":["string","null"]}},
	"deep":{"type":"object","properties":{"a":{"type":"object","required":["b"]}},"additionalProperties":false},
	"free":{}, "any":true,
	"small":{"type":"integer","maximum":9}
},"required":["path"],"additionalProperties":false}`

// What fits is seen at one look; what is not seen is left to the validator, who
// may well let it pass.
func TestWhatFitsIsSeenAtOneLook(t *testing.T) {
	for _, c := range []struct {
		schema, args string
		seen         bool
	}{
		{`{"type":"object"}`, `{"a":[{"b":"c"}],"d":1.5e3}`, true},
		{`{"type":"object"}`, `[]`, false},
		{`{"type":"object"}`, `{"a":`, false},
		{`{"type":"object","properties":{}}`, `{}`, true},
		{`{"type":"object","properties":{},"additionalProperties":false}`, `{}`, true},
		{`{"type":"object","properties":{},"additionalProperties":false}`, `{"a":1}`, false},
		{`{}`, `{"a":1}`, true},
		{`true`, `{"a":1}`, true},
		{`{"type":"object","required":["a"]}`, `{"a":null}`, true},
		{`{"type":"object","required":["a","a"]}`, `{"a":null}`, true},
		{`{"type":"object","required":["a"]}`, `{"b":null}`, false},
		{page, ` { "path" : "x" , "mode":"写", "lines" : [ 1 , -2 , 30 ] , "ratio" : -1.5e-3 , "on":true, "who":null, "meta":{"a":"b","c":null},"deep":{"a":{"b":1}},"free":[[]],"any":7 } `, true},
		{page, `{"path":"a \"quoted\" \\ 上海 text"}`, true},
		{page, `{"path":"x","path":"y"}`, true},
		{page, `{"lines":[]}`, false},                    // path is missing
		{page, `{"path":7}`, false},                      // of another type
		{page, `{"path":"x","mode":"write"}`, false},     // not a word of the enum
		{page, `{"path":"x","mode":"re\u0061d"}`, false}, // fits, but has to be decoded
		{page, `{"p\u0061th":"x"}`, false},
		{page, `{"path":"x","lines":[1.0]}`, false}, // fits, but is not written as an integer
		{page, `{"path":"x","lines":[1,"2"]}`, false},
		{page, `{"path":"x","who":7}`, false},
		{page, `{"path":"x","meta":{"a":1}}`, false},
		{page, `{"path":"x","deep":{"a":{}}}`, false},
		{page, `{"path":"x","deep":{"c":{}}}`, false},
		{page, `{"path":"x","small":1}`, false}, // has a bound
		{page, `{"path":"x","other":1}`, false},
		{page, `{"path":"x","ratio":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, false},
		{page, `{"path":"x","free":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, false}, // too deep
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1}`, false},
		{`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{}`, false},
		{`{"const":{}}`, `{}`, false},
		{`{"enum":[{}]}`, `{}`, false},
		{`{"properties":{"a":{"enum":[true,false,null,"x",1]}}}`, `{"a":true}`, true},
		{`{"properties":{"a":{"enum":[true,null,"x",1]}}}`, `{"a":true}`, false},
		{`{"properties":{"a":{"enum":[1]}}}`, `{"a":1}`, false},
		{`{"properties":{"a":{"type":["number","integer"]}}}`, `{"a":1.5}`, true},
		{`{"properties":{"a":{"anyOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"a":1.5}`, false},
		{`{"properties":{"a":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}],"enum":["x"]}}}`, `{"a":"y"}`, false},
		{`{"patternProperties":{"^a":false}}`, `{"a":1}`, false},
		{`{"minProperties":1}`, `{}`, false},
	} {
		checker, err := Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		if got := checker.shape.fits([]byte(c.args)); got != c.seen {
			t.Errorf("%s\n with %.200s: seen %v, want %v", c.schema, c.args, got, c.seen)
		}
		careful := *checker
		careful.shape = nil
		if failed := careful.Check([]byte(c.args)); failed != nil && c.seen {
			t.Errorf("%s\n with %.200s: the validator says %v", c.schema, c.args, failed)
		}
	}
}

func TestManyRequiredMembers(t *testing.T) {
	for _, n := range []int{64, 65} {
		var names, members []string
		for i := range n {
			names = append(names, fmt.Sprintf("%q", fmt.Sprint("m", i)))
			members = append(members, fmt.Sprintf("%q:1", fmt.Sprint("m", i)))
		}
		checker, err := Compile(json.RawMessage(`{"type":"object","required":[` + strings.Join(names, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := checker.Check([]byte("{" + strings.Join(members, ",") + "}")); err != nil {
			t.Errorf("%d members: %v", n, err)
		}
		if err := checker.Check([]byte("{" + strings.Join(members[:n-1], ",") + "}")); err == nil {
			t.Errorf("%d of %d members pass", n-1, n)
		}
	}
}

func TestOneLookAllocatesNothing(t *testing.T) {
	checker, err := Compile(json.RawMessage(page))
	if err != nil {
		t.Fatal(err)
	}
	args := []byte(`{"path":"x","lines":[1,2],"mode":"read","meta":{"a":"b"}}`)
	if n := testing.AllocsPerRun(100, func() {
		if err := checker.Check(args); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
