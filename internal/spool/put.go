package spool

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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
// own error. After the latter a file of the rest may be there all the same, whole
// (see [Spool.Has]); after ErrFull none is.
func (s *Spool) Put(items ...Item) (int, error) {
	n, err := s.put(items)
	s.mu.Lock()
	s.full, s.fault = errors.Is(err, ErrFull), err
	s.mu.Unlock()
	return n, err
}

// chunkSize bounds how many files are open at once, and syncers how many are
// synced at once: a file system commits what is asked for at the same time
// together.
const (
	chunkSize = 64
	syncers   = 4
)

func (s *Spool) put(items []Item) (int, error) {
	var failed error
	renamed := 0
	room := s.room(len(items))
	for chunk := range slices.Chunk(items[:room], chunkSize) {
		n, err := s.write(chunk)
		renamed += n
		if failed = err; err != nil {
			break
		}
	}
	if failed == nil && room < len(items) {
		failed = fmt.Errorf("%w: %d files wait", ErrFull, s.opt.MaxFiles)
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

// A draft is a file on its way into pending.
type draft struct {
	temp string
	file File
	err  error
}

// write brings files into pending and returns how many of them, from the first
// on, are there. Nothing is left of the others.
func (s *Spool) write(items []Item) (int, error) {
	drafts := make([]draft, 0, len(items))
	for _, it := range items {
		d := s.draft(it)
		drafts = append(drafts, d)
		if d.err != nil {
			break
		}
	}
	finish(drafts)
	var failed error
	renamed := 0
	for i, d := range drafts {
		if failed == nil {
			failed = d.err
		}
		if failed == nil {
			failed = s.files.Rename(d.temp, s.path(Pending, items[i].Name))
		}
		switch {
		case failed == nil:
			renamed++
		case d.temp != "":
			_ = s.files.Remove(d.temp) // best effort; Open removes what stays
		}
	}
	if failed != nil {
		return renamed, fmt.Errorf("put into spool: %w", failed)
	}
	return renamed, nil
}

// draft writes a file under a temporary name, without a sync.
func (s *Spool) draft(it Item) (d draft) {
	if it.Name == "" || isTemp(it.Name) || !plainName(it.Name) {
		d.err = fmt.Errorf("%q is not a file name", it.Name)
		return d
	}
	d.temp = s.path(Pending, s.tempName())
	if d.file, d.err = s.files.Create(d.temp); d.err == nil {
		_, d.err = d.file.Write(it.Data)
	}
	return d
}

// finish makes the content of drafts durable, several at a time, and closes them.
func finish(drafts []draft) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(drafts)); i = next.Add(1) - 1 {
			drafts[i].finish()
		}
	}
	var others sync.WaitGroup
	for range min(syncers, len(drafts)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

func (d *draft) finish() {
	if d.file == nil {
		return
	}
	if d.err == nil {
		d.err = d.file.Sync()
	}
	if err := d.file.Close(); d.err == nil {
		d.err = err
	}
}

// fill writes a new file and makes its content durable.
func (s *Spool) fill(name string, data []byte) error {
	f, err := s.files.Create(name)
	if err != nil {
		return err
	}
	d := draft{file: f}
	_, d.err = f.Write(data)
	d.finish()
	return d.err
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
	if err := s.scanIfChanged(); err != nil {
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
