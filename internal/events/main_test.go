package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/cli"
	"github.com/aurorabot/aurora/internal/testkit"
)

func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "aurora":
		os.Exit(cli.Main())
	case "emitter":
		os.Exit(emitterMain())
	case "peer":
		testkit.Main()
	}
	os.Exit(m.Run())
}

// patience bounds every wait. It only says that something hangs.
const patience = 60 * time.Second

// A home is a home folder and the programs that run in it.
type home struct {
	t        *testing.T
	dir, bin string
	schema   *jsonschema.Schema
}

// newHome makes a home with apps/config.yml and aurora.yml. In them, BIN is the
// folder of the programs and HOME that of the home.
func newHome(t *testing.T, apps, settings string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aurora", "emitter", "peer"} {
		if err := link(self, filepath.Join(h.bin, name+filepath.Ext(self))); err != nil {
			t.Fatal(err)
		}
	}
	fill := strings.NewReplacer("BIN", filepath.ToSlash(h.bin), "HOME", filepath.ToSlash(h.dir))
	h.put("apps/config.yml", fill.Replace(apps))
	// The brain would take what lies in the inbox.
	h.put("aurora.yml", "brain: {enabled: false}\n"+fill.Replace(settings))
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if h.schema, err = c.Compile("../../docs/schemas/amp-envelope.json"); err != nil {
		t.Fatal(err)
	}
	return h
}

// link makes a program of another name out of this one. A link does not do where
// the program asks for its own path.
func link(from, to string) error {
	if filepath.Ext(from) == ".test" || filepath.Ext(from) == "" {
		to = strings.TrimSuffix(to, ".test")
	}
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o700)
}

func (h *home) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.bin, "aurora"), args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + h.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + h.dir, "TMPDIR=" + os.TempDir()}
	return cmd
}

// run runs a command that must end with this exit code, and returns its stdout.
func (h *home) run(code int, args ...string) []byte {
	h.t.Helper()
	cmd := h.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.t.Fatalf("aurora %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}

// A running is `aurora up` in the background.
type running struct {
	h     *home
	cmd   *exec.Cmd
	ready chan struct{} // closed when all apps are decided
	ended chan struct{}

	mu   sync.Mutex // guards said
	said bytes.Buffer
}

// up starts `aurora up`; it does not wait until it is.
func (h *home) up() *running {
	h.t.Helper()
	r := &running{h: h, cmd: h.command("up", "--json"), ready: make(chan struct{}), ended: make(chan struct{})}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	r.cmd.Stderr = r
	if err := r.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		line := make([]byte, 1)
		if n, _ := io.ReadFull(stdout, line); n == 1 {
			close(r.ready)
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = r.cmd.Wait()
	}()
	h.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // in vain when it has ended
		<-r.ended
	})
	return r
}

// Write takes what it says on stderr.
func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.Write(p)
}

// settled waits until all apps are decided.
func (r *running) settled() *running {
	r.h.t.Helper()
	select {
	case <-r.ready:
	case <-r.ended:
		r.h.t.Fatalf("aurora up has ended:\n%s", r.said.String())
	case <-time.After(patience):
		r.h.t.Fatal("aurora up does not come up")
	}
	return r
}

// stop ends it as Ctrl-C does.
func (r *running) stop() {
	r.h.t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		r.h.t.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.h.t.Fatal("aurora up does not stop")
	}
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		r.h.t.Fatalf("aurora up ended with %d:\n%s", code, r.said.String())
	}
}

// kill ends it as kill -9 does.
func (r *running) kill() {
	r.h.t.Helper()
	_ = r.cmd.Process.Kill()
	<-r.ended
}

// inbox returns the events in the inbox in their order, each checked against the
// schema, and fails for everything in it that is none.
func (h *home) inbox() []*amp.Envelope {
	h.t.Helper()
	var events []*amp.Envelope
	for _, state := range []string{"pending", "processing", "done", "dead"} {
		dir := filepath.Join(h.dir, "data", "kernel", "inbox", state)
		entries, err := os.ReadDir(dir)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, entry := range entries {
			data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				h.t.Fatal(err)
			}
			if strings.HasPrefix(entry.Name(), ".") {
				h.t.Errorf("a temporary file is left: %s/%s", state, entry.Name())
				continue
			}
			var v any
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.UseNumber()
			if err := dec.Decode(&v); err != nil {
				h.t.Errorf("%s/%s is half a file: %v\n%s", state, entry.Name(), err, data)
				continue
			}
			if err := h.schema.Validate(v); err != nil {
				h.t.Errorf("%s/%s does not fit the schema: %v", state, entry.Name(), err)
			}
			e, err := amp.Parse(data)
			if err != nil {
				h.t.Errorf("%s/%s: %v", state, entry.Name(), err)
				continue
			}
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b *amp.Envelope) int { return int(int64(a.Header.Aurora.Seq) - int64(b.Header.Aurora.Seq)) })
	return events
}

// await looks at the inbox until it is as it should be.
func (h *home) await(what string, ok func([]*amp.Envelope) bool) {
	h.t.Helper()
	limit := time.After(patience)
	for {
		events := h.pending()
		if ok(events) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			h.t.Fatalf("never in the inbox: %s; there is:\n%s", what, list(events))
		}
	}
}

// pending returns what waits in the inbox while more is being written.
func (h *home) pending() []*amp.Envelope {
	var events []*amp.Envelope
	files, _ := filepath.Glob(filepath.Join(h.dir, "data", "kernel", "inbox", "pending", "event_*.json"))
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
