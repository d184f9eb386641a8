package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/llmtest"
	"github.com/aurorabot/aurora/internal/spool"
)

var (
	noon      = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	unbounded = History{Turns: 1 << 20, Messages: 1 << 20, Bytes: 1 << 30}
)

func opened(t *testing.T, dir string) *history {
	t.Helper()
	h, err := openHistory(disk{spool.Disk()}, dir, "lane")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// spokenOf returns what is remembered, as one text.
func spokenOf(h *history, limit History) string {
	var texts []string
	for _, m := range h.messages(limit) {
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, " ")
}

func turnOf(n int, filler string) []llm.Message {
	return []llm.Message{{Role: llm.User, Content: fmt.Sprintf("u%d%s", n, filler)}, {Role: llm.Assistant, Content: fmt.Sprintf("a%d", n)}}
}

func TestAHistorySurvivesRestarts(t *testing.T) {
	dir := t.TempDir()
	for n := range 5 {
		h := opened(t, dir) // a process each
		if err := h.add(fmt.Sprint(n), noon, turnOf(n, "")); err != nil {
			t.Fatal(err)
		}
		if err := h.add(fmt.Sprint(n), noon, turnOf(n, " again")); err != nil {
			t.Fatal(err)
		}
	}
	h := opened(t, dir)
	if got := spokenOf(h, unbounded); got != "u0 a0 u1 a1 u2 a2 u3 a3 u4 a4" || h.turns() != 5 {
		t.Error(got)
	}
	for _, c := range []struct {
		limit History
		want  string
	}{
		{History{Turns: 2, Messages: 100, Bytes: 100}, "u3 a3 u4 a4"},
		{History{Turns: 9, Messages: 5, Bytes: 100}, "u3 a3 u4 a4"},
		{History{Turns: 9, Messages: 9, Bytes: 9}, "u3 a3 u4 a4"},
		{History{Turns: 9, Messages: 9, Bytes: 3}, ""},
	} {
		if got := spokenOf(h, c.limit); got != c.want {
			t.Errorf("%+v: %s", c.limit, got)
		}
	}
	if err := h.fresh("n", noon); err != nil {
		t.Fatal(err)
	}
	if err := h.fresh("n", noon); err != nil {
		t.Fatal(err)
	}
	if got := spokenOf(h, unbounded); got != "" {
		t.Error(got)
	}
	h = opened(t, dir)
	if err := h.add("5", noon, turnOf(5, "")); err != nil {
		t.Fatal(err)
	}
	if h = opened(t, dir); spokenOf(h, unbounded) != "u5 a5" || h.turns() != 1 || !h.has("n", true) {
		t.Error(spokenOf(h, unbounded))
	}
}

func TestTheFileOfASessionStaysSmall(t *testing.T) {
	for name, filler := range map[string]string{"many turns": "", "long turns": strings.Repeat("x", 300_000)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			n := 450
			if filler != "" {
				n = 30
			}
			h := opened(t, dir)
			for i := range n {
				if i%7 == 0 {
					h = opened(t, dir)
				}
				if err := h.add(fmt.Sprint(i), noon, turnOf(i, filler)); err != nil {
					t.Fatal(err)
				}
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Fatalf("%v, %v", entries, err)
			}
			data, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > maxBytes || strings.Count(string(data), "\n") > maxLines {
				t.Errorf("%d bytes, %d lines", len(data), strings.Count(string(data), "\n"))
			}
			h = opened(t, dir)
			got := spokenOf(h, unbounded)
			if !strings.HasSuffix(got, fmt.Sprintf("a%d", n-1)) || !strings.Contains(got, fmt.Sprintf("a%d ", n-5)) {
				t.Error("the newest turns are gone")
			}
		})
	}
}

// A file that ends in half a line is written on behind the last whole one.
func TestATornHistoryIsGoneOnWith(t *testing.T) {
	dir := t.TempDir()
	h := opened(t, dir)
	if err := h.add("0", noon, turnOf(0, "")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path, append(data, data[:len(data)/2]...), 0o600); err != nil {
		t.Fatal(err)
	}
	h = opened(t, dir)
	if err := h.add("1", noon, turnOf(1, "")); err != nil {
		t.Fatal(err)
	}
	if got := spokenOf(opened(t, dir), unbounded); got != "u0 a0 u1 a1" {
		t.Error(got)
	}
}

// What is remembered has whole pairs and unique ids, whatever the file says.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"turn":"1","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"a","content":"r"}]}` + "\n"))
	f.Add([]byte(`{"turn":"1","fresh":true}` + "\n" + `{"turn":"2","messages":[{"role":"tool","content":"r"},{"role":"assistant"}]}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newMemory()
		m.names["/s/"+sessionName("lane")+".jsonl"] = &content{data: data, synced: len(data)}
		h, err := openHistory(m, "/s", "lane")
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []History{unbounded, {Turns: 3, Messages: 4, Bytes: 100}} {
			messages := h.messages(limit)
			messages = append(messages, llm.Message{Role: llm.User, Content: "x"})
			if err := llmtest.Check(llm.Request{Messages: messages, Turn: len(messages) - 1}); err != nil {
				t.Fatalf("%v\n%s", err, llmtest.Print(llm.Request{Messages: messages}))
			}
		}
		if err := h.add("new", noon, turnOf(0, "")); err != nil {
			t.Fatal(err)
		}
	})
}
