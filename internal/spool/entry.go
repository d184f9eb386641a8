package spool

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// An Entry is one file of a spool, as a keeper sees it.
type Entry struct {
	Name  string
	State State
	// Time is when the file was written, or came to its end.
	Time time.Time
	Note Note
}

// List returns the files of a state, in the order of their names.
func (s *Spool) List(state State) ([]Entry, error) {
	infos, err := s.files.ReadDir(filepath.Join(s.dir, string(state)))
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var entries []Entry
	for _, e := range infos {
		if !isEntry(e) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // moved meanwhile
		}
		note, err := s.readNote(e.Name())
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: e.Name(), State: state, Time: info.ModTime(), Note: note})
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
func (s *Spool) Read(state State, name string) ([]byte, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("%q is not a file name", name)
	}
	return s.files.ReadFile(s.path(state, name))
}

// Requeue puts a done or dead file back to pending, as if it had never been
// tried.
func (s *Spool) Requeue(state State, name string) error {
	if !plainName(name) {
		return fmt.Errorf("%q is not a file name", name)
	}
	if err := s.move(name, state, Pending); err != nil {
		return err
	}
	if err := s.removeNote(name); err != nil {
		return err
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
