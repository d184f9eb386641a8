package spool

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// A Retention says how long files at their end are kept. Zero fields keep all.
type Retention struct {
	Age   time.Duration // since they came to their end
	Count int           // the newest so many
}

// Sweep removes done and dead files that retention no longer keeps. What cannot
// be removed is logged and tried again at the next sweep.
func (s *Spool) Sweep(now time.Time) {
	s.sweep(Done, s.opt.KeepDone, now)
	s.sweep(Dead, s.opt.KeepDead, now)
}

func (s *Spool) sweep(state State, keep Retention, now time.Time) {
	if keep == (Retention{}) {
		return
	}
	entries, err := s.files.ReadDir(filepath.Join(s.dir, string(state)))
	if err != nil {
		s.log.Warn("cannot look for old files", "error", err)
		return
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && isEntry(e) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for i, info := range infos {
		old := keep.Age > 0 && now.Sub(info.ModTime()) > keep.Age
		if many := keep.Count > 0 && i >= keep.Count; !old && !many {
			continue
		}
		if err := s.files.Remove(s.path(state, info.Name())); err != nil {
			s.log.Warn("cannot remove an old file", "file", info.Name(), "error", err)
			continue
		}
		if err := s.removeNote(info.Name()); err != nil {
			s.log.Warn("cannot remove an old note", "file", info.Name(), "error", err)
		}
	}
}
