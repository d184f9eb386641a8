package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/cli"
	"github.com/aurorabot/aurora/internal/testkit"
	"github.com/aurorabot/aurora/internal/testkit/home"
)

func TestMain(m *testing.M) {
	switch home.Program() {
	case "aurora":
		os.Exit(cli.Main())
	case "emitter":
		os.Exit(emitterMain())
	case "peer":
		testkit.Main()
	}
	os.Exit(m.Run())
}

// A house is a home with the schema that its events are checked against.
type house struct {
	*home.Home
	schema *jsonschema.Schema
}

// newHouse makes a home with apps/config.yml and aurora.yml.
func newHouse(t *testing.T, apps, settings string) *house {
	t.Helper()
	h := &house{Home: home.New(t, "emitter", "peer")}
	h.Put("apps/config.yml", apps)
	// The brain would take what lies in the inbox.
	h.Put("aurora.yml", "brain: {enabled: false}\n"+settings)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	var err error
	if h.schema, err = c.Compile("../../docs/schemas/amp-envelope.json"); err != nil {
		t.Fatal(err)
	}
	return h
}

// inbox returns the events in the inbox in their order, each checked against the
// schema, and fails for everything in it that is none.
func (h *house) inbox() []*amp.Envelope {
	h.T.Helper()
	var events []*amp.Envelope
	for _, state := range []string{"pending", "processing", "done", "dead"} {
		dir := filepath.Join(h.Dir, "data", "kernel", "inbox", state)
		entries, err := os.ReadDir(dir)
		if err != nil {
			h.T.Fatal(err)
		}
		for _, entry := range entries {
			data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				h.T.Fatal(err)
			}
			if strings.HasPrefix(entry.Name(), ".") {
				h.T.Errorf("a temporary file is left: %s/%s", state, entry.Name())
				continue
			}
			var v any
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.UseNumber()
			if err := dec.Decode(&v); err != nil {
				h.T.Errorf("%s/%s is half a file: %v\n%s", state, entry.Name(), err, data)
				continue
			}
			if err := h.schema.Validate(v); err != nil {
				h.T.Errorf("%s/%s does not fit the schema: %v", state, entry.Name(), err)
			}
			e, err := amp.Parse(data)
			if err != nil {
				h.T.Errorf("%s/%s: %v", state, entry.Name(), err)
				continue
			}
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b *amp.Envelope) int { return int(int64(a.Header.Aurora.Seq) - int64(b.Header.Aurora.Seq)) })
	return events
}

// await looks at the inbox until it is as it should be.
func (h *house) await(what string, ok func([]*amp.Envelope) bool) {
	h.T.Helper()
	limit := time.After(home.Patience)
	for {
		events := h.pending()
		if ok(events) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			h.T.Fatalf("never in the inbox: %s; there is:\n%s", what, list(events))
		}
	}
}

// pending returns what waits in the inbox while more is being written.
func (h *house) pending() []*amp.Envelope {
	var events []*amp.Envelope
	files, _ := filepath.Glob(filepath.Join(h.Dir, "data", "kernel", "inbox", "pending", "event_*.json"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if e, err := amp.Parse(data); err == nil {
			events = append(events, e)
		}
	}
	return events
}

func list(events []*amp.Envelope) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s %s %s\n", e.Header.Method, e.Payload.Type, e.Header.MessageID, e.Payload.Data)
	}
	return b.String()
}

// has returns a condition for await: so many events of each type.
func has(types ...string) func([]*amp.Envelope) bool {
	return func(events []*amp.Envelope) bool {
		for _, typ := range types {
			if !slices.ContainsFunc(events, func(e *amp.Envelope) bool { return e.Payload.Type == typ }) {
				return false
			}
		}
		return true
	}
}
