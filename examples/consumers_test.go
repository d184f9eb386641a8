// Package examples holds programs that people may start from, and the test that
// they keep what they promise.
package examples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/spool"
)

const events = 80

// Each consumer is killed again and again while it works. In the end its output
// has every event once, in order.
func TestAConsumerLosesAndDoublesNothingWhenItIsKilled(t *testing.T) {
	goConsumer := filepath.Join(t.TempDir(), "consumer-go")
	if out, err := exec.Command("go", "build", "-o", goConsumer, "./consumer-go").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	consumers := map[string]func(spool, out string) *exec.Cmd{
		"go": func(spool, out string) *exec.Cmd { return exec.Command(goConsumer, "-drain", spool, out) },
		"python": func(spool, out string) *exec.Cmd {
			return exec.Command("python3", "consumer-python/consume.py", spool, out, "--drain")
		},
	}
	for name, command := range consumers {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(command("", "").Path); err != nil {
				t.Skipf("%s is not on this machine", command("", "").Path)
			}
			dir := t.TempDir()
			fill(t, dir)
			out := filepath.Join(t.TempDir(), "out.jsonl")
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			kills := 0
			for done := 0; done < events-10; kills++ {
				cmd := command(dir, out)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				until := done + random.IntN(12)
				for done < until || done == 0 {
					done = count(t, filepath.Join(dir, "done"))
					time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				done = count(t, filepath.Join(dir, "done"))
			}
			if msg, err := command(dir, out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			t.Logf("killed %d times", kills)
			ids := read(t, out)
			if len(ids) != events {
				t.Fatalf("%d lines for %d events", len(ids), events)
			}
			for n, id := range ids {
				if id != fmt.Sprint("m-", n) {
					t.Errorf("line %d is %s", n, id)
				}
			}
			if got := count(t, filepath.Join(dir, "dead")); got != 1 {
				t.Errorf("%d dead files, want the one that is no event", got)
			}
		})
	}
}

// fill makes a spool with events, in an order that their names do not show, and
// one file that is no event.
func fill(t *testing.T, dir string) {
	t.Helper()
	s, err := spool.Open(dir, spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := []spool.Item{{Name: "broken.json", Data: []byte("{")}}
	for n := range events {
		e := &amp.Envelope{
			Header: amp.Header{
				Method: amp.MethodEvent, MessageID: fmt.Sprint("m-", n), Timestamp: time.Unix(1, 0).UTC(),
				Source: amp.Source{App: "a.b"}, Aurora: &amp.Aurora{Seq: uint64(n + 1), ReceivedAt: time.Unix(1, 0).UTC()},
			},
			Payload: amp.Payload{Type: "x.y", Summary: "极光"},
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, spool.Item{Name: e.FileName(false), Data: data})
	}
	if _, err := s.Put(items...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func read(t *testing.T, path string) (ids []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var rec struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		ids = append(ids, rec.ID)
	}
	return ids
}
