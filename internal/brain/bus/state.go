package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"github.com/aurorabot/aurora/internal/spool"
)

// states are the state files and who watches them.
type states struct {
	bus *Bus

	writing sync.Mutex // held over a writing: one at a time

	mu       sync.Mutex // guards watchers; never held over I/O
	watchers map[*Watch]struct{}
}

func (s *states) init(b *Bus) {
	s.bus, s.watchers = b, make(map[*Watch]struct{})
}

// ReadState returns the content of a state file. The error is fs.ErrNotExist
// when there is none yet.
func (b *Bus) ReadState(file string) ([]byte, error) {
	if err := oneState(file); err != nil {
		return nil, err
	}
	data, err := b.files.ReadFile(b.File(file))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// WriteState replaces the content of a state file, durably, and wakes who
// watches it. Readers see the old content or the new one. After an error the
// content is one of both.
func (b *Bus) WriteState(file string, data []byte) error {
	if err := oneState(file); err != nil {
		return err
	}
	if err := b.replace(b.File(file), data); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	b.state.tell(file)
	return nil
}

func oneState(file string) error {
	t, err := ParseTarget(file)
	if err != nil || t.State == "" || t.Many() {
		return errors.Join(fmt.Errorf("%q is not the path of a state file", file), err)
	}
	return nil
}

// replace writes a new file beside the old one and puts it in its place.
func (b *Bus) replace(name string, data []byte) error {
	b.state.writing.Lock()
	defer b.state.writing.Unlock()
	dir := filepath.Dir(name)
	if err := b.files.MkdirAll(dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, "."+filepath.Base(name)+".tmp")
	if err := b.files.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // an earlier run's
	}
	f, err := b.files.Create(temp)
	if err != nil {
		return err
	}
	if err := fill(f, data); err != nil {
		return errors.Join(err, b.files.Remove(temp))
	}
	if err := b.files.Rename(temp, name); err != nil {
		return errors.Join(err, b.files.Remove(temp))
	}
	return b.files.SyncDir(dir)
}

// fill writes data to f, makes it durable, and closes f.
func fill(f spool.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// tell wakes who watches a state file.
func (s *states) tell(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		if w.target.HoldsState(file) {
			w.add(file)
		}
	}
}

// present returns the state files that a target means and that are there.
func (b *Bus) present(t Target) ([]string, error) {
	folder := path.Dir(t.State)
	entries, err := b.files.ReadDir(b.File(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", t.State, err)
	}
	var files []string
	for _, e := range entries {
		if file := path.Join(folder, e.Name()); !e.IsDir() && t.HoldsState(file) && e.Name()[0] != '.' {
			files = append(files, file)
		}
	}
	return files, nil
}
