package talk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Two hundred sessions talk at once. Each is answered in its own order, none has
// to wait for another to finish, and what the house needs does not grow with what
// waits.
func TestTwoHundredSessionsTalkAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	const sessions = 200
	each := 3
	if long() {
		each = 10
	}
	h := newHouse(t, "user: {language: en}\nbrain: {heartbeat_seconds: 0}\n")
	p := plan{Sessions: sessions, To: sessions * each, AtOnce: true}
	h.plan(p)
	began := time.Now()
	r := h.Up()
	peak := 0
	r.Await("all messages are answered", func() bool {
		peak = max(peak, resident(r.PID()))
		return len(h.calls()) >= 2*p.To
	})
	took := time.Since(began)
	r.Await("all files are done with", func() bool { return h.over(p) })
	peak = max(peak, resident(r.PID()))
	r.Stop()

	var order []called
	for _, c := range h.calls() {
		if c.Tool == "send_message" {
			order = append(order, c)
		}
	}
	if len(order) != p.To {
		t.Fatalf("%d replies, want %d", len(order), p.To)
	}
	last := map[string]int{}
	count := map[string]int{}
	// ahead is the most that a session was answered more often than another while
	// that one still had something to be answered.
	ahead := 0
	for _, c := range order {
		n, err := strconv.Atoi(number.FindString(c.Text))
		if err != nil || p.session(n) != c.Session {
			t.Fatalf("the session %s got %q", c.Session, c.Text)
		}
		if before, ok := last[c.Session]; ok && n <= before {
			t.Errorf("%s: the answer to %d comes after that to %d", c.Session, n, before)
		}
		last[c.Session] = n
		count[c.Session]++
		least := each
		for s := range sessions {
			least = min(least, count[p.session(s)])
		}
		ahead = max(ahead, count[c.Session]-least)
	}
	if ahead > max(2, each/2) {
		t.Errorf("one session was %d answers ahead of another that waited", ahead)
	}
	first, end := order[0].At, order[len(order)-1].At
	var waits []time.Duration
	seen := map[string]bool{}
	for _, c := range order {
		if !seen[c.Session] {
			seen[c.Session] = true
			waits = append(waits, c.At.Sub(first))
		}
	}
	slices.Sort(waits)
	summary := fmt.Sprintf("load: %d sessions, %d messages with one tool call and one reply each: %s, %.0f turns/s; every session in its order; the last session got its first answer after %s, %.0f %% of the whole; no session was more than %d answers ahead of one that waited; peak %d MiB resident",
		sessions, p.To, took.Round(time.Millisecond), float64(p.To)/end.Sub(first).Seconds(), waits[len(waits)-1].Round(time.Millisecond),
		100*waits[len(waits)-1].Seconds()/end.Sub(first).Seconds(), ahead, peak>>10)
	t.Log(summary)
	fmt.Println(summary)
}

// resident returns the KiB of memory that a process has resident; 0 where that is
// not known.
func resident(pid int) int {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return n
		}
	}
	return 0
}
