package talk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/cli"
)

func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "aurora":
		os.Exit(cli.Main())
	case "talker":
		os.Exit(talkerMain())
	}
	os.Exit(m.Run())
}

// patience bounds every wait. It only says that something hangs.
const patience = 120 * time.Second

// A home is a home folder and the programs that run in it.
type home struct {
	t        *testing.T
	dir, bin string
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

func newHome(t *testing.T, settings string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aurora", "talker"} {
		if err := link(self, filepath.Join(h.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.put("apps/config.yml", strings.NewReplacer("BIN", filepath.ToSlash(h.bin), "HOME", filepath.ToSlash(h.dir)).Replace(talkerApp))
	h.put("aurora.yml", settings)
	return h
}

// link makes a program of another name out of this one. A symbolic link does not
// do where the program asks for its own path.
func link(from, to string) error {
	if filepath.Ext(from) == ".exe" {
		to += ".exe"
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

func (h *home) plan(p plan) {
	h.t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		h.t.Fatal(err)
	}
	h.put("plan.json", string(raw))
}

// calls returns every call that reached the app, in order.
func (h *home) calls() []called {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.dir, "calls.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Fatal(err)
	}
	var all []called
	for line := range bytes.Lines(raw) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue // being written, or cut off by a kill before it was answered
		}
		var c called
		if err := json.Unmarshal(line, &c); err != nil {
			h.t.Fatalf("calls.jsonl: %s: %v", line, err)
		}
		all = append(all, c)
	}
	return all
}

// files returns the names in a folder of data/kernel, without the notes.
func (h *home) files(folder string) []string {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.dir, "data", "kernel", filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
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
	r := &running{h: h, ready: make(chan struct{}), ended: make(chan struct{})}
	r.cmd = exec.Command(filepath.Join(h.bin, "aurora"), "up", "--json")
	r.cmd.Dir = h.dir
	r.cmd.Env = []string{"PATH=" + h.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + h.dir, "TMPDIR=" + os.TempDir()}
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

func (r *running) words() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// kill ends it as kill -9 does.
func (r *running) kill() {
	_ = r.cmd.Process.Kill() // in vain when it has ended
	<-r.ended
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
		r.h.t.Fatalf("aurora up ended with %d:\n%s", code, r.words())
	}
}

// await looks until done says so.
func (h *home) await(r *running, what string, done func() bool) {
	h.t.Helper()
	for limit := time.After(patience); !done(); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-r.ended:
			h.t.Fatalf("aurora up has ended:\n%s", r.words())
		case <-limit:
			h.t.Fatalf("%s: never\n%s", what, r.words())
		}
	}
}
