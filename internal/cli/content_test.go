package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func TestResultsForPeople(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"text", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}],"structuredContent":{"x":1}}`, "a\nb\n"},
		{"structured content where there is no text (R01)", `{"content":[],"structuredContent":{"temp":31,"n":1e400}}`, "{\n  \"temp\": 31,\n  \"n\": 1e400\n}\n"},
		{"structured content that is no object (R08)", `{"structuredContent":[1,2]}`, "[\n  1,\n  2\n]\n"},
		{"a false one", `{"content":[],"structuredContent":false}`, "false\n"},
		{"a picture and structured content", `{"content":[{"type":"image","mimeType":"image/png","data":"aGk="}],"structuredContent":{"x":1}}`, "[image image/png, 2 bytes]\n{\n  \"x\": 1\n}\n"},
		{"nothing", `{"content":[]}`, "(an empty result)\n"},
		{"nothing but what belongs to any result", `{"content":null,"isError":false,"_meta":{"a":1}}`, "(an empty result)\n"},
		{"a result of another version", `{"toolResult":{"x":1.0}}`, "{\n  \"toolResult\": {\n    \"x\": 1.0\n  }\n}\n"},
		{"an empty text", `{"content":[{"type":"text","text":""}]}`, ""},
		{"a part of another kind", `{"content":[{"type":"hologram","z":1e400}]}`, "[hologram] {\"type\":\"hologram\",\"z\":1e400}\n"},
		{"a part without a type", `{"content":[{"x":1},7]}`, "[unknown part] {\"x\":1}\n[unknown part] 7\n"},
		{"text that is none", `{"content":[{"type":"text","text":7}]}`, "[unknown part] {\"type\":\"text\",\"text\":7}\n"},
		{"no result at all", `[1]`, "[\n  1\n]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (renderer{}).result([]byte(c.raw)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheTerminalIsGuardedAndAPipeIsNot(t *testing.T) {
	rep := control.Reply{OK: true, Outcome: call.OK, Result: []byte(`{"content":[{"type":"text","text":"\u001b[2Jx"}]}`)}
	for terminal, want := range map[bool]string{true: `\x1b[2Jx` + "\n", false: "\x1b[2Jx\n"} {
		var out bytes.Buffer
		p := &program{out: &output{stdout: &sink{w: &out}, terminal: terminal, noColor: true}}
		if err := p.endOfCall(t.Context(), rep, renderer.result); err != nil || out.String() != want {
			t.Errorf("terminal %v: %q, %v", terminal, out.String(), err)
		}
	}
}

func TestNotesAreDimOnATerminal(t *testing.T) {
	r := renderer{style: true, terminal: true}
	got := r.result([]byte(`{"content":[{"type":"resource_link","uri":"demo://\u001b[31m"}]}`))
	if want := "\x1b[2m[link demo://\\x1b[31m]\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAFailedToolSaysItOnce(t *testing.T) {
	var stderr bytes.Buffer
	p := &program{out: &output{stderr: &sink{w: &stderr}}}
	rep := control.Reply{
		Outcome: call.ToolError,
		Error:   &call.Error{Code: call.ToolFailed, Message: "no such city"},
		Result:  []byte(`{"isError":true,"content":[{"type":"text","text":"no such city"}]}`),
	}
	if err := p.endOfCall(t.Context(), rep, renderer.result); err != exitStatus(exitToolError) {
		t.Errorf("it ends with %v", err)
	}
	if strings.Count(stderr.String(), "no such city") != 1 {
		t.Errorf("stderr: %q", stderr.String())
	}
}
