package spool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	. "github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func laneItem(lane string, n int) Item {
	return Item{Name: fmt.Sprintf("%s%d.json", lane, n), Data: []byte("{}"), Place: Place{Seq: uint64(n), Lane: lane}}
}

func has(t *testing.T, s *Spool, name string) bool {
	t.Helper()
	there, err := s.Has(name)
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestAFileIsFoundInWhateverStateItIs(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	const name = "event_1.json"
	if has(t, s, name) {
		t.Error("found before it was put")
	}
	if _, _, err := s.Find(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found nothing: %v", err)
	}
	at := func(want State) {
		t.Helper()
		data, state, err := s.Find(name)
		if err != nil || state != want || string(data) != `{"n":1}` || !has(t, s, name) {
			t.Errorf("found %q as %s, %v; want it %s", data, state, err, want)
		}
	}
	put(t, s, item(1))
	at(Pending)
	c := next(t, s)
	at(Processing)
	if err := c.Done(); err != nil {
		t.Fatal(err)
	}
	at(Done)
	if err := s.Requeue(Done, name); err != nil {
		t.Fatal(err)
	}
	if err := next(t, s).Dead("no"); err != nil {
		t.Fatal(err)
	}
	at(Dead)
	if _, err := s.Has("../dead/" + name); err == nil {
		t.Error("looked outside the folder")
	}
}

// A Put whose last sync fails leaves a file that is seen but may vanish. Who
// finds it afterwards may rely on it.
func TestWhatWasFoundIsDurable(t *testing.T) {
	mem := spooltest.New()
	s := open(t, "/s", Options{Files: mem})
	mem.FailAt(mem.Steps() + 6) // create, write, sync, close, rename, and the folder
	if n, err := s.Put(item(1)); n != 0 || err == nil {
		t.Fatalf("put %d, %v", n, err)
	}
	if mem.PowerLoss(false).Durable("/s/pending/event_1.json") {
		t.Fatal("the folder was synced after all")
	}
	if !has(t, s, "event_1.json") {
		t.Error("not found")
	}
	if !mem.PowerLoss(false).Durable("/s/pending/event_1.json") {
		t.Error("found, and lost with the power")
	}
}

func TestAReturnedFileKeepsItsPlace(t *testing.T) {
	s := open(t, t.TempDir(), Options{Exclusive: true})
	put(t, s, laneItem("a", 1), laneItem("a", 2))
	c := next(t, s)
	if err := c.Return(); err != nil {
		t.Fatal(err)
	}
	if c = next(t, s); c.Name != "a1.json" || c.Attempts != 0 || c.Place != (Place{1, "a"}) {
		t.Errorf("claimed %+v", c)
	}
}

func TestAFileIsTakenOutOfTurn(t *testing.T) {
	s := open(t, t.TempDir(), Options{Exclusive: true})
	put(t, s, laneItem("a", 1), laneItem("a", 2), laneItem("a", 3))
	first := next(t, s)
	second, err := s.Take("a2.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take("a2.json"); !errors.Is(err, ErrGone) {
		t.Errorf("taken twice: %v", err)
	}
	if err := second.Dead("too old"); err != nil {
		t.Fatal(err)
	}
	if c, _ := s.TryNext(); c != nil {
		t.Fatalf("%s was given out while its lane was worked on", c.Name)
	}
	if err := first.Done(); err != nil {
		t.Fatal(err)
	}
	if c := next(t, s); c.Name != "a3.json" || s.Waiting() != 0 {
		t.Errorf("claimed %s, %d wait", c.Name, s.Waiting())
	}
}

func TestAnEndThatFailedMayBeTriedAgain(t *testing.T) {
	for name, end := range map[string]func(*Claim) error{
		"done":   (*Claim).Done,
		"noted":  func(c *Claim) error { return c.DoneBecause("expired") },
		"dead":   func(c *Claim) error { return c.Dead("no") },
		"retry":  func(c *Claim) error { return c.Retry("later") },
		"return": (*Claim).Return,
	} {
		t.Run(name, func(t *testing.T) {
			mem := spooltest.New()
			s := open(t, "/s", Options{Files: mem, Exclusive: true, MaxFiles: 3})
			put(t, s, laneItem("a", 1), laneItem("a", 2))
			c := next(t, s)
			mem.LoseAt(mem.Steps() + 1)
			if err := end(c); err == nil {
				t.Fatal("the disk failed and nobody said so")
			}
			mem.LoseAt(0)
			if other, _ := s.TryNext(); other != nil {
				t.Fatalf("%s was given out while the lane was worked on", other.Name)
			}
			if err := end(c); err != nil {
				t.Fatal(err)
			}
			if next(t, s) == nil {
				t.Error("the lane rests for ever")
			}
			// The one in hand counts, and no other.
			room := s.MaxFiles() - s.Waiting() - 1
			if n, _ := s.Put(laneItem("b", 3), laneItem("b", 4), laneItem("b", 5)); n != room {
				t.Errorf("%d more fit in, want %d", n, room)
			}
		})
	}
}

// A claim gives back its place and its lane once, whoever tries to end it again:
// another one may hold the lane by then.
func TestAClaimEndsOnce(t *testing.T) {
	held := func(t *testing.T, s *Spool) {
		t.Helper()
		if other, _ := s.TryNext(); other != nil {
			t.Errorf("%s was given out while its lane was worked on", other.Name)
		}
		if n, err := s.Put(laneItem("b", 8), laneItem("b", 9)); n != 1 || !errors.Is(err, ErrFull) {
			t.Errorf("%d more fit in, want 1 (%v)", n, err)
		}
	}
	t.Run("although its note stays", func(t *testing.T) {
		mem := spooltest.New()
		s := open(t, "/s", Options{Files: mem, Exclusive: true, MaxFiles: 3})
		put(t, s, laneItem("a", 1), laneItem("a", 2), laneItem("a", 3))
		if err := next(t, s).Retry("later"); err != nil {
			t.Fatal(err)
		}
		done := func(c *Claim) { // as whoever ends a job does
			for err := c.Done(); err != nil && !errors.Is(err, ErrGone); err = c.Done() {
			}
		}
		done(next(t, s))
		done(next(t, s))
		c := next(t, s) // the first again, which has a note
		put(t, s, laneItem("a", 4), laneItem("a", 5))
		mem.FailAt(mem.Steps() + 3) // after the time and the rename, the note
		err := c.Done()
		mem.FailAt(0)
		if err != nil {
			t.Errorf("it ended, and said: %v", err)
		}
		next(t, s)
		done(c)
		held(t, s)
	})
	t.Run("although somebody else has moved its file", func(t *testing.T) {
		mem := spooltest.New()
		s := open(t, "/s", Options{Files: mem, Exclusive: true, MaxFiles: 3})
		put(t, s, laneItem("a", 1), laneItem("a", 2), laneItem("a", 3))
		c := next(t, s)
		if err := mem.Remove("/s/processing/" + c.Name); err != nil {
			t.Fatal(err)
		}
		if err := c.Dead("no"); !errors.Is(err, ErrGone) {
			t.Errorf("dead: %v", err)
		}
		next(t, s)
		if err := c.Return(); !errors.Is(err, ErrGone) {
			t.Errorf("returned: %v", err)
		}
		held(t, s)
	})
}

func TestAReasonStaysWithAFileThatNeededNoWork(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	put(t, s, item(1))
	if err := next(t, s).DoneBecause("expired at noon"); err != nil {
		t.Fatal(err)
	}
	entries, err := s.List(Done)
	if err != nil || len(entries) != 1 || entries[0].Note.Reason != "expired at noon" {
		t.Errorf("done: %+v, %v", entries, err)
	}
}

func TestARequeuedFileSaysSoAlsoAfterACrash(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, item(1))
	if c := next(t, s); !c.Requeued.IsZero() {
		t.Errorf("requeued at %v by nobody", c.Requeued)
	} else if err := c.Done(); err != nil {
		t.Fatal(err)
	}
	if err := s.Requeue(Done, "event_1.json"); err != nil {
		t.Fatal(err)
	}
	c := next(t, s)
	at := c.Requeued
	if at.IsZero() || c.Attempts != 0 {
		t.Errorf("claimed %+v", c)
	}
	s = open(t, dir, Options{})
	c = next(t, s)
	if !c.Requeued.Equal(at) || c.Attempts != 1 {
		t.Errorf("after the crash claimed %+v", c)
	}
	if err := c.Retry("busy"); err != nil {
		t.Fatal(err)
	}
	if c = next(t, s); !c.Requeued.Equal(at) || c.Attempts != 2 {
		t.Errorf("after another try claimed %+v", c)
	}
	if err := c.Done(); err != nil {
		t.Fatal(err)
	}
	if entries, err := s.List(Done); err != nil || entries[0].Note != (Note{}) {
		t.Errorf("done: %+v, %v", entries, err)
	}
}

func TestTheNewestFilesOfAllStates(t *testing.T) {
	mem := spooltest.New()
	s := open(t, "/s", Options{Files: mem})
	put(t, s, item(1), item(2), item(3), item(4))
	if err := next(t, s).Done(); err != nil {
		t.Fatal(err)
	}
	next(t, s)
	for _, name := range mem.Names() {
		if err := mem.Touch(name, time.Unix(int64(name[len(name)-6]), 0)); err != nil {
			t.Fatal(err)
		}
	}
	newest, err := s.Newest(3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range newest {
		got = append(got, string(e.State)+"/"+e.Name)
	}
	if want := []string{"pending/event_4.json", "pending/event_3.json", "processing/event_2.json"}; !slices.Equal(got, want) {
		t.Errorf("newest: %v", got)
	}
}
