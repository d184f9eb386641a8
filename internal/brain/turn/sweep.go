package turn

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Sweep removes the journals of turns that ended longer ago than keep, with the
// files beside them, and what is remembered of sessions that were not touched for
// as long. 0 keeps everything. Turns that have not ended stay, and so does all of
// today, which the budget of the day is counted from.
func (r *Runner) Sweep(keep time.Duration) error {
	if keep <= 0 {
		return nil
	}
	before := r.opt.Now().Add(-max(keep, 48*time.Hour))
	var failed []error
	for _, dir := range []string{r.opt.Dir, r.opt.Sessions} {
		entries, err := r.files.ReadDir(dir)
		if err != nil {
			failed = append(failed, fmt.Errorf("look for old turns: %w", err))
			continue
		}
		for _, e := range entries {
			id, ok := strings.CutSuffix(e.Name(), ".jsonl")
			info, err := e.Info()
			if !ok || e.IsDir() || err != nil || !info.ModTime().Before(before) {
				continue
			}
			if dir == r.opt.Sessions {
				failed = append(failed, r.forget(id, before))
				continue
			}
			if s := r.look(id); s == nil || s.end == nil {
				continue
			}
			failed = append(failed, r.removeKept(id), r.files.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(failed...)
}

// forget removes what is remembered of a session, unless it has a turn: that has
// read the file, and writes behind what it read. No turn begins meanwhile.
func (r *Runner) forget(session string, before time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lane := range r.running {
		if sessionName(lane) == session {
			return nil
		}
	}
	path := filepath.Join(r.opt.Sessions, session+".jsonl")
	if info, err := r.files.Stat(path); err != nil || !info.ModTime().Before(before) {
		return nil // gone, or a turn has just ended
	}
	return r.files.Remove(path)
}

// removeKept removes the files beside the journal of a turn.
func (r *Runner) removeKept(id string) error {
	dir := filepath.Join(r.opt.Dir, id+".d")
	if _, err := r.files.Stat(dir); err != nil {
		return nil
	}
	entries, err := r.files.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove an old turn: %w", err)
	}
	var failed []error
	for _, e := range entries {
		failed = append(failed, r.files.Remove(filepath.Join(dir, e.Name())))
	}
	return errors.Join(append(failed, r.files.Remove(dir))...)
}
