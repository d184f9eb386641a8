package arguments

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestQ01_NothingIsAnEmptyObject(t *testing.T) {
	for _, text := range []string{"", " ", "\n\t", "null", " null ", "{}", "\uFEFF{}"} {
		got, err := FromModel(nil, text)
		if err != nil || string(got) != "{}" {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

func TestQ05_AStringIsReadOnlyWhereTheSchemaAllowsNoString(t *testing.T) {
	const input = `{"type":"object","$defs":{"N":{"type":"number"}},"properties":{
		"ids":{"type":"array","items":{"type":"integer"}},"note":{"type":"string"},"n":{"type":"integer"},"x":{"$ref":"#/$defs/N"},
		"on":{"type":"boolean"},"o":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}},
		"either":{"type":["string","integer"]},"any":{},"some":{"anyOf":[{"type":"array"},{"type":"null"}]},
		"loose":{"anyOf":[{"type":"array"},{}]},"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}},
		"additionalProperties":{"type":"boolean"}}`
	for _, c := range []struct{ text, want string }{
		{`{"ids":"[1,2]","note":"[1,2]"}`, `{"ids":[1,2],"note":"[1,2]"}`},
		{`{"ids":["1","2","x"]}`, `{"ids":[1,2,"x"]}`},
		{`{"ids":"1,2"}`, `{"ids":"1,2"}`},
		{`{"ids":"{\"a\":1}"}`, `{"ids":"{\"a\":1}"}`},
		{`{"n":"5"}`, `{"n":5}`},
		{`{"n":"5.5"}`, `{"n":"5.5"}`},
		{`{"n":" 5 "}`, `{"n":5}`},
		{`{"n":"9007199254740993"}`, `{"n":9007199254740993}`},
		{`{"n":""}`, `{"n":""}`},
		{`{"n":"true"}`, `{"n":"true"}`},
		{`{"x":"1e400"}`, `{"x":1e400}`},
		{`{"on":"true"}`, `{"on":true}`},
		{`{"on":"True"}`, `{"on":"True"}`},
		{`{"o":"{\"n\":\"1\",\"s\":\"1\"}"}`, `{"o":{"n":1,"s":"1"}}`},
		{`{"either":"5","any":"5","loose":"[1]"}`, `{"either":"5","any":"5","loose":"[1]"}`},
		{`{"some":"[1]"}`, `{"some":[1]}`},
		{`{"pair":["1","1"]}`, `{"pair":["1",1]}`},
		{`{"new":"true"}`, `{"new":true}`},
		{`"{\"n\":5}"`, `{"n":5}`},
	} {
		got, err := FromModel(json.RawMessage(input), c.text)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got  %s %v\n want %s", c.text, got, err, c.want)
		}
	}
}

func TestQ13_WhatLooksEmptyArrivesAsItIs(t *testing.T) {
	const text = `{ "s":"", "n":null,"b":false,"z":0, "l":[],"o":{},"u":1.50,"big":9007199254740993,"<&>":"\u00e9" }`
	for _, input := range []string{``, `{}`, `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"null"}}}`, `"broken"`, `true`} {
		got, err := FromModel(json.RawMessage(input), text)
		if err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", input, got, err)
		}
	}
}

func TestArgumentsThatAreNoneSayWhy(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1`, "not valid JSON"},
		{`{"a":1}{}`, "at byte 8 of 9"},
		{`[1]`, "must be a JSON object, not an array"},
		{`"text"`, "must be a JSON object, not a string"},
		{`5`, "not a number"},
		{`city=上海`, "not valid JSON"},
	} {
		got, err := FromModel(nil, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
}

// A schema that doubles at every step must not cost more than it is worth.
func TestHostileSchemasCostLittle(t *testing.T) {
	wide := strings.Repeat(`{"$ref":"#/properties/a"},`, 50)
	input := json.RawMessage(`{"$ref":"#","properties":{"a":{"anyOf":[` + wide + `{"type":"array"}]}},"allOf":[` + wide + `{}]}`)
	got, err := FromModel(input, `{"a":"[1]"}`)
	if err != nil || string(got) != `{"a":"[1]"}` {
		t.Errorf("%s, %v", got, err)
	}
	Properties(input)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if _, err := FromModel(json.RawMessage(`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"array","items":{"$ref":"#/properties/b"}}}}`), `{"a":`+deep+`}`); err != nil {
		t.Error(err)
	}
}

// A schema all of whose many properties are the schema itself, and one whose many
// properties share a long list of words, cost as much as they are long.
func TestSchemasThatReferToMuchFromEverywhere(t *testing.T) {
	const n = 5000
	var same, listed, args []string
	for i := range n {
		same = append(same, fmt.Sprintf(`"p%d":{"$ref":"#"}`, i))
		listed = append(listed, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/words"}`, i))
		args = append(args, fmt.Sprintf(`"p%d":{"p1":"[]"}`, i))
	}
	input := json.RawMessage(`{"allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{` + strings.Join(same, ",") + `}}`)
	if got := Properties(input); len(got) != n || got[0].Types == nil {
		t.Errorf("%d properties, the first is %+v", len(got), got[0])
	}
	if got, err := FromModel(input, "{"+strings.Join(args, ",")+"}"); err != nil || !strings.HasPrefix(string(got), `{"p0":{"p1":"[]"}`) {
		t.Errorf("%.60s, %v", got, err)
	}
	words := strings.Repeat(`"w",`, 20_000) + `"w"`
	input = json.RawMessage(`{"$defs":{"words":{"enum":[` + words + `]}},"properties":{` + strings.Join(listed, ",") + `}}`)
	if got := Properties(input); len(got) != n || got[0].Words != nil || !got[0].Is("string") {
		t.Errorf("%d properties, the first is of %d words", len(got), len(got[0].Words))
	}
}

func FuzzFromModel(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"array"}}}`, `{"a":"[1]"}`)
	f.Add(`{"$ref":"#"}`, `"{}"`)
	f.Add(``, ``)
	f.Fuzz(func(t *testing.T, input, text string) {
		got, err := FromModel(json.RawMessage(input), text)
		if err == nil && (!json.Valid(got) || kindOf(got) != "object") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
