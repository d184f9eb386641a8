package spool_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

// The program that works on a shared spool may have a file in hand when we start.
func TestASharedSpoolLeavesItsConsumerAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Shared: true})
	put(t, s, item(1), item(2))
	move := func(name, from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, from, name), filepath.Join(dir, to, name)); err != nil {
			t.Fatal(err)
		}
	}
	move("event_1.json", "pending", "processing")
	temp := filepath.Join(dir, "done", ".theirs")
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{Shared: true})
	if st, err := s.Stats(); err != nil || st.Pending != 1 || st.Processing != 1 {
		t.Errorf("stats %+v, %v", st, err)
	}
	if _, err := os.Stat(temp); err != nil {
		t.Error(err)
	}
	move("event_1.json", "processing", "done")
}

func TestAViewNeedsNoOwnerAndChangesNothing(t *testing.T) {
	dir := t.TempDir()
	v := Look(filepath.Join(dir, "not there yet"), nil)
	if entries, err := v.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("of nothing: %v, %v", entries, err)
	}
	s := open(t, dir, Options{})
	put(t, s, item(1), item(2))
	c := next(t, s)
	if err := c.Dead("no good"); err != nil {
		t.Fatal(err)
	}
	next(t, s) // in hand

	v = Look(dir, nil)
	if entries, err := v.Entries(Dead, Processing); err != nil || len(entries) != 2 || entries[0].Size == 0 || entries[0].Time.IsZero() {
		t.Errorf("entries %+v, %v", entries, err)
	}
	data, state, err := v.Find("event_1.json")
	if err != nil || state != Dead || string(data) != `{"n":1}` {
		t.Errorf("found %s, %s, %v", data, state, err)
	}
	if n := v.Note("event_1.json"); n.Reason != "no good" || n.Attempts != 1 {
		t.Errorf("note %+v", n)
	}
	if n := v.Note("../event_1.json"); n != (Note{}) {
		t.Errorf("a note from elsewhere: %+v", n)
	}
	if _, _, err := v.Find("event_3.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found: %v", err)
	}
	if data, err := v.Read(Processing, "event_2.json"); err != nil || string(data) != `{"n":2}` {
		t.Errorf("read %s, %v", data, err)
	}
	if _, err := v.Read(Processing, "../pending/x"); err == nil {
		t.Error("a name led out of its folder")
	}
}

func TestAFullSpoolSaysSoAsLongAsItIs(t *testing.T) {
	s := open(t, t.TempDir(), Options{MaxFiles: 1})
	put(t, s, item(1))
	if _, err := s.Put(item(2)); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if full, fault := s.Trouble(); !full || fault == nil {
		t.Errorf("full %v, fault %v", full, fault)
	}
	if err := next(t, s).Done(); err != nil {
		t.Fatal(err)
	}
	if full, fault := s.Trouble(); full || fault != nil {
		t.Errorf("with room again: full %v, fault %v", full, fault)
	}
}

func TestAFullDiskDoesNotKeepASpoolShut(t *testing.T) {
	disk := spooltest.New()
	s := open(t, "/s", Options{Files: disk})
	put(t, s, item(1))
	next(t, s)
	disk.FailAt(disk.Steps() + 1) // the writing of the note
	s = open(t, "/s", Options{Files: disk})
	if c := next(t, s); c.Name != "event_1.json" {
		t.Errorf("claimed %s", c.Name)
	}
}
