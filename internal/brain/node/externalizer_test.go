package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func TestFault3_AMarkerIsDoneWhenItsTurnIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		tries := 0
		w.turn = func(ctx context.Context, _ *unit.Unit) error {
			switch tries++; tries {
			case 1:
				return errors.New("the model is away")
			case 2:
				panic("oh")
			}
			<-ctx.Done() // the process dies while the model thinks
			return ctx.Err()
		}
		w.put(said(1, "s", "/hi"))
		pass(time.Minute)
		marker := unit.MarkerName(unit.ID(said(1, "", ""), time.Time{}))
		same(t, "processing", w.in("pipeline/internalized/processing"), marker)
		killed := disk.Kill()
		w.stop()
		w = wake(t, killed, usual(), "", "")
		pass(time.Minute)
		same(t, "turns of the next run", w.texts(), "/hi")
		same(t, "done", w.in("pipeline/internalized/done"), marker)
		w.stop()
	})
}

func TestATurnThatFailsTooOftenIsDeadAndTheNextOneBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		w.turn = func(_ context.Context, u *unit.Unit) error {
			if u.Text == "/bad" {
				return errors.New("no")
			}
			return nil
		}
		w.put(said(1, "s", "/bad"), said(2, "s", "/good"))
		pass(time.Hour)
		w.stop()
		same(t, "turns", w.texts(), "/good")
		same(t, "dead", w.in("pipeline/internalized/dead"), unit.MarkerName(unit.ID(said(1, "", ""), time.Time{})))
	})
}

// Two hundred sessions talk at once. Each is answered in order, none waits for
// another one's second turn, and no more is in hand than may be.
func TestTwoHundredSessionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions, rounds, atOnce = 200, 5, 4
		o := usual()
		o.Model = "test"
		w := wake(t, spooltest.New(), o, "", "")
		var mu sync.Mutex
		inHand, most := map[string]bool{}, 0
		var order []string
		w.turn = func(_ context.Context, u *unit.Unit) error {
			mu.Lock()
			if inHand[u.Session] {
				t.Errorf("two turns of %s at once", u.Session)
			}
			inHand[u.Session] = true
			most = max(most, len(inHand))
			order = append(order, u.Session)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			delete(inHand, u.Session)
			mu.Unlock()
			return nil
		}
		// One session is far ahead of the others with what it has to say.
		for n := range 100 {
			w.put(said(n+1, "loud", fmt.Sprint("/", n)))
		}
		for round := range rounds {
			for s := range sessions {
				w.put(said(1000+round*sessions+s, fmt.Sprint("s", s), fmt.Sprint("/", round)))
			}
		}
		synctest.Wait()
		if st := w.Status()[2]; st.Running != atOnce || st.Model != "test" {
			t.Errorf("status %+v", st)
		}
		pass(time.Hour)
		w.stop()
		bySession := map[string][]string{}
		w.mu.Lock()
		for _, u := range w.turns {
			bySession[u.Session] = append(bySession[u.Session], u.Text)
		}
		w.mu.Unlock()
		if most != atOnce {
			t.Errorf("%d turns at once", most)
		}
		for s := range sessions {
			if got := bySession[fmt.Sprint("s", s)]; !slices.Equal(got, []string{"/0", "/1", "/2", "/3", "/4"}) {
				t.Errorf("s%d: %v", s, got)
			}
		}
		for n, text := range bySession["loud"] {
			if text != fmt.Sprint("/", n) {
				t.Fatalf("loud: %v", bySession["loud"])
			}
		}
		// Lanes take turns: from any of its turns to its next, a session sees every
		// other one that waits at most once, and once more for what was in hand.
		last, seen := map[string]int{}, 0
		for i, s := range order[:sessions*rounds] {
			if was, ok := last[s]; ok && s != "loud" {
				between := map[string]int{}
				for _, other := range order[was+1 : i] {
					between[other]++
				}
				for other, n := range between {
					if n > 2 {
						t.Fatalf("%s had %d turns between two of %s", other, n, s)
					}
				}
				seen++
			}
			last[s] = i
		}
		if seen == 0 {
			t.Error("nothing was compared")
		}
		// The loud one did not keep the others waiting.
		first := slices.Index(order, "s199")
		loud := 0
		for _, s := range order[:first] {
			if s == "loud" {
				loud++
			}
		}
		if loud > 2 {
			t.Errorf("the loud session had %d turns before the last of the others had one", loud)
		}
	})
}
