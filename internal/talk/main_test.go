package talk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/aurorabot/aurora/internal/cli"
	"github.com/aurorabot/aurora/internal/testkit/home"
)

func TestMain(m *testing.M) {
	switch home.Program() {
	case "aurora":
		os.Exit(cli.Main())
	case "talker":
		os.Exit(talkerMain())
	}
	os.Exit(m.Run())
}

const talkerApp = `apps:
  talker:
    package: org.example.talker
    people: true
    reply: send_message
    events: ["message.*"]
    mcp: {command: ["BIN/talker", "HOME"]}
    permissions:
      tools:
        org.example.talker.note: {risk: low}
        org.example.talker.send_message: {risk: low}
`

// A house is a home in which the talker talks.
type house struct{ *home.Home }

func newHouse(t *testing.T, settings string) *house {
	t.Helper()
	h := &house{home.New(t, "talker")}
	h.Put("apps/config.yml", talkerApp)
	h.Put("aurora.yml", settings)
	return h
}

func (h *house) plan(p plan) {
	h.T.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		h.T.Fatal(err)
	}
	h.Put("plan.json", string(raw))
}

// calls returns every call that reached the app, in order.
func (h *house) calls() []called {
	h.T.Helper()
	raw, err := os.ReadFile(filepath.Join(h.Dir, "calls.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.T.Fatal(err)
	}
	var all []called
	for line := range bytes.Lines(raw) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue // being written, or cut off by a kill before it was answered
		}
		var c called
		if err := json.Unmarshal(line, &c); err != nil {
			h.T.Fatalf("calls.jsonl: %s: %v", line, err)
		}
		all = append(all, c)
	}
	return all
}

// files returns the names in a folder of data/kernel, without the notes.
func (h *house) files(folder string) []string {
	h.T.Helper()
	entries, err := os.ReadDir(filepath.Join(h.Dir, "data", "kernel", filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.T.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
