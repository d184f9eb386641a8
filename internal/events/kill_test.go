package events

import (
	"bufio"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/testkit/home"
)

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
	h := newHouse(t, apps.String(), "amp: {spools: {inbox: {include: [\"load.*\"]}}}\n")
	n, start := home.Kills(), home.Seed(t)
	random := rand.New(rand.NewPCG(start, 0))
	began := time.Now()
	early := 0
	for range n {
		r := h.Up()
		switch random.IntN(4) {
		case 0: // while it starts
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		case 1: // at any moment
			time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
		default: // while events flow
			h.awaitAcks(r, h.acks()+1+random.IntN(60))
			time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond)
		}
		if !r.Ready() {
			early++
		}
		r.Kill()
		h.work(random)
	}
	acked := h.acks()

	// Nothing new is emitted any more; what is open is settled.
	h.Put("stop", "")
	r := h.Up().Settled()
	h.awaitSettled(r)
	r.Stop()

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
	if left := processes(h.Bin); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	summary := fmt.Sprintf("kill test: seed %d, %d kills (%d before all apps were up), %d apps, %d events tried, %d acknowledged before the last start, %d lost, %d doubled, %s",
		start, n, early, emitters, tried, acked, lost, doubled, time.Since(began).Round(time.Second))
	t.Log(summary)
	fmt.Println(summary)
}

// work is a consumer: it takes some of what waits and is done with it.
func (h *house) work(random *rand.Rand) {
	h.T.Helper()
	inbox := filepath.Join(h.Dir, "data", "kernel", "inbox")
	files, err := filepath.Glob(filepath.Join(inbox, "pending", "event_*.json"))
	if err != nil {
		h.T.Fatal(err)
	}
	for _, file := range files {
		if random.IntN(3) > 0 {
			continue
		}
		if err := os.Rename(file, filepath.Join(inbox, "done", filepath.Base(file))); err != nil {
			h.T.Fatal(err)
		}
	}
}

// lines yields the lines of an emitter's log.
func (h *house) lines(i int) iter.Seq2[string, string] {
	return func(yield func(word, id string) bool) {
		f, err := os.Open(filepath.Join(h.Dir, fmt.Sprint("log-", i)))
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
func (h *house) log(i int) map[string]string {
	all := map[string]string{}
	for word, id := range h.lines(i) {
		if word != "settled" {
			all[id] = strings.TrimSpace(all[id] + " " + word)
		}
	}
	return all
}

// acks counts what was acknowledged to all emitters.
func (h *house) acks() int {
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

func (h *house) awaitAcks(r *home.Running, n int) {
	h.T.Helper()
	r.Await(fmt.Sprintf("%d acknowledgements", n), func() bool { return h.acks() >= n })
}

// awaitSettled waits until each emitter of the running house has settled.
func (h *house) awaitSettled(r *home.Running) {
	h.T.Helper()
	for i := range emitters {
		r.Await(fmt.Sprintf("emitter %d to settle", i), func() bool {
			last := ""
			for word := range h.lines(i) {
				last = word
			}
			return last == "settled"
		})
	}
}
