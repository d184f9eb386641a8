package events

import (
	"bufio"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
)

// kills is how often the kill test kills.
func kills() int {
	switch {
	case os.Getenv("AURORA_TEST_LONG") != "":
		return 200
	case testing.Short():
		return 4
	}
	return 20
}

// seed is that of the environment, or a new one.
func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("AURORA_SEED")
	if text == "" {
		return rand.Uint64()
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("AURORA_SEED: %v", err)
	}
	return n
}

const emitters = 4

// The second must-show: `aurora up` is killed again and again while four apps
// emit. After the last start every event that was ever tried lies in the inbox
// exactly once, no file is half written, and no process is left.
func TestNoEventIsLostOrDoubledByKills(t *testing.T) {
	var apps strings.Builder
	apps.WriteString("apps:\n")
	for i := range emitters {
		fmt.Fprintf(&apps, `  emitter-%d:
    package: org.example.emitter%d
    events: ["load.*"]
    mcp: {command: ["BIN/emitter", "HOME/log-%d", "HOME/stop"]}
`, i, i, i)
	}
	h := newHome(t, apps.String(), "amp: {spools: {inbox: {include: [\"load.*\"]}}}\n")
	n, start := kills(), seed(t)
	random := rand.New(rand.NewPCG(start, 0))
	began := time.Now()
	early := 0
	for range n {
		r := h.up()
		switch random.IntN(4) {
		case 0: // while it starts
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		case 1: // at any moment
			time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
		default: // while events flow
			h.awaitAcks(r, h.acks()+1+random.IntN(60))
			time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		}
		select {
		case <-r.ready:
		default:
			early++
		}
		r.kill()
		h.work(random)
	}
	acked := h.acks()

	// Nothing new is emitted any more; what is open is settled.
	h.put("stop", "")
	r := h.up().settled()
	h.awaitSettled(r)
	r.stop()

	there := map[string]int{}
	for _, e := range h.inbox() {
		if e.Header.Method != amp.MethodEvent || e.Payload.Type != "load.tick" {
			t.Errorf("an odd event: %s %s", e.Header.Method, e.Payload.Type)
		}
		there[e.Header.Source.Instance+" "+e.Header.MessageID]++
	}
	tried, lost, doubled := 0, 0, 0
	for i := range emitters {
		for id, words := range h.log(i) {
			tried++
			switch n := there[fmt.Sprintf("emitter-%d %s", i, id)]; {
			case n == 0:
				lost++
				t.Errorf("emitter %d: %s is lost (%s)", i, id, words)
			case n > 1:
				doubled++
				t.Errorf("emitter %d: %s is there %d times (%s)", i, id, n, words)
			}
		}
	}
	if len(there) != tried {
		t.Errorf("%d events lie there, %d were tried", len(there), tried)
	}
	if left := processes(h.bin); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	summary := fmt.Sprintf("kill test: seed %d, %d kills (%d before all apps were up), %d apps, %d events tried, %d acknowledged before the last start, %d lost, %d doubled, %s",
		start, n, early, emitters, tried, acked, lost, doubled, time.Since(began).Round(time.Second))
	t.Log(summary)
	fmt.Println(summary)
}

// work is a consumer: it takes some of what waits and is done with it.
func (h *home) work(random *rand.Rand) {
	h.t.Helper()
	inbox := filepath.Join(h.dir, "data", "kernel", "inbox")
	files, err := filepath.Glob(filepath.Join(inbox, "pending", "event_*.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, file := range files {
		if random.IntN(3) > 0 {
			continue
		}
		if err := os.Rename(file, filepath.Join(inbox, "done", filepath.Base(file))); err != nil {
			h.t.Fatal(err)
		}
	}
}

// lines yields the lines of an emitter's log.
func (h *home) lines(i int) iter.Seq2[string, string] {
	return func(yield func(word, id string) bool) {
		f, err := os.Open(filepath.Join(h.dir, fmt.Sprint("log-", i)))
		if err != nil {
			return // it has not begun
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			word, id, _ := strings.Cut(lines.Text(), " ")
			if !yield(word, id) {
				return
			}
		}
	}
}

// log returns what an emitter says of each event.
func (h *home) log(i int) map[string]string {
	all := map[string]string{}
	for word, id := range h.lines(i) {
		if word != "settled" {
			all[id] = strings.TrimSpace(all[id] + " " + word)
		}
	}
	return all
}

// acks counts what was acknowledged to all emitters.
func (h *home) acks() int {
	n := 0
	for i := range emitters {
		for word := range h.lines(i) {
			if word == "ack" {
				n++
			}
		}
	}
	return n
}

func (h *home) awaitAcks(r *running, n int) {
	h.t.Helper()
	h.poll(r, fmt.Sprintf("%d acknowledgements", n), func() bool { return h.acks() >= n })
}

// awaitSettled waits until each emitter of the running house has settled.
func (h *home) awaitSettled(r *running) {
	h.t.Helper()
	for i := range emitters {
		h.poll(r, fmt.Sprintf("emitter %d to settle", i), func() bool {
			last := ""
			for word := range h.lines(i) {
				last = word
			}
			return last == "settled"
		})
	}
}

// poll looks again and again, since a file of another process does not ring.
func (h *home) poll(r *running, what string, ok func() bool) {
	h.t.Helper()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-r.ended:
			h.t.Fatalf("waiting for %s: aurora up has ended:\n%s", what, r.said.String())
		case <-limit:
			h.t.Fatalf("waiting for %s in vain:\n%s", what, r.said.String())
		}
	}
}
