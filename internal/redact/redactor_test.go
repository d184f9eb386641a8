package redact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestASecretIsHiddenHoweverItIsWritten(t *testing.T) {
	const secret = `pä"ss\wörd/<42>&`
	r := New(secret)
	marshalled, _ := json.Marshal(secret)
	twice, _ := json.Marshal(string(marshalled))
	for name, text := range map[string]string{
		"plain":                   "it is " + secret + ".",
		"JSON by Go":              string(marshalled),
		"JSON inside JSON":        `{"text":` + string(twice) + `}`,
		"JSON by Python":          `"p\u00e4\"ss\\w\u00f6rd/<42>&"`,
		"JSON, upper-case digits": `"p\u00E4\"ss\\w\u00F6rd/<42>&"`,
		"JSON by PHP":             `"pä\"ss\\wörd\/<42>&"`,
		"query":                   "https://host/?q=" + url.QueryEscape(secret) + "&page=2",
		"query in lower case":     "https://host/?q=" + strings.ToLower(url.QueryEscape(secret)),
		"path":                    "https://host/" + url.PathEscape(secret),
	} {
		got := r.String(text)
		if !strings.Contains(got, Mask) || strings.Contains(got, "ss") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
}

func TestTokenShapesAreHiddenThoughNobodyToldUs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"key sk-test-123 refused", "key ••• refused"},
		{"Incorrect API key provided: sk-proj-Ab3_dd9-xy.", "Incorrect API key provided: •••."},
		{"ghp_0123456789abcdefABCD0123456789abcdef", "•••"},
		{`"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"`, `"•••"`},
		{"Authorization: Bearer abc.DEF-123", "Authorization: Bearer •••"},
		{"authorization: bearer abcdef123456", "authorization: bearer •••"},
		{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic dXNlcjpwYXNz"}, // 12 letters: could be a word
		{"Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Authorization: Basic •••"},
		{"GET http://h/mcp?token=hunter2&x=1", "GET http://h/mcp?token=•••&x=1"},
		{"GET http://h/mcp?x=1&api_key=hunter2 failed", "GET http://h/mcp?x=1&api_key=••• failed"},
		{`{"url":"http://h/?a=1\u0026access_token=zzz"}`, `{"url":"http://h/?a=1\u0026access_token=•••"}`},
		{"<a href='/?a=1&amp;sig=zzz'>", "<a href='/?a=1&amp;sig=•••'>"},
		{"postgres://bot:p@ss@db/x", "postgres://bot:•••@db/x"},
		{`line one\nsk-test-123`, `line one\n•••`},
	} {
		var r *Redactor
		if got := r.String(c.text); got != c.want {
			t.Errorf("%s\n became %s\n want   %s", c.text, got, c.want)
		}
	}
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	r := New("zh", "1", "", "     ")
	for _, text := range []string{
		"", "zh", "task-list-of-things 2026", "import sk-learn-utilities", "bearer authentication failed",
		"Bearer token missing", "basic HTTP/1.1 features", "http://127.0.0.1:7710/mcp?city=上海&days=3",
		"the key=value form", "C:\\Users\\bot\\data", "std::string://x", "mail me at a@example.org: soon",
		"ghp_short", "disk-0001-full", "risk-12345678", "C:\\new\\folder",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if b := []byte(text); len(b) > 0 && &r.Bytes(b)[0] != &b[0] {
			t.Errorf("%q was copied", text)
		}
	}
}

func TestValidJSONStaysValid(t *testing.T) {
	r := New("12345678", "nabcdef", "41abcdef", `abcdef\`, `{"a":1}`, "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----")
	for _, c := range []struct{ text, want string }{
		{`{"pin":12345678,"list":[1,-123456780.5]}`, `{"pin":"•••","list":[1,"•••"]}`},
		{`{"t":"a\nabcdef"}`, `{"t":"a•••"}`},
		{`{"t":"\u0041abcdef"}`, `{"t":"•••"}`},
		{`{"t":"xabcdef\"y"}`, `{"t":"x•••y"}`},
		{`{"x":{"a":1}}`, `{"x":{"•••":"•••"}}`},
		{`{"stderr":"read MIIEvQIBADANBg"}`, `{"stderr":"read •••"}`},
	} {
		got := string(r.Bytes([]byte(c.text)))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n became %s\n want   %s", c.text, got, c.want)
		}
	}
}

func TestOverlappingSecretsLeaveNothingBehind(t *testing.T) {
	r := New("abcdef", "cdefgh", "abcabc")
	for text, want := range map[string]string{
		"xabcdefghx":   "x•••x",
		"abcabcabc":    "•••",
		"abcdefabcdef": "•••",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestSecretsMayBeAddedWhileOthersRead(t *testing.T) {
	var r Redactor
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { r.Add(strings.Repeat(string(rune('a'+i)), 8)) })
		group.Go(func() { r.String("aaaaaaaa bbbbbbbb") })
	}
	group.Wait()
	if got := r.String("aaaaaaaa hhhhhhhh"); got != "••• •••" {
		t.Errorf("after all were added: %s", got)
	}
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte(`{"a":"sk-test-123\n"}`), "nabcdef")
	f.Add([]byte(`[1e400,"\u0041\\"]`), `41\\"x,`)
	f.Fuzz(func(t *testing.T, text []byte, secret string) {
		r := New(secret)
		before := bytes.Clone(text)
		got := r.Bytes(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the input was changed")
		}
		if isJSON(text) {
			if !json.Valid(got) {
				t.Fatalf("%s became the broken %s", text, got)
			}
			return
		}
		trimmed := strings.TrimSpace(secret)
		if len(trimmed) >= minLength && !strings.Contains(Mask, trimmed) && bytes.Contains(text, []byte(trimmed)) && bytes.Equal(got, text) {
			t.Fatalf("%q was left in %q", trimmed, got)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	r := New("sk-0123456789abcdef", "another-secret-value", "third-secret-value-here")
	line := []byte(strings.Repeat("2026-01-02 03:04:05 INFO request served in 12 ms; ", 20))
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		r.Bytes(line)
	}
}

// What looks like the beginning of a token, again and again, is not read again
// and again: an app may say it in a message of many bytes.
func TestBeginningsWithoutEndCostNoTime(t *testing.T) {
	for _, begin := range []string{"sk-", "eyJ-", "eyJ.", "-sk-eyJ.", "xoxb-ghp_-"} {
		text := strings.Repeat(begin, 2<<20/len(begin))
		if got := new(Redactor).String(text); got != text {
			t.Errorf("%s…: something is masked", begin)
		}
		const key = "sk-0123456789"
		if got := new(Redactor).String(text + " " + key); got != text+" "+Mask {
			t.Errorf("%s…: the key behind it is shown", begin)
		}
	}
	for text, want := range map[string]string{
		"sk-abc.eyJ-abcdefghijklmnopqrst.9": "sk-abc." + Mask,
		"eyJ-a.sk-abcdefgh1":                "eyJ-a." + Mask,
		"eyJ-.sk-abcd sk-12345678":          "eyJ-.sk-abcd " + Mask,
	} {
		if got := new(Redactor).String(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
