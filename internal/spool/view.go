package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// A View reads a spool that somebody else may own, in this process or another.
// It changes nothing and keeps nothing; what it tells may have moved meanwhile.
// Create one with [Look], or ask a [Spool] for its own.
type View struct {
	dir   string
	files FileLayer
}

// Look returns a view of the spool in dir. It does no I/O: a folder that is not
// there yet is an empty spool. files is the file system; nil: the real one.
func Look(dir string, files FileLayer) View {
	if files == nil {
		files = disk{}
	}
	return View{dir, files}
}

// View returns a view of the spool.
func (s *Spool) View() View { return View{s.dir, s.files} }

// Dir returns the folder of the spool.
func (v View) Dir() string { return v.dir }

// An Entry is one file of a spool, as a keeper sees it.
type Entry struct {
	Name  string
	State State
	// Time is when the file was written, or came to its end.
	Time time.Time
	// Size is its length in bytes.
	Size int64
	// Note says how it fared; only [Spool.List] and [View.Note] read it.
	Note Note
}

// Entries returns the files of some states (none: of all), the newest first,
// without their notes.
func (v View) Entries(states ...State) ([]Entry, error) {
	if len(states) == 0 {
		states = States()
	}
	var all []Entry
	for _, state := range states {
		infos, err := v.files.ReadDir(filepath.Join(v.dir, string(state)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list spool: %w", err)
		}
		for _, e := range infos {
			if !isEntry(e) {
				continue
			}
			if info, err := e.Info(); err == nil { // else moved meanwhile
				all = append(all, Entry{Name: e.Name(), State: state, Time: info.ModTime(), Size: info.Size()})
			}
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Name, a.Name))
	})
	return all, nil
}

// Read returns the content of a file.
func (v View) Read(state State, name string) ([]byte, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("%q is not a file name", name)
	}
	return v.files.ReadFile(filepath.Join(v.dir, string(state), name))
}

// Find returns the content and the state of a file, in whatever state it is. The
// error is fs.ErrNotExist when there is none.
func (v View) Find(name string) ([]byte, State, error) {
	data, state, err := v.find(name, v.files.ReadFile)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", name, err)
	}
	return data, state, nil
}

// find looks through the states in the order in which a file passes them, so
// that one that moves meanwhile is not missed, and once more for one that moves
// back.
func (v View) find(name string, look func(path string) ([]byte, error)) ([]byte, State, error) {
	if !plainName(name) {
		return nil, "", fmt.Errorf("%q is not a file name", name)
	}
	for range 2 {
		for _, state := range States() {
			data, err := look(filepath.Join(v.dir, string(state), name))
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return data, state, err
			}
		}
	}
	return nil, "", fs.ErrNotExist
}

// Note returns what is known of a file beyond itself, empty when there is
// nothing or it cannot be read.
func (v View) Note(name string) Note {
	if !plainName(name) {
		return Note{}
	}
	data, err := v.files.ReadFile(filepath.Join(v.dir, notesDir, name))
	if err != nil {
		return Note{}
	}
	n, _ := parseNote(data)
	return n
}
