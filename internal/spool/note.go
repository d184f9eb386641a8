package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// notesDir holds what is known of files beyond themselves. A file that went
// through well has none.
const notesDir = "notes"

// requeued is the reason in the note of a file that a keeper put back.
const requeued = "requeued"

// A Note says how a file fared so far.
type Note struct {
	// Attempts counts the tries that did not end well.
	Attempts int `json:"attempts"`
	// Reason is why the last of them did not.
	Reason string `json:"reason,omitempty"`
	// At is when that was.
	At time.Time `json:"at,omitzero"`
}

func (s *Spool) notePath(name string) string { return filepath.Join(s.dir, notesDir, name) }

// readNote returns the note of a file, empty when there is none. A note that
// cannot be read as one is taken for empty: it must not hold up the file.
func (s *Spool) readNote(name string) (Note, error) {
	var n Note
	data, err := s.files.ReadFile(s.notePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read note: %w", err)
	}
	n, ok := parseNote(data)
	if !ok {
		s.log.Warn("a note is broken and was taken for empty", "file", name)
	}
	return n, nil
}

// parseNote reads a note; one that is none is empty.
func parseNote(data []byte) (n Note, ok bool) {
	if json.Unmarshal(data, &n) != nil {
		return Note{}, false
	}
	return n, true
}

// note changes the note of a file, atomically.
func (s *Spool) note(name string, change func(*Note)) error {
	n, err := s.readNote(name)
	if err != nil {
		return err
	}
	change(&n)
	data, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	temp := filepath.Join(s.dir, notesDir, s.tempName())
	_ = s.files.Remove(temp) // an earlier run's
	if err = s.fill(temp, data); err == nil {
		err = s.files.Rename(temp, s.notePath(name))
	}
	if err != nil {
		_ = s.files.Remove(temp)
		return fmt.Errorf("write note: %w", err)
	}
	return nil
}

func (s *Spool) removeNote(name string) error {
	if err := s.files.Remove(s.notePath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove note: %w", err)
	}
	return nil
}
