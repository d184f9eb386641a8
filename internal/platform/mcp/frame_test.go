package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// A cut is what a splitter made of a message, in a form that can be compared.
type cut struct {
	kind                               kind
	id, method, params, result, failed string
	isError                            bool
	repaired                           int
	broken                             bool
}

func cutOf(m *Message) cut {
	return cut{
		kind: m.kind(), id: string(m.ID), method: string(m.Method), params: string(m.Params),
		result: string(m.Result), failed: string(m.Error), isError: m.IsError, repaired: m.Repaired, broken: m.Err != nil,
	}
}

func splitAll(frame []byte) (cuts []cut, err error) {
	var s splitter
	err = s.split(frame, func(m *Message) { cuts = append(cuts, cutOf(m)) })
	return cuts, err
}

func TestSplitFindsTheParts(t *testing.T) {
	for _, tc := range []struct {
		name, frame string
		want        []cut
		err         string // in the error; "" for none
	}{
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{"a": [1, 2]}}`,
			[]cut{{kind: response, id: "1", result: `{"a": [1, 2]}`}}, ""},
		{"a failed tool", ` { "id" : 1 , "jsonrpc" : "2.0" , "result" : { "content" : [ ] , "isError" : true } } `,
			[]cut{{kind: response, id: "1", result: `{ "content" : [ ] , "isError" : true }`, isError: true}}, ""},
		{"isError further inside does not count", `{"jsonrpc":"2.0","id":1,"result":{"a":{"isError":true}}}`,
			[]cut{{kind: response, id: "1", result: `{"a":{"isError":true}}`}}, ""},
		{"isError is a literal", `{"jsonrpc":"2.0","id":1,"result":{"isError":"true"}}`,
			[]cut{{kind: response, id: "1", result: `{"isError":"true"}`}}, ""},
		{"the last of two members counts", `{"jsonrpc":"2.0","id":1,"id":2,"result":{"isError":true},"result":{"isError":true,"isError":false}}`,
			[]cut{{kind: response, id: "2", result: `{"isError":true,"isError":false}`}}, ""},
		{"the last result counts for isError", `{"id":1,"result":{"isError":true},"result":7}`,
			[]cut{{kind: response, id: "1", result: `7`}}, ""},
		{"an error", `{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m"}}`,
			[]cut{{kind: response, id: `"a"`, failed: `{"code":-1,"message":"m"}`}}, ""},
		{"an error of null is none", `{"jsonrpc":"2.0","id":1,"error":null,"result":null}`,
			[]cut{{kind: response, id: "1", result: "null"}}, ""},
		{"an error without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`,
			[]cut{{kind: response, failed: `{"code":-32700,"message":"m"}`}}, ""},
		{"an answer without a version", `{"id":1,"result":{}}`,
			[]cut{{kind: response, id: "1", result: "{}"}}, ""},
		{"an answer with no version at all", `{"jsonrpc":null,"id":1,"result":{}}`,
			[]cut{{kind: response, id: "1", result: "{}"}}, ""},
		{"a version that is a number", `{"jsonrpc":2.0,"id":1,"result":{}}`,
			[]cut{{kind: response, id: "1", result: "{}"}}, ""},
		{"a version with an escape", `{"jsonrpc":"2\u002e0","method":"a"}`,
			[]cut{{kind: notification, method: "a"}}, ""},
		{"an answer without anything", `{"jsonrpc":"2.0","id":1}`,
			[]cut{{kind: response, id: "1"}}, ""},
		{"a request", `{"jsonrpc":"2.0","method":"ping","id":12345678901234567890}`,
			[]cut{{kind: request, id: "12345678901234567890", method: "ping"}}, ""},
		{"a notification", `{"jsonrpc":"2.0","method":"a/b","params":{"k":1e400,"l":"\ud800"}}`,
			[]cut{{kind: notification, method: "a/b", params: `{"k":1e400,"l":"\ud800"}`}}, ""},
		{"escapes in names and methods", `{"jsonrpc":"2.0","m\u0065thod":"\u4e0a\u6d77\/\"","par\u0061ms":[]}`,
			[]cut{{kind: notification, method: `上海/"`, params: `[]`}}, ""},
		{"an empty method", `{"jsonrpc":"2.0","method":""}`,
			[]cut{{kind: notification}}, ""},
		{"a batch", `[{"jsonrpc":"2.0","method":"a"}, {"jsonrpc":"2.0","id":1,"result":{}}]`,
			[]cut{{kind: notification, method: "a"}, {kind: response, id: "1", result: "{}"}}, ""},
		{"messages in a row", `{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"} [{"jsonrpc":"2.0","method":"c"}]`,
			[]cut{{kind: notification, method: "a"}, {kind: notification, method: "b"}, {kind: notification, method: "c"}}, ""},
		{"nothing", " \t\r ", nil, ""},

		{"text after a message", `{"jsonrpc":"2.0","method":"a"} done`,
			[]cut{{kind: notification, method: "a"}}, "byte 31"},
		{"text", `Server ready`, nil, "expected { at byte 0"},
		{"a date in brackets", `[2026-01-01] hello`, nil, "expected {"},
		{"an empty batch", `[]`, nil, "empty batch"},
		{"a log line in JSON", `{"level":"info","msg":"hello"}`, nil, "neither request, notification nor answer"},
		{"a request without a version", `{"method":"GET","id":7}`, nil, "neither"},
		{"a request with an odd id", `{"jsonrpc":"2.0","method":"a","id":{}}`, nil, "neither"},
		{"an answer of another version", `{"jsonrpc":"1.0","id":1,"result":{}}`, nil, "neither"},
		{"an error of another version", `{"id":1,"error":{"code":1},"jsonrpc":"3.0"}`, nil, "neither"},
		{"a version that is another number", `{"jsonrpc":1,"id":1,"result":{}}`, nil, "neither"},
		{"the last of two versions counts", `{"jsonrpc":"1.0","id":1,"result":{},"jsonrpc":"2.0"}`,
			[]cut{{kind: response, id: "1", result: "{}"}}, ""},
		{"an answer of another version that breaks off", `{"jsonrpc":"1.0","id":5,"result":{"n":NaN}}`, nil, "expected a value"},
		{"a number as method", `{"jsonrpc":"2.0","method":7}`, nil, "neither"},
		{"an answer that breaks off", `{"jsonrpc":"2.0","id":5,"result":{"n":NaN}}`,
			[]cut{{id: "5", broken: true}}, "expected a value at byte 38"},
		{"an answer that breaks off before its id", `{"result":{"n":NaN},"id":5}`, nil, "expected a value"},
		{"an id that breaks off", `{"jsonrpc":"2.0","id":5`, nil, "expected , or }"},
		{"a request that breaks off", `{"jsonrpc":"2.0","id":5,"method":"a","params":{`, nil, "expected a member name"},
		{"a raw line feed in a string", "{\"jsonrpc\":\"2.0\",\"method\":\"a\nb\"}", nil, "control character"},
		{"a NUL", "\x00", nil, "expected {"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := splitAll([]byte(tc.frame))
			equal(t, "cuts", fmt.Sprint(got), fmt.Sprint(tc.want))
			if tc.err == "" && err != nil {
				t.Errorf("got error %v", err)
			} else if tc.err != "" {
				contains(t, fmt.Sprint(err), tc.err)
			}
		})
	}
}

func TestSplitAllocatesNothing(t *testing.T) {
	for name, frame := range payloads() {
		var s splitter
		if n := testing.AllocsPerRun(100, func() { s.split(frame, func(*Message) {}) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Deep nesting is a fault, but not one that overflows anything.
func TestSplitBoundsNesting(t *testing.T) {
	deep := func(n int) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s%s}`, strings.Repeat("[", n), strings.Repeat("]", n))
	}
	if _, err := splitAll(deep(maxDepth)); err != nil {
		t.Errorf("depth %d: %v", maxDepth, err)
	}
	got, err := splitAll(deep(maxDepth + 1))
	contains(t, fmt.Sprint(err), "too deep")
	if len(got) != 1 || !got[0].broken {
		t.Errorf("got %v, want the answer as broken", got)
	}
}

// The scanner accepts exactly the grammar that encoding/json accepts.
func TestScannerGrammar(t *testing.T) {
	values := strings.Fields(`0 -0 00 01 -1 1.0 1. .1 -.1 1e5 1E+5 1e-5 1e 1e+ 1.5e400 - -a +1 0x1 1_000 Infinity NaN
		true tru True false fals null nul nil "" "a "\" "\u00e9" "\u00g9" "\x" "\ud83d\ude00" "\ud83d" ' 'a'
		[] [,] [1,] [1,2] [1 2] ] [[[]]] {} {,} {"a":1} {"a":1,} {"a"} {a:1} {"a":} {"a":1"b":2} {"a":1,"b":2} {"a":[{}]} } , :`)
	for _, v := range append(values, "", " ", "\"\x7f\"", "\"\x1f\"", "\"\t\"", "[1]\v", "\"\xff\"", "\ufeff1") {
		s := scanner{b: []byte(v)}
		ok := s.value() && s.peek() == 0 && s.i == len(v)
		if ok != json.Valid([]byte(v)) {
			t.Errorf("%q: accepted %v", v, ok)
		}
	}
}

// FuzzSplit compares the splitter with a decoder made of encoding/json.
func FuzzSplit(f *testing.F) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\u4e0a海\n"}],"isError":true}}`,
		`[{"jsonrpc":"2.0","method":"a","params":[1e400,-0.5]},{"id":"7","error":{}}]`,
		`{"jsonrpc":"2.0","id":1,"id":2,"result":{"isError":true,"isError":0},"res\u0075lt":null}`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"\xb9\xe3\",\"p\xffarams\":\"\xed\xa0\x80\xf0\x9f\"} {}",
		`{"jsonrpc":"2.0","id":5,"result":{"n":NaN}}`,
		`{"jsonrpc":"2.0","id":-1e2,"method":"\ud800"}` + "\r\n" + `{"id":1,"result":"` + strings.Repeat("plain text ", 8) + `\""}`,
		`{"jsonrpc":"1.0","id":3,"result":{}}`, `{"jsonrpc":2.0,"id":3,"result":{}}`, `{"jsonrpc":null,"id":3,"error":{}}`,
		`{"jsonrpc":"\u0032.0","method":"a"}`,
		`[[]]`, `{"level":"info"}`, `nonsense`,
	} {
		f.Add([]byte(frame))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, err := splitAll(frame)
		var fault *SyntaxError
		if err != nil && (!errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(frame)) {
			t.Fatalf("error %#v", err)
		}
		if fault != nil && strings.HasPrefix(fault.Reason, "too deep") {
			return
		}
		if n := len(got); n > 0 && got[n-1].broken {
			if err == nil || got[n-1].id == "" {
				t.Errorf("a broken message without a fault or an id")
			}
			got = got[:n-1]
		}
		want, ok := reference(frame)
		if ok != (err == nil) {
			t.Fatalf("error %v, but the reference accepts: %v", err, ok)
		}
		if !ok && len(want) < len(got) {
			got = got[:len(want)] // the reference refuses a batch as a whole
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("message %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
		if ok && len(got) != len(want) {
			t.Errorf("got %d messages, want %d", len(got), len(want))
		}
	})
}

// reference splits a frame with encoding/json.
func reference(frame []byte) (cuts []cut, ok bool) {
	values := json.NewDecoder(bytes.NewReader(frame))
	for {
		var raw json.RawMessage
		if err := values.Decode(&raw); err != nil {
			return cuts, errors.Is(err, io.EOF) && len(bytes.TrimLeft(frame[values.InputOffset():], " \t\r\n")) == 0
		}
		messages := []json.RawMessage{raw}
		if raw[0] == '[' {
			if json.Unmarshal(raw, &messages) != nil || len(messages) == 0 {
				return cuts, false
			}
		}
		var batch []cut
		for _, m := range messages {
			c, ok := referenceMessage(m)
			if !ok {
				return cuts, false
			}
			batch = append(batch, c)
		}
		cuts = append(cuts, batch...)
	}
}

func referenceMessage(raw []byte) (c cut, ok bool) {
	var fixed strings.Builder
	for i, r := range string(raw) {
		if r == utf8.RuneError && !strings.HasPrefix(string(raw[i:]), "\uFFFD") {
			c.repaired++
		}
		fixed.WriteRune(r)
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(fixed.String()), &m) != nil || m == nil {
		return c, false
	}
	var method *string
	if json.Unmarshal(m["method"], &method) == nil && method != nil {
		c.method = *method
	} else {
		method = nil
	}
	get := func(name string) string {
		if v := string(m[name]); v != "null" {
			return v
		}
		return ""
	}
	c.id, c.params, c.failed, c.result = get("id"), get("params"), get("error"), string(m["result"])
	var result map[string]json.RawMessage
	if json.Unmarshal(m["result"], &result) == nil {
		c.isError = string(result["isError"]) == "true"
	}
	var version any
	json.Unmarshal(m["jsonrpc"], &version)
	versioned := version == "2.0"
	foreign := get("jsonrpc") != "" && !versioned && string(m["jsonrpc"]) != "2.0"
	switch {
	case strings.ContainsAny(c.id[:min(1, len(c.id))], "{[tf"), method != nil && !versioned, foreign:
		return c, false
	case method != nil && c.id != "":
		c.kind = request
	case method != nil:
		c.kind = notification
	case c.result != "" || c.failed != "" || versioned && c.id != "":
		c.kind = response
	default:
		return c, false
	}
	return c, true
}

// payloads are frames as servers send them.
func payloads() map[string][]byte {
	frame := func(text string) []byte {
		quoted, _ := json.Marshal(text)
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":%s}],"isError":false}}`, quoted)
	}
	return map[string][]byte{
		"100B":         frame(strings.Repeat("a", 20)),
		"64KiB ascii":  frame(strings.Repeat("The quick brown fox jumps over it. ", 1872)),
		"64KiB zh":     frame(strings.Repeat("上海今天多云,最高三十一度。", 1600)),
		"64KiB lines":  frame(strings.Repeat("func main() { println(\"hi\") }\n", 2000)),
		"64KiB base64": frame(strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 2730)),
		"64KiB tree":   fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":[%s0]}}`, strings.Repeat(`{"a":1.5,"b":[true,null],"name":"x"},`, 1770)),
	}
}

// BenchmarkSplit is one pass over a frame, beside one of encoding/json.
func BenchmarkSplit(b *testing.B) {
	for name, frame := range payloads() {
		b.Run(name, func(b *testing.B) {
			var s splitter
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.split(frame, func(m *Message) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("json.Valid/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				json.Valid(frame)
			}
		})
	}
}
