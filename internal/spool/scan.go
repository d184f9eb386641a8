package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Run looks through pending for dropped files and forgets old ones until ctx
// ends.
func (s *Spool) Run(ctx context.Context) {
	rescan := time.NewTicker(s.opt.Rescan)
	defer rescan.Stop()
	sweep := time.NewTicker(10 * time.Minute)
	defer sweep.Stop()
	s.Sweep(time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-rescan.C:
			if err := s.scanIfChanged(); err != nil {
				s.log.Warn("cannot look through the spool", "error", err)
			}
		case now := <-sweep.C:
			s.Sweep(now)
		}
	}
}

// scanIfChanged scans unless the folder's time says that nothing came or went.
func (s *Spool) scanIfChanged() error {
	info, err := s.files.Stat(s.path(Pending, ""))
	if err != nil {
		return err
	}
	s.scanMu.Lock()
	// A change within the clock tick of the last scan leaves the same time, so a
	// young time is no proof.
	quiet := info.ModTime().Equal(s.scanned) && time.Since(s.scanned) > settle && len(s.suspects) == 0
	s.scanMu.Unlock()
	if quiet {
		return nil
	}
	return s.Scan()
}

// Scan makes the index agree with the folder: it takes in files that somebody
// else put into pending and forgets those that somebody took out. Files that
// cannot be read as what they should be go to dead once they have stood still
// for two seconds.
func (s *Spool) Scan() error {
	s.scanMu.Lock()
	defer s.scanMu.Unlock()
	dir := s.path(Pending, "")
	info, err := s.files.Stat(dir)
	if err != nil {
		return err
	}
	// Names that come while the folder is read are announced by their writers;
	// only what was known before may be taken for gone.
	s.mu.Lock()
	gone := make(map[string]bool, s.index.len())
	for name := range s.index.where {
		gone[name] = true
	}
	s.mu.Unlock()
	entries, err := s.files.ReadDir(dir)
	if err != nil {
		return err
	}
	var found []Item
	for _, e := range entries {
		if !isEntry(e) {
			continue
		}
		name := e.Name()
		if gone[name] {
			delete(gone, name)
			continue
		}
		place, err := s.inspect(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			s.suspect(name, err)
		default:
			delete(s.suspects, name)
			found = append(found, Item{Name: name, Place: place})
		}
	}
	for name := range s.suspects {
		if _, err := s.files.Stat(s.path(Pending, name)); errors.Is(err, fs.ErrNotExist) {
			delete(s.suspects, name)
		}
	}
	s.mu.Lock()
	for name := range gone {
		s.index.drop(name)
	}
	if len(gone) > 0 {
		s.index.prune()
	}
	s.mu.Unlock()
	if found = s.stillThere(found); len(found) > 0 {
		// A file without a number goes behind those that have one.
		slices.SortStableFunc(found, func(a, b Item) int { return cmp.Compare(a.Seq-1, b.Seq-1) })
		s.announce(found)
	}
	s.scanned = info.ModTime()
	return nil
}

// stillThere leaves out files that were claimed and ended between the reading
// of the folder and now; the claim itself would only find them gone.
func (s *Spool) stillThere(items []Item) []Item {
	kept := items[:0]
	for _, it := range items {
		if _, err := s.files.Stat(s.path(Pending, it.Name)); err == nil {
			kept = append(kept, it)
		}
	}
	return kept
}

func (s *Spool) inspect(name string) (Place, error) {
	if s.opt.Inspect == nil {
		return Place{}, nil
	}
	data, err := s.files.ReadFile(s.path(Pending, name))
	if err != nil {
		return Place{}, err
	}
	return s.opt.Inspect(data)
}

// suspect waits for a file that does not parse to stand still, then buries it.
// s.scanMu is held.
func (s *Spool) suspect(name string, why error) {
	info, err := s.files.Stat(s.path(Pending, name))
	if err != nil {
		return
	}
	now := time.Now()
	seen, known := s.suspects[name]
	if !known || seen.size != info.Size() || !seen.mtime.Equal(info.ModTime()) {
		s.suspects[name] = suspect{info.Size(), info.ModTime(), now}
		return
	}
	if now.Sub(seen.since) < settle {
		return
	}
	delete(s.suspects, name)
	reason := "cannot be read: " + why.Error()
	if err := s.note(name, func(n *Note) { n.Reason = reason; n.At = now }); err != nil {
		s.log.Warn("cannot note why a file is dead", "file", name, "error", err)
	}
	if err := s.move(name, Pending, Dead); err != nil && !errors.Is(err, ErrGone) {
		s.log.Warn("cannot set a broken file aside", "file", name, "error", err)
		return
	}
	s.log.Warn("a dropped file is broken and was set aside", "file", filepath.Join(string(Dead), name), "reason", fmt.Sprint(why))
}
