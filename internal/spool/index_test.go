package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Where another program takes the files nobody asks for the next one, and each
// conversation of a year has a lane of its own.
func TestLanesOfFilesThatOthersTookAreForgotten(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		name := fmt.Sprintf("event_%d.json", n)
		if _, err := s.Put(Item{Name: name, Place: Place{Lane: name}}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(s.path(Pending, name), s.path(Done, name)); err != nil {
			t.Fatal(err)
		}
		if err := s.Scan(); err != nil {
			t.Fatal(err)
		}
	}
	if x := &s.index; len(x.lanes)+len(x.turns)+len(x.where) > 0 {
		t.Errorf("%d lanes, %d turns and %d names are remembered", len(x.lanes), len(x.turns), len(x.where))
	}
}

// readDirs counts how often a folder is read.
type readDirs struct {
	FileLayer
	n int
}

func (d *readDirs) ReadDir(dir string) ([]fs.DirEntry, error) {
	d.n++
	return d.FileLayer.ReadDir(dir)
}

// A full spool has a hundred thousand files, and whoever floods it asks often.
func TestAFullSpoolIsLookedThroughOnlyWhenItHasChanged(t *testing.T) {
	disk := &readDirs{FileLayer: Disk()}
	s, err := Open(t.TempDir(), Options{Shared: true, MaxFiles: 1, Files: disk})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(Item{Name: "1.json"}); err != nil {
		t.Fatal(err)
	}
	full := func(want bool) {
		t.Helper()
		if _, err := s.Put(Item{Name: "2.json"}); errors.Is(err, ErrFull) != want {
			t.Errorf("full: %v", err)
		}
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, string(Pending)), long, long); err != nil {
		t.Fatal(err)
	}
	before := disk.n
	for range 10 {
		full(true)
	}
	if n := disk.n - before; n != 1 {
		t.Errorf("it was read %d times", n)
	}
	if err := os.Rename(s.path(Pending, "1.json"), s.path(Processing, "1.json")); err != nil {
		t.Fatal(err)
	}
	full(false)
}
