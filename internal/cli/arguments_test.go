package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWhereJSONIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{oops`:                  "line 1, column 2:",
		`{"城市": x}`:              "line 1, column 8:",
		"{\n  \"a\": 1,\n  ,\n}": "line 3, column 3:",
		`{"a": 1`:                "line 1, column 8:",
		`{"a": 1}}`:              "line 1, column 9:",
		`{"a": 1} x`:             "line 1, column 10:",
		"{\"a\": \"\n\"}":        "line 1, column 8:",
		`{"a": "unfinished`:      "line 1, column 18:",
		`{"a": tru}`:             "line 1, column 10:",
	} {
		var v json.RawMessage
		err := json.Unmarshal([]byte(text), &v)
		if err == nil {
			t.Fatalf("%q is JSON", text)
		}
		if got := jsonFault([]byte(text), err); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestRawArgumentsKeepTheirTokens(t *testing.T) {
	p := &program{stdin: strings.NewReader("\ufeff {\"n\": 1e400, \"big\": 9007199254740993}\n")}
	got, err := p.rawArguments(t.Context(), "-")
	if want := `{"n": 1e400, "big": 9007199254740993}`; err != nil || string(got) != want {
		t.Errorf("rawArguments(-) = %s, %v; want %s", got, err, want)
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	var got []string
	for k, v := range members(json.RawMessage(`{"z": 1, "a": {"b": 2}, "z": 3}`)) {
		got = append(got, k+string(v))
	}
	if strings.Join(got, " ") != `z1 a{"b": 2} z3` {
		t.Errorf("members: %q", got)
	}
	for _, none := range []string{``, `null`, `[1]`, `"x"`, `{"a"`, `{`} {
		for k := range members(json.RawMessage(none)) {
			t.Errorf("%q has a member %q", none, k)
		}
	}
}

// Ctrl-C ends a command that waits for its stdin.
func TestWaitingForStdinEndsWithTheCommand(t *testing.T) {
	in, typist := io.Pipe()
	defer typist.Close()
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errInterrupted)
	p := &program{stdin: in}
	if _, err := p.rawArguments(ctx, "-"); !errors.Is(err, errInterrupted) {
		t.Errorf("it ends with %v", err)
	}
}
