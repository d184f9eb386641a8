package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// lines returns the parsed lines of the file of a day.
func lines(t *testing.T, dir, day string) []map[string]any {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "audit-"+day+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []map[string]any
	s := bufio.NewScanner(f)
	for s.Scan() {
		var m map[string]any
		if json.Unmarshal(s.Bytes(), &m) == nil {
			all = append(all, m)
		}
	}
	return all
}

func TestARecordSaysWhatHappenedButNotWithWhat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "审计", "audit")
	l := open(t, dir, Options{})
	l.Append(Record{
		Time: noon, Caller: call.Caller{Kind: call.Brain, Session: "qq:1", Sender: "qq:7"}, Method: "tools/call",
		Name: "im.demo.a", App: "demo", Package: "im.demo", Risk: "low",
		Outcome: call.ProtocolError, Code: call.ArgumentsInvalid, RPC: -32602,
		Took: 1500 * time.Microsecond, Args: []byte(`{"diary":"private words"}`),
	})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit-2026-03-01.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"time":"2026-03-01T12:00:00Z","seq":1,"caller":{"kind":"brain","session":"qq:1","sender":"qq:7"},"method":"tools/call","name":"im.demo.a","app":"demo","package":"im.demo","risk":"low","outcome":"protocol_error","error_code":"ARGUMENTS_INVALID","rpc_code":-32602,"duration_ms":1.5,"args_sha256":"%x","args_bytes":25}`+"\n",
		sha256.Sum256([]byte(`{"diary":"private words"}`)))
	if string(text) != want {
		t.Errorf("the line is\n%s\nwant\n%s", text, want)
	}
	if strings.Contains(string(text), "private") {
		t.Error("the arguments are in the log")
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "audit-2026-03-01.jsonl"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, want %v (%v)", path, st.Mode().Perm(), mode, err)
		}
	}
}

func TestSeqGoesOnOverDaysAndRestarts(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	l.Append(Record{Time: noon})
	l.Append(Record{Time: noon.Add(24 * time.Hour)})
	l.Append(Record{Time: noon.Add(24 * time.Hour)})
	l.Close()
	l = open(t, dir, Options{})
	l.Append(Record{Time: noon.Add(24 * time.Hour)})
	l.Close()
	if got := lines(t, dir, "2026-03-01"); len(got) != 1 || got[0]["seq"] != 1.0 {
		t.Errorf("the first day: %v", got)
	}
	got := lines(t, dir, "2026-03-02")
	if len(got) != 3 || got[0]["seq"] != 2.0 || got[2]["seq"] != 4.0 {
		t.Errorf("the second day: %v", got)
	}
}

// A call belongs to the day on which it came in, and may end after one of the
// next day; and a clock that ran ahead leaves a file of a day to come.
func TestSeqGoesOnWhicheverFileHasTheLastOne(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	l.Append(Record{Time: noon.Add(24 * time.Hour)})
	l.Append(Record{Time: noon})
	l.Close()
	l = open(t, dir, Options{})
	l.Append(Record{Time: noon})
	l.Close()
	if got := lines(t, dir, "2026-03-01"); len(got) != 2 || got[0]["seq"] != 2.0 || got[1]["seq"] != 3.0 {
		t.Errorf("lines: %v", got)
	}
}

func TestATornLineSpoilsNoOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit-2026-03-01.jsonl")
	if err := os.WriteFile(path, []byte(`{"seq":7,"method":"tools/call"}`+"\n"+`{"seq":8,"met`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, Options{})
	l.Append(Record{Time: noon, Name: "after"})
	l.Close()
	got := lines(t, dir, "2026-03-01")
	if len(got) != 2 || got[0]["seq"] != 7.0 || got[1]["seq"] != 8.0 || got[1]["name"] != "after" {
		t.Errorf("lines: %v", got)
	}
	text, _ := os.ReadFile(path)
	if !strings.Contains(string(text), `"met`+"\n{") {
		t.Errorf("the torn line was changed: %s", text)
	}
}

func TestManyWritersLoseNothingWhileThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	const writers, each = 8, 100
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				l.Append(Record{Time: noon, Name: "x"})
			}
		})
	}
	all.Wait()
	l.Close()
	got := lines(t, dir, "2026-03-01")
	for i, m := range got {
		if m["seq"] != float64(i+1) {
			t.Fatalf("line %d has seq %v", i+1, m["seq"])
		}
	}
	if n := int64(len(got)) + l.lost.Load(); n != writers*each {
		t.Errorf("%d lines and %d lost of %d", len(got), l.lost.Load(), writers*each)
	}
}

func TestWhatTheDiskDoesNotTakeIsCounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, dir, Options{})
	// The folder goes away under the log, as when a disk is pulled.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.Append(Record{Time: noon})
	l.Append(Record{Time: noon})
	if err := l.Close(); err == nil {
		t.Error("nobody was told that the disk took nothing")
	}
	if l.lost.Load() != 2 {
		t.Errorf("%d records count as lost, want 2", l.lost.Load())
	}
	l.Append(Record{Time: noon}) // after Close
	if l.lost.Load() != 3 {
		t.Errorf("%d records count as lost, want 3", l.lost.Load())
	}
}

func TestTheNextLineSaysHowManyAreMissing(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	l.lost.Add(5)
	l.Append(Record{Time: noon})
	l.Close()
	if got := lines(t, dir, "2026-03-01"); len(got) != 1 || got[0]["lost"] != 5.0 {
		t.Errorf("lines: %v", got)
	}
}

func TestNamesAreBoundedAndSecretsMasked(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{Redact: redact.New("tok-very-secret-1")})
	l.Append(Record{Time: noon, Name: "tok-very-secret-1"})
	l.Append(Record{Time: noon, Name: strings.Repeat("天", 1000)})
	l.Close()
	got := lines(t, dir, "2026-03-01")
	if len(got) != 2 || strings.Contains(got[0]["name"].(string), "secret") {
		t.Errorf("lines: %v", got)
	}
	if n := len(got[1]["name"].(string)); n > maxName+len("…") {
		t.Errorf("a name of %d bytes was written", n)
	}
}
