package spool

import (
	"errors"
	"fmt"
	"strconv"
)

// An Item is a file to put into a spool.
type Item struct {
	// Name is the file's name, ending in .json, without a folder. A waiting
	// file of the same name is replaced.
	Name string
	// Data is the whole file.
	Data []byte
	Place
}

// Put writes items in order and returns how many of them, from the first on, are
// durable. The error says why the rest are not: [ErrFull], or the file system's
// own error, after which nothing of the failed item is left.
func (s *Spool) Put(items ...Item) (int, error) {
	n, err := s.put(items)
	s.mu.Lock()
	s.full, s.fault = errors.Is(err, ErrFull), err
	s.mu.Unlock()
	return n, err
}

func (s *Spool) put(items []Item) (int, error) {
	var failed error
	renamed := 0
	room := s.room(len(items))
	for _, it := range items {
		if renamed == room {
			failed = fmt.Errorf("%w: %d files wait", ErrFull, s.opt.MaxFiles)
			break
		}
		if failed = s.write(it); failed != nil {
			break
		}
		renamed++
	}
	if renamed == 0 {
		return 0, failed
	}
	if err := s.files.SyncDir(s.path(Pending, "")); err != nil {
		// The files are there but may vanish with the power. They are announced
		// all the same, for a rescan would find them anyway.
		s.announce(items[:renamed])
		return 0, fmt.Errorf("sync spool: %w", err)
	}
	s.announce(items[:renamed])
	return renamed, failed
}

// write brings one file into pending.
func (s *Spool) write(it Item) error {
	if it.Name == "" || isTemp(it.Name) || !plainName(it.Name) {
		return fmt.Errorf("put into spool: %q is not a file name", it.Name)
	}
	temp := s.path(Pending, "."+strconv.FormatUint(s.temp.Add(1), 36)+".tmp")
	err := s.fill(temp, it.Data)
	if err == nil {
		err = s.files.Rename(temp, s.path(Pending, it.Name))
	}
	if err != nil {
		_ = s.files.Remove(temp) // best effort; Open removes what stays
		return fmt.Errorf("put into spool: %w", err)
	}
	return nil
}

// fill writes a new file and makes its content durable.
func (s *Spool) fill(name string, data []byte) error {
	f, err := s.files.Create(name)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// room returns how many of want files may still come in. Near the limit it looks
// at the folder, for other programs may have taken files out.
func (s *Spool) room(want int) int {
	left := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.opt.MaxFiles - s.index.len() - s.held
	}
	if n := left(); n >= want {
		return want
	}
	if err := s.Scan(); err != nil {
		s.log.Warn("cannot look through the spool", "error", err)
	}
	return max(0, min(want, left()))
}

// announce lets claimers see files that are in pending.
func (s *Spool) announce(items []Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		s.index.add(it.Name, it.Lane, it.Seq)
	}
	s.stir()
}

// stir wakes everybody who waits in Next. s.mu is held.
func (s *Spool) stir() {
	close(s.wake)
	s.wake = make(chan struct{})
}
