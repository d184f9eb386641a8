package toolschema

import (
	"encoding/json"
	"strings"
	"testing"
)

const search = `{"type":"object","$defs":{"Range":{"type":"object","properties":{"from":{"type":"integer"},"to":{"type":"integer"}}}},"properties":{
	"text":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},"deep":{"type":"boolean"},
	"tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},"grid":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
	"range":{"$ref":"#/$defs/Range"},"env":{"type":"object","additionalProperties":{"type":"string"}},
	"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},"label":{"type":["string","null"]},"port":{"type":["integer","string"]},
	"one":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
	"any":{},"unit":{"enum":["1","x",2]},"a.b":{"type":"integer"},"gone":{"type":"null"},"free":{"type":"object"}
}}`

func TestPairsAreTypedByTheSchema(t *testing.T) {
	for _, c := range []struct{ pairs, want string }{
		{``, `{}`},
		{`text=上海`, `{"text":"上海"}`},
		{`text=5`, `{"text":"5"}`},
		{`text=`, `{"text":""}`},
		{`text=a=b=c`, `{"text":"a=b=c"}`},
		{`text=null`, `{"text":"null"}`},
		{`text="q"`, `{"text":"\"q\""}`},
		{`text=<b>&`, `{"text":"<b>&"}`},
		{`count=3`, `{"count":3}`},
		{`count=9007199254740993`, `{"count":9007199254740993}`},
		{`ratio=1e400`, `{"ratio":1e400}`},
		{`ratio=-0.10`, `{"ratio":-0.10}`},
		{`deep=true`, `{"deep":true}`},
		{`deep=False`, `{"deep":false}`},
		{`gone=null`, `{"gone":null}`},
		// several types
		{`maybe=3`, `{"maybe":3}`},
		{`maybe=null`, `{"maybe":null}`},
		{`label=null`, `{"label":null}`},
		{`label=nul`, `{"label":"nul"}`},
		{`port=80`, `{"port":80}`},
		{`port=http`, `{"port":"http"}`},
		{`unit=1`, `{"unit":"1"}`},
		{`unit=2`, `{"unit":2}`},
		{`unit=x`, `{"unit":"x"}`},
		// lists
		{`tags=a`, `{"tags":["a"]}`},
		{`tags=a|tags=5|tags=`, `{"tags":["a","5",""]}`},
		{`tags=["a","b"]|tags=c`, `{"tags":["a","b","c"]}`},
		{`tags=[]`, `{"tags":[]}`},
		{`tags=[oops`, `{"tags":["[oops"]}`},
		{`ids=1|ids=2`, `{"ids":[1,2]}`},
		{`grid=[1,2]|grid=[3,4]`, `{"grid":[[1,2],[3,4]]}`},
		{`grid=[[1,2],[3,4]]`, `{"grid":[[1,2],[3,4]]}`},
		{`one=a`, `{"one":"a"}`},
		{`one=["a","b"]`, `{"one":["a","b"]}`},
		// objects
		{`range={"to":2,"from":1}`, `{"range":{"to":2,"from":1}}`},
		{`range.to=2|text=x|range.from=1`, `{"range":{"to":2,"from":1},"text":"x"}`},
		{`range={"to":2}|range.from=1`, `{"range":{"to":2,"from":1}}`},
		{`env.PATH=5|env.A.B=c`, `{"env":{"PATH":"5","A.B":"c"}}`},
		{`free.a=1|free.b=x`, `{"free":{"a":1,"b":"x"}}`},
		{`a.b=7`, `{"a.b":7}`},
		{`any.x=1`, `{"any":{"x":1}}`},
		// where the schema does not say
		{`any=5`, `{"any":5}`},
		{`any=[1, 2]`, `{"any":[1,2]}`},
		{`any=hello`, `{"any":"hello"}`},
		{`any="5"`, `{"any":"5"}`},
		{`new=true|other=x y`, `{"new":true,"other":"x y"}`},
		{`new=0123`, `{"new":"0123"}`},
		{`x.y=1`, `{"x.y":1}`},
		{`text.y=1`, `{"text.y":1}`},
		{`.=1|a.=2|.b=3`, `{".":1,"a.":2,".b":3}`},
		// JSON as it is
		{`text:=5`, `{"text":5}`},
		{`count:="5"`, `{"count":"5"}`},
		{`tags:={"a":[1e400]}`, `{"tags":{"a":[1e400]}}`},
		{`any:={"a": 1, "a": [2.0]}`, `{"any":{"a":1,"a":[2.0]}}`},
		{`any:="\ud800 \u00e9 \/ <"`, `{"any":"\ud800 \u00e9 \/ <"}`},
		{`free={"a":"\ud800","a":1}`, `{"free":{"a":"\ud800","a":1}}`},
		{`range:={"to":2}|range.from=1`, `{"range":{"to":2,"from":1}}`},
		{`tags:=["a"]|tags=b`, `{"tags":["a","b"]}`},
	} {
		var pairs []string
		if c.pairs != "" {
			pairs = strings.Split(c.pairs, "|")
		}
		got, err := Arguments(json.RawMessage(search), pairs)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got  %s %v\n want %s", c.pairs, got, err, c.want)
		}
	}
}

func TestPairsThatCannotBeMeantAreNamed(t *testing.T) {
	for _, c := range []struct{ pairs, want string }{
		{`count=three`, `count: must be an integer`},
		{`count=`, `count: must be an integer`},
		{`ratio=1,5`, `ratio: must be a number`},
		{`deep=yes`, `deep: must be a boolean; write true or false`},
		{`range=5`, `range: must be an object; write {"key": …}, or name.key=value`},
		{`range.to=x`, `range.to: must be an integer`},
		{`ids=a`, `ids: an item of the list must be an integer`},
		{`maybe=x`, `maybe: must be an integer or null`},
		{`text`, `text: write it as name=value`},
		{`=5`, `a name must stand before the =`},
		{`:=5`, `a name must stand before the =`},
		{`text:=oops`, `text: what follows := must be JSON`},
		{`text=a|text=b`, `text: it is given twice, and it is no list`},
		{`text=a|text:="b"`, `text: it is given twice, and it is no list`},
		{`range.to=1|range={}`, `range: it is given twice, and it is no list`},
		{`any=5|any.x=1`, `any.x: it goes into something that is no object`},
		{`one=a|one=b`, `one: it is given twice, and it is no list`},
		{`count=x|text=fine|deep=y`, `count: must be an integer; deep: must be a boolean; write true or false`},
	} {
		got, err := Arguments(json.RawMessage(search), strings.Split(c.pairs, "|"))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got  %s %v\n want %s", c.pairs, got, err, c.want)
		}
	}
}

func TestPairsNeedNoSchema(t *testing.T) {
	for _, schema := range []string{``, `null`, `{}`, `true`, `"broken"`, `{"type"`} {
		got, err := Arguments(json.RawMessage(schema), []string{"a=1", "b=x"})
		if err != nil || string(got) != `{"a":1,"b":"x"}` {
			t.Errorf("%s: %s %v", schema, got, err)
		}
	}
}
