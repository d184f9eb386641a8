package arguments

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

const (
	weather = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`
	diary   = `{"type":"object","properties":{"mood":{"enum":["good","bad"]},"date":{"type":"string"},"content":{"type":"string"}},"required":["date","content"]}`
	send    = `{"type":"object","properties":{"text":{"type":"string"},"to":{"type":"string"},"urgent":{"type":"boolean"}},"required":["to"]}`
	sum     = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`
	tags    = `{"type":"object","properties":{"ids":{"type":"array","items":{"type":"integer"}},"name":{"type":"string"}},"required":["ids"]}`
	deep    = `{"type":"object","properties":{"range":{"type":"object","properties":{"from":{"type":"integer"}}},"q":{"type":"string"}},"required":["q"]}`
)

func TestWordsBecomeArguments(t *testing.T) {
	for _, c := range []struct{ schema, line, want string }{
		{weather, ``, `{}`},
		{weather, `上海`, `{"city":"上海"}`},
		{weather, `上海 3`, `{"city":"上海","days":3}`},
		{weather, `上海，3`, `{"city":"上海","days":3}`},
		{weather, `上海　3`, `{"city":"上海","days":3}`},
		{weather, `江苏 南京`, `{"city":"江苏 南京"}`},
		{weather, `New York 3`, `{"city":"New York","days":3}`},
		{weather, `Paris, France`, `{"city":"Paris, France"}`},
		{weather, `"New York" 3`, `{"city":"New York","days":3}`},
		{weather, `“New York” 3`, `{"city":"New York","days":3}`},
		{weather, `city=上海`, `{"city":"上海"}`},
		{weather, `city＝上海 DAYS=2`, `{"city":"上海","days":2}`},
		{weather, `city=New York`, `{"city":"New York"}`},
		{weather, `city=New York days=3`, `{"city":"New York","days":3}`},
		{weather, `city="New York" 3`, `{"city":"New York","days":3}`},
		{weather, `days=3 上海`, `{"days":3,"city":"上海"}`},
		{weather, `{"city":"上海","days":"3"}`, `{"city":"上海","days":3}`},
		{weather, `city:="上 海"`, `{"city":"上 海"}`},
		{weather, `a=b`, `{"city":"a=b"}`},
		{weather, `"3"`, `{"city":"3"}`},
		{weather, `"unclosed`, `{"city":"\"unclosed"}`},
		{diary, `2026-01-01 今天，很开心 真的`, `{"date":"2026-01-01","content":"今天，很开心 真的"}`},
		{diary, `2026-01-01 开心 good`, `{"date":"2026-01-01","content":"开心","mood":"good"}`},
		{diary, `2026-01-01 a walk in the park Good`, `{"date":"2026-01-01","content":"a walk in the park","mood":"good"}`},
		{diary, `date=2026-01-01 今天，很开心`, `{"date":"2026-01-01","content":"今天，很开心"}`},
		{send, `g1 hello`, `{"to":"g1","text":"hello"}`},
		{sum, `1 2.50`, `{"a":1,"b":2.50}`},
		{tags, `1 2 3`, `{"ids":[1,2,3]}`},
		{tags, `1`, `{"ids":[1]}`},
		{deep, `range.from=1 x y`, `{"range":{"from":1},"q":"x y"}`},
		{deep, "first line\nsecond  line", `{"q":"first line\nsecond  line"}`},
		{``, `{"free":1}`, `{"free":1}`},
	} {
		got, err := FromWords(json.RawMessage(c.schema), c.line)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got  %s %v\n want %s", c.line, got, err, c.want)
		}
	}
}

func TestWordsThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ schema, line, want string }{
		{sum, `1`, `missing: b`},
		{sum, ``, `missing: a, b`},
		{sum, `1 2 3`, `no argument takes "1 2 3"`},
		{sum, `1 x`, `no argument takes "1 x"`},
		{sum, `a=1 b=x`, `b: must be a number`},
		{diary, `2026-01-01`, `missing: content`},
		{``, `some words`, `no argument takes "some words"`},
		{weather, `{"city":`, `the arguments are not valid JSON: unexpected end of JSON input (at byte 8 of 8)`},
	} {
		got, err := FromWords(json.RawMessage(c.schema), c.line)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got  %s %v\n want %s", c.line, got, err, c.want)
		}
	}
	var missing *MissingError
	if _, err := FromWords(json.RawMessage(sum), ""); !errors.As(err, &missing) || len(missing.Names) != 2 {
		t.Errorf("the names of what is missing: %v", missing)
	}
}

func TestUsageShowsWhatIsRequired(t *testing.T) {
	if got := Usage("/send", Properties(json.RawMessage(send))); got != "/send <to> [text] [urgent]" {
		t.Error(got)
	}
}

func FuzzFromWords(f *testing.F) {
	f.Add(weather, `New York 3`)
	f.Add(diary, `date="a b" c，d`)
	f.Add(tags, `1、2、3`)
	f.Add(deep, `range.from=1 “x`)
	f.Add(send, "\x80='\u3000=")
	f.Add(weather, "city=\xff\xff\xff\xff\xff b")
	f.Fuzz(func(t *testing.T, schema, line string) {
		got, err := FromWords(json.RawMessage(schema), line)
		if err != nil {
			return
		}
		if !json.Valid(got) || kindOf(got) != "object" || !utf8.Valid(got) {
			t.Errorf("%q became %q", line, got)
		}
	})
}
