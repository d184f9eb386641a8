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

// Other programs write into pending under names that begin with a dot, too, and
// file systems and synchronisers keep things of their own there.
func TestOpenRemovesNoFileOfOthers(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	others := []string{s.path(Pending, ".report.tmp"), s.path(Pending, filepath.Join(".stfolder", "x")), s.path(Processing, ".DS_Store")}
	ours := s.path(Pending, s.tempName()) // of a run that was killed
	for _, file := range append(others, ours) {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, file := range others {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(ours); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("our own half file: %v", err)
	}
}
