package talk

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/testkit/home"
)

// long reports whether the long form of the tests is asked for.
func long() bool { return os.Getenv("AURORA_TEST_LONG") != "" }

// A told is a turn, as its journal tells it.
type told struct {
	unit    string
	session string
	numbers []int // of the messages that it answers
	notes   map[int]string
	replies int // that were begun
	ending  turn.Ending
}

// The kill test: `aurora up` is killed again and again in the middle of fifty
// conversations. In the end every message was answered exactly once, or it is
// known of its answer that it is not known; no tool with a side effect was called
// twice; and all files are where they belong.
func TestConversationsSurviveKills(t *testing.T) {
	n, start := home.Kills(), home.Seed(t)
	const sessions = 50
	each := max(3, 3*n/20) // messages of a session
	p := plan{Sessions: sessions, Plain: 3, WorkMS: 3}
	h := newHouse(t, "user: {language: en}\nbrain: {debounce_seconds: 0.05, heartbeat_seconds: 0}\n")
	random := rand.New(rand.NewPCG(start, 0))
	began := time.Now()
	total := sessions * each
	early := 0
	for round := range n {
		p.To = total * (round + 1) / n
		h.plan(p)
		before := len(h.calls())
		r := h.Up()
		switch random.IntN(4) {
		case 0: // while it starts
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		case 1: // at any moment
			time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		default: // while it talks
			want := before + 1 + random.IntN(1+total/n)
			for limit := time.Now().Add(time.Second); len(h.calls()) < want && time.Now().Before(limit); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(random.IntN(10_000)) * time.Microsecond)
		}
		if !r.Ready() {
			early++
		}
		r.Kill()
	}
	p.To = total
	h.plan(p)
	r := h.Up()
	r.Await("all messages have come to their end", func() bool { return h.over(p) })
	r.Stop()

	turns := h.turns(t)
	answered, uncertain, unknownCalls := h.checkTurns(turns, p)
	h.checkFolders(p)
	summary := fmt.Sprintf("conversation kill test: seed %d, %d kills (%d before all apps were up), %d conversations, %d messages in %d turns: %d answered once, %d unknown and told so, %d calls with an unknown end, 0 called twice, %s",
		start, n, early, sessions, total, len(turns), answered, uncertain, unknownCalls, time.Since(began).Round(time.Second))
	t.Log(summary)
	fmt.Println(summary)
}

// over reports whether nothing of the plan is open any more.
func (h *house) over(p plan) bool {
	done := 0
	for _, name := range h.files("inbox/done") {
		if strings.HasPrefix(name, "event_message.received_") {
			done++
		}
	}
	if done < p.To {
		return false
	}
	for _, queue := range []string{"message_queue", "internalized"} {
		if len(h.files("pipeline/"+queue+"/pending"))+len(h.files("pipeline/"+queue+"/processing")) > 0 {
			return false
		}
	}
	return true
}

var number = regexp.MustCompile(`\d+`)

// turns reads all journals.
func (h *house) turns(t *testing.T) []told {
	t.Helper()
	dir := filepath.Join(h.Dir, "data", "kernel", "turns")
	var all []told
	for _, name := range h.files("turns") {
		id, ok := strings.CutSuffix(name, ".jsonl")
		if !ok {
			continue
		}
		records, err := turn.Read(dir, id)
		if err != nil {
			t.Errorf("turn %s: %v", id, err)
			continue
		}
		w := told{unit: id, notes: map[int]string{}}
		for _, r := range records {
			switch r.Kind {
			case turn.KindBegin:
				w.session = r.Session
				if r.WokenBy != "message.received" {
					t.Errorf("turn %s was woken by %s", id, r.WokenBy)
				}
			case turn.KindResult:
				if n, err := strconv.Atoi(number.FindString(r.Text)); err == nil && r.Outcome == "ok" {
					w.notes[n] = r.Outcome
				} else if r.Outcome != "ok" {
					w.notes[-1-len(w.notes)] = r.Outcome
				}
			case turn.KindReplyIntent:
				w.replies++
			case turn.KindEnd:
				w.ending = turn.Ending(r.Outcome)
			}
		}
		raw, err := os.ReadFile(filepath.Join(h.Dir, "data", "kernel", "pipeline", "internalized", "done", unit.MarkerName(id)))
		if err != nil {
			t.Errorf("turn %s: %v", id, err)
			continue
		}
		u, err := unit.Parse(raw)
		if err != nil {
			t.Errorf("turn %s: %v", id, err)
			continue
		}
		for _, e := range u.Events {
			n, _ := strconv.Atoi(strings.TrimPrefix(e.Header.MessageID, "m-"))
			w.numbers = append(w.numbers, n)
		}
		all = append(all, w)
	}
	return all
}

// checkTurns compares what the journals tell with what reached the app.
func (h *house) checkTurns(turns []told, p plan) (answered, uncertain, unknownCalls int) {
	h.T.Helper()
	belongs := map[int]string{} // message -> turn
	perSession := map[string]int{}
	open := map[string]int{}
	for _, w := range turns {
		if w.ending != turn.Answered && w.ending != turn.Uncertain {
			h.T.Errorf("turn %s ended as %q", w.unit, w.ending)
		}
		if w.ending == turn.Uncertain {
			uncertain++
			open[w.session]++
		} else {
			answered++
			perSession[w.session]++
		}
		for _, n := range w.numbers {
			if belongs[n] != "" {
				h.T.Errorf("message %d is in the turns %s and %s", n, belongs[n], w.unit)
			}
			belongs[n] = w.unit
			if p.session(n) != w.session {
				h.T.Errorf("message %d of %s was answered in %s", n, p.session(n), w.session)
			}
		}
		for _, outcome := range w.notes {
			if outcome == "unknown" {
				unknownCalls++
			}
		}
	}
	for i := range p.To {
		if belongs[i] == "" {
			h.T.Errorf("message %d has no turn", i)
		}
	}
	notes, replies, noted := map[int]int{}, map[string]int{}, map[string]int{}
	for _, c := range h.calls() {
		switch c.Tool {
		case "note":
			notes[c.N]++
		case "send_message":
			replies[c.Session]++
			if strings.Contains(c.Text, "noted ") {
				noted[c.Session+" "+c.Text]++
			}
		}
	}
	for n, times := range notes {
		if times > 1 {
			h.T.Errorf("note %d was called %d times", n, times)
		}
		if p.plain(n) {
			h.T.Errorf("note %d was called, and nobody asked for it", n)
		}
	}
	for text, times := range noted {
		if times > 1 {
			h.T.Errorf("%q was answered %d times", text, times)
		}
	}
	for s, n := range perSession {
		if replies[s] < n || replies[s] > n+open[s] {
			h.T.Errorf("%s got %d replies; %d turns were answered, of %d that is not known", s, replies[s], n, open[s])
		}
	}
	return answered, uncertain, unknownCalls
}

// checkFolders sees to it that every file is where it belongs.
func (h *house) checkFolders(p plan) {
	h.T.Helper()
	for _, folder := range []string{"inbox/dead", "pipeline/message_queue/dead", "pipeline/internalized/dead", "inbox/processing",
		"pipeline/message_queue/processing", "pipeline/internalized/pending", "pipeline/internalized/processing"} {
		if names := h.files(folder); len(names) > 0 {
			h.T.Errorf("%s holds %q", folder, names)
		}
	}
	// The end of the apps makes events too, which wait for the next start.
	for _, name := range h.files("pipeline/message_queue/pending") {
		raw, err := os.ReadFile(filepath.Join(h.Dir, "data", "kernel", "pipeline", "message_queue", "pending", name))
		if u, e := unit.Parse(raw); err != nil || e != nil || u.Wake {
			h.T.Errorf("the unit %s waits (%v, %v)", name, err, e)
		}
	}
	messages := 0
	for _, folder := range []string{"inbox/pending", "inbox/done", "pipeline/message_queue/done", "pipeline/internalized/done"} {
		for _, name := range h.files(folder) {
			if !strings.HasSuffix(name, ".json") {
				h.T.Errorf("%s holds %s", folder, name)
				continue
			}
			raw, err := os.ReadFile(filepath.Join(h.Dir, "data", "kernel", filepath.FromSlash(folder), name))
			if err != nil {
				h.T.Error(err)
				continue
			}
			if !strings.HasPrefix(folder, "inbox") {
				if _, err := unit.Parse(raw); err != nil {
					h.T.Errorf("%s/%s: %v", folder, name, err)
				}
				continue
			}
			e, err := amp.Parse(raw)
			if err != nil {
				h.T.Errorf("%s/%s: %v", folder, name, err)
				continue
			}
			if e.Payload.Type == amp.TypeMessageReceived {
				messages++
				if folder != "inbox/done" {
					h.T.Errorf("%s is still in %s", name, folder)
				}
			}
		}
	}
	if messages != p.To {
		h.T.Errorf("the inbox holds %d messages, %d were said", messages, p.To)
	}
}
