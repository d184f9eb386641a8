package spool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	. "github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inspect reads {"n": …} as the order of a file.
func inspect(data []byte) (Place, error) {
	var f struct {
		N uint64 `json:"n"`
	}
	return Place{Seq: f.N}, json.Unmarshal(data, &f)
}

func open(t *testing.T, dir string, o Options) *Spool {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func item(n int) Item {
	return Item{Name: fmt.Sprintf("event_%d.json", n), Data: fmt.Appendf(nil, `{"n":%d}`, n), Place: Place{Seq: uint64(n)}}
}

func put(t *testing.T, s *Spool, items ...Item) {
	t.Helper()
	if n, err := s.Put(items...); err != nil || n != len(items) {
		t.Fatalf("put %d of %d: %v", n, len(items), err)
	}
}

func next(t *testing.T, s *Spool) *Claim {
	t.Helper()
	c, err := s.TryNext()
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		t.Fatal("nothing waits")
	}
	return c
}

func files(t *testing.T, s *Spool, state State) []string {
	t.Helper()
	entries, err := s.List(state)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

func TestAFileGoesFromPendingToDone(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	put(t, s, item(1))
	c := next(t, s)
	if string(c.Data) != `{"n":1}` || c.Attempts != 0 {
		t.Errorf("claimed %+v", c)
	}
	if got := files(t, s, Processing); !slices.Equal(got, []string{"event_1.json"}) {
		t.Errorf("processing holds %v", got)
	}
	if err := c.Done(); err != nil {
		t.Fatal(err)
	}
	st, err := s.Stats()
	if err != nil || st != (Stats{Done: 1}) {
		t.Errorf("stats %+v, %v", st, err)
	}
}

func TestOrderIsTheNumberInsideNotTheName(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Inspect: inspect})
	put(t, s, item(10), item(9), item(100))
	claimAll := func(s *Spool) (order []string) {
		for {
			c, err := s.TryNext()
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				return order
			}
			order = append(order, c.Name)
		}
	}
	want := []string{"event_9.json", "event_10.json", "event_100.json"}
	if got := claimAll(s); !slices.Equal(got, want) {
		t.Errorf("claimed %v", got)
	}
	// The process dies with all three in hand. The next one finds them in order.
	if got := claimAll(open(t, dir, Options{Inspect: inspect})); !slices.Equal(got, want) {
		t.Errorf("after the crash claimed %v", got)
	}
}

func TestLanesTakeTurnsAndKeepTheirOrder(t *testing.T) {
	s := open(t, t.TempDir(), Options{Exclusive: true})
	lane := func(lane string, n int) Item {
		return Item{Name: fmt.Sprintf("%s%d.json", lane, n), Place: Place{Seq: uint64(n), Lane: lane}}
	}
	put(t, s, lane("a", 1), lane("a", 3), lane("a", 2), lane("b", 9), lane("c", 8))
	a, b, c := next(t, s), next(t, s), next(t, s)
	if a.Name != "a1.json" || b.Name != "b9.json" || c.Name != "c8.json" {
		t.Errorf("claimed %s %s %s", a.Name, b.Name, c.Name)
	}
	if more, err := s.TryNext(); more != nil || err != nil {
		t.Fatalf("a lane that is worked on gave %+v, %v", more, err)
	}
	put(t, s, lane("b", 10))
	if err := b.Done(); err != nil {
		t.Fatal(err)
	}
	if got := next(t, s); got.Name != "b10.json" {
		t.Errorf("claimed %s", got.Name)
	}
	for _, want := range []string{"a2.json", "a3.json"} {
		if err := a.Done(); err != nil {
			t.Fatal(err)
		}
		if a = next(t, s); a.Name != want {
			t.Errorf("claimed %s, want %s", a.Name, want)
		}
	}
}

func TestADeadFileSaysWhy(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	put(t, s, item(1))
	if err := next(t, s).Retry("model is away"); err != nil {
		t.Fatal(err)
	}
	c := next(t, s)
	if c.Attempts != 1 {
		t.Errorf("attempts %d", c.Attempts)
	}
	if err := c.Dead("model refuses"); err != nil {
		t.Fatal(err)
	}
	entries, err := s.List(Dead)
	if err != nil || len(entries) != 1 || entries[0].Note.Reason != "model refuses" || entries[0].Note.Attempts != 2 {
		t.Fatalf("dead: %+v, %v", entries, err)
	}
	if err := s.Requeue(Dead, "event_1.json"); err != nil {
		t.Fatal(err)
	}
	if c := next(t, s); c.Attempts != 0 {
		t.Errorf("requeued with %d attempts", c.Attempts)
	}
}

func TestAnAttemptCutShortByACrashCounts(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, item(1))
	for want := range 3 {
		if c := next(t, s); c.Attempts != want {
			t.Fatalf("attempts %d, want %d", c.Attempts, want)
		}
		s = open(t, dir, Options{})
	}
}

func TestTenThousandFilesAreSeenAtTheStart(t *testing.T) {
	mem := spooltest.New()
	s := open(t, "/s", Options{Files: mem})
	var items []Item
	for n := range 10_000 {
		items = append(items, item(n+1))
	}
	put(t, s, items...)
	s = open(t, "/s", Options{Files: mem.PowerLoss(false), Inspect: inspect})
	for n := range 10_000 {
		if c := next(t, s); c.Name != item(n+1).Name {
			t.Fatalf("file %d is %s", n+1, c.Name)
		}
	}
}

func TestAFullSpoolRefusesAndRecovers(t *testing.T) {
	s := open(t, t.TempDir(), Options{MaxFiles: 2})
	n, err := s.Put(item(1), item(2), item(3))
	if n != 2 || !errors.Is(err, ErrFull) {
		t.Fatalf("put %d, %v", n, err)
	}
	if st, _ := s.Stats(); !st.Full || st.Pending != 2 {
		t.Errorf("stats %+v", st)
	}
	// Another program takes one out by rename.
	if err := os.Rename(filepath.Join(s.Dir(), "pending", "event_1.json"), filepath.Join(s.Dir(), "processing", "event_1.json")); err != nil {
		t.Fatal(err)
	}
	put(t, s, item(3))
	if st, _ := s.Stats(); st.Full {
		t.Error("still full")
	}
}

func TestAClaimOfAFileSomebodyElseTookGoesToTheNext(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	put(t, s, item(1), item(2))
	if err := os.Rename(filepath.Join(s.Dir(), "pending", "event_1.json"), filepath.Join(s.Dir(), "processing", "event_1.json")); err != nil {
		t.Fatal(err)
	}
	if c := next(t, s); c.Name != "event_2.json" {
		t.Errorf("claimed %s", c.Name)
	}
}

func TestNamesStayInTheirFolder(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for _, name := range []string{"../x.json", "a/b.json", `a\b.json`, "", ".x.json", "..", "."} {
		if _, err := s.Put(Item{Name: name}); err == nil {
			t.Errorf("put %q", name)
		}
		if err := s.Drop(Pending, name); err == nil {
			t.Errorf("dropped %q", name)
		}
	}
}

func TestADroppedFileIsWelcomeAndABrokenOneMustStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := spooltest.New()
		s := open(t, "/s", Options{Files: mem, Inspect: inspect})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.Run(ctx) })
		write := func(name, data string) {
			mem.Write("/s/pending/"+name, []byte(data))
		}
		write("hand.json", `{"n":0}`)
		write("slow.json", `{"n":`)
		write("notes.txt", `not an event`)
		c, err := s.Next(ctx)
		if err != nil || c.Name != "hand.json" {
			t.Fatalf("claimed %+v, %v", c, err)
		}
		time.Sleep(1500 * time.Millisecond)
		write("slow.json", `{"n":7`) // its writer is slow, not dead
		time.Sleep(1500 * time.Millisecond)
		if got := files(t, s, Dead); len(got) != 0 {
			t.Errorf("buried alive: %v", got)
		}
		write("slow.json", `{"n":7}`)
		if c, err := s.Next(ctx); err != nil || c.Name != "slow.json" {
			t.Fatalf("claimed %+v, %v", c, err)
		}
		write("broken.json", `{"n":`)
		time.Sleep(10 * time.Second)
		entries, err := s.List(Dead)
		if err != nil || len(entries) != 1 || !strings.Contains(entries[0].Note.Reason, "cannot be read") {
			t.Errorf("dead: %+v, %v", entries, err)
		}
		stop()
		wg.Wait()
	})
}

func TestRetentionByAgeAndCount(t *testing.T) {
	mem := spooltest.New()
	s := open(t, "/s", Options{Files: mem, KeepDone: Retention{Age: time.Hour, Count: 2}, KeepDead: Retention{Age: 24 * time.Hour}})
	for n := range 4 {
		put(t, s, item(n+1))
		c := next(t, s)
		if err := c.Done(); err != nil {
			t.Fatal(err)
		}
		if err := mem.Touch("/s/done/"+c.Name, time.Unix(int64(n), 0)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, item(9))
	if err := next(t, s).Dead("no"); err != nil {
		t.Fatal(err)
	}
	s.Sweep(time.Unix(60, 0))
	if got := files(t, s, Done); !slices.Equal(got, []string{"event_3.json", "event_4.json"}) {
		t.Errorf("count left %v", got)
	}
	s.Sweep(time.Unix(3602, 500))
	if got := files(t, s, Done); !slices.Equal(got, []string{"event_4.json"}) {
		t.Errorf("age left %v", got)
	}
	s.Sweep(time.Now().Add(48 * time.Hour))
	if len(files(t, s, Dead)) != 0 || len(mem.Names()) != 0 {
		t.Errorf("left: %v", mem.Names())
	}
}

// Whatever step fails, and whether or not the power goes with it: what Put
// counted is there exactly once, whole, and nothing else blocks the spool.
func TestNothingCountedIsLostWhereverTheDiskFails(t *testing.T) {
	const batch = 3
	work := func(mem *spooltest.Disk) (counted int) {
		s, err := Open("/s", Options{Files: mem, Inspect: inspect})
		if err != nil {
			return 0
		}
		counted, _ = s.Put(item(1), item(2), item(3))
		for range batch {
			if c, err := s.TryNext(); err == nil && c != nil && c.Name == "event_2.json" {
				_ = c.Done()
			}
		}
		return counted
	}
	dry := spooltest.New()
	work(dry)
	for step := 1; step <= dry.Steps(); step++ {
		for _, kind := range []string{"one failure", "failure, then power loss", "the disk is gone, then power loss"} {
			t.Run(fmt.Sprintf("step %d, %s", step, kind), func(t *testing.T) {
				mem := spooltest.New()
				if kind == "the disk is gone, then power loss" {
					mem.LoseAt(step)
				} else {
					mem.FailAt(step)
				}
				counted := work(mem)
				after := mem
				if kind != "one failure" {
					after = mem.PowerLoss(false)
				}
				after.FailAt(0)
				after.LoseAt(0)
				s, err := Open("/s", Options{Files: after, Inspect: inspect})
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]int{}
				for _, state := range States() {
					for _, name := range files(t, s, state) {
						seen[name]++
						if data, err := s.Read(state, name); err != nil || !json.Valid(data) {
							t.Errorf("%s/%s is broken: %q, %v", state, name, data, err)
						}
					}
				}
				for n := range counted {
					if name := item(n + 1).Name; seen[name] != 1 {
						t.Errorf("%s was counted and is there %d times", name, seen[name])
					}
				}
				for _, name := range after.Names() {
					if filepath.Base(name)[0] == '.' && filepath.Base(filepath.Dir(name)) != "notes" {
						t.Errorf("left behind: %s", name)
					}
				}
				put(t, s, item(50))
			})
		}
	}
}

func TestManyWritersAndClaimersShareASpool(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	const writers, each = 4, 25
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	got := map[string]int{}
	var claimers, putters sync.WaitGroup
	for range 3 {
		claimers.Go(func() {
			for {
				c, err := s.Next(ctx)
				if err != nil {
					return
				}
				mu.Lock()
				got[c.Name]++
				if len(got) == writers*each {
					stop()
				}
				mu.Unlock()
				if err := c.Done(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	claimers.Go(func() {
		for ctx.Err() == nil {
			if err := s.Scan(); err != nil {
				t.Error(err)
			}
		}
	})
	for w := range writers {
		putters.Go(func() {
			for n := range each {
				put(t, s, item(1000*w+n))
			}
		})
	}
	putters.Wait()
	claimers.Wait()
	for name, n := range got {
		if n != 1 {
			t.Errorf("%s was claimed %d times", name, n)
		}
	}
}

func TestAReaderNeverSeesHalfAFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	big := append([]byte(`{"text":"`), strings.Repeat("天", 300_000)...)
	big = append(big, `"}`...)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			names, _ := filepath.Glob(filepath.Join(dir, "pending", "event_*.json"))
			for _, name := range names {
				if data, err := os.ReadFile(name); err == nil && !json.Valid(data) {
					t.Errorf("%s is half written (%d bytes)", name, len(data))
				}
			}
		}
	})
	for n := range 20 {
		put(t, s, Item{Name: fmt.Sprintf("event_%d.json", n), Data: big})
	}
	close(done)
	wg.Wait()
}
