package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// List returns the files of a state with their notes, in the order of their
// names.
func (s *Spool) List(state State) ([]Entry, error) {
	entries, err := s.View().Entries(state)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	for i := range entries {
		if entries[i].Note, err = s.readNote(entries[i].Name); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Names returns the names of the files of a state.
func (s *Spool) Names(state State) ([]string, error) {
	infos, err := s.files.ReadDir(filepath.Join(s.dir, string(state)))
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var names []string
	for _, e := range infos {
		if isEntry(e) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// LastSeq returns the highest number of a file that has waited since the spool
// was opened.
func (s *Spool) LastSeq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.last
}

// Read returns the content of a file.
func (s *Spool) Read(state State, name string) ([]byte, error) { return s.View().Read(state, name) }

// Waiting returns how many files are known to wait. It does no I/O.
func (s *Spool) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.len()
}

// Has reports whether the spool has a file of this name, in whatever state. If
// so, the file is durable: a producer that was cut short between writing a file
// and saying so asks this before it writes again.
func (s *Spool) Has(name string) (bool, error) {
	_, state, err := s.View().find(name, func(path string) ([]byte, error) {
		_, err := s.files.Stat(path)
		return nil, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = s.files.SyncDir(s.path(state, ""))
	}
	if err != nil {
		return false, fmt.Errorf("look for %s: %w", name, err)
	}
	return true, nil
}

// Find returns the content and the state of a file, in whatever state it is. The
// error is fs.ErrNotExist when there is none.
func (s *Spool) Find(name string) ([]byte, State, error) { return s.View().Find(name) }

// Newest returns the files that were written or came to their end last, at most
// the given number, the newest first, without their notes.
func (s *Spool) Newest(most int) ([]Entry, error) {
	all, err := s.View().Entries()
	return all[:min(most, len(all))], err
}

// Requeue puts a done or dead file back to pending, to be worked on once more.
func (s *Spool) Requeue(state State, name string) error {
	if !plainName(name) {
		return fmt.Errorf("%q is not a file name", name)
	}
	was, err := s.readNote(name)
	if err != nil {
		return err
	}
	// The note comes first: the file is somebody's as soon as it waits.
	if err := s.note(name, func(n *Note) { *n = Note{Reason: requeued, At: time.Now()} }); err != nil {
		return err
	}
	if err := s.move(name, state, Pending); err != nil {
		if was == (Note{}) {
			return errors.Join(err, s.removeNote(name))
		}
		return errors.Join(err, s.note(name, func(n *Note) { *n = was }))
	}
	return s.Scan()
}

// Drop removes a file that nobody works on.
func (s *Spool) Drop(state State, name string) error {
	if !plainName(name) {
		return fmt.Errorf("%q is not a file name", name)
	}
	if state == Processing {
		return fmt.Errorf("%s is being worked on", name)
	}
	if err := s.files.Remove(s.path(state, name)); err != nil {
		return fmt.Errorf("drop: %w", err)
	}
	s.mu.Lock()
	s.index.drop(name)
	s.mu.Unlock()
	return s.removeNote(name)
}

// plainName tells names that stay in their folder.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, `/\`)
}
