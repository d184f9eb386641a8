package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// An exactCall is a call whose result is compared with what came over the pipe.
type exactCall struct{ tool, args string }

// exact runs a server with a tap on its stdout and compares what Aurora says
// with what the server said: tool definitions and results must have the same
// tokens, the same order and the same text of numbers.
func exact(t *testing.T, f *facts, command []string, calls []exactCall) {
	if runtime.GOOS == "windows" {
		return // no sh, no tee
	}
	t.Run("exact", func(t *testing.T) {
		tap := append([]string{"sh", "-c", `"$@" | tee "$0"`, "HOME/tap"}, command...)
		if f.remote != nil {
			tap = append([]string{tapped}, command...)
		}
		s := up(t, f, tap...)
		var results [][]byte
		for _, c := range calls {
			r := s.call(c.tool, strings.ReplaceAll(c.args, "HOME", s.home))
			if r.Raw == nil {
				t.Fatalf("%s: %s %v", c.tool, r.Outcome, r.Err)
			}
			results = append(results, compact(t, r.Raw))
		}
		tools := s.host.Catalog().Tools()
		s.down() // so that the tap is written whole
		said := messages(t, s.file("tap"))
		for _, tool := range tools {
			if !slices.ContainsFunc(said, func(m []byte) bool { return bytes.Contains(m, compact(t, tool.Definition)) }) {
				t.Errorf("the server never sent this definition of %s:\n%s", tool.Name, tool.Definition)
			}
		}
		if len(tools) == 0 {
			t.Error("there are no tools")
		}
		for i, r := range results {
			if !slices.ContainsFunc(said, func(m []byte) bool { return bytes.Contains(m, append([]byte(`"result":`), r...)) }) {
				t.Errorf("the server never sent this result of %s:\n%s", calls[i].tool, r)
			}
		}
		f.saw("exact", "yes")
	})
}

// messages returns the lines of a tap without insignificant white space.
func messages(t *testing.T, file string) [][]byte {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if line := bytes.TrimPrefix(lines.Bytes(), []byte("data:")); json.Valid(line) {
			out = append(out, compact(t, line))
		}
	}
	return out
}

func compact(t *testing.T, raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
