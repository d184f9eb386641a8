package daemon

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// How a watcher watches. It looks at the files instead of asking the system to be
// told, which some file systems cannot (network drives, folders mounted into
// containers) and which editors that replace files make difficult. A look at the
// dozen files of a home costs some tens of microseconds.
const (
	watchEvery  = time.Second            // between two looks
	watchSettle = 200 * time.Millisecond // files that change must be still for so long
	watchEmpty  = 2 * time.Second        // and for so long if one of them became empty or went away
	watchLimit  = 10 * time.Second       // but not longer than this
	racyTime    = 2 * time.Second        // a file this young may change without its time showing it
)

// A watcher has the configuration read again when one of its files holds
// something else than when it was read, or when somebody sends SIGHUP.
type watcher struct {
	files  func() map[string]string // by path: the digests that were read
	reload func(context.Context, control.ReloadCause)
	hungUp chan struct{} // cap 1
	seen   map[string]sight
}

// A sight is what a file was when it was looked at.
type sight struct {
	size   int64
	mode   fs.FileMode
	time   time.Time
	digest string
	racy   bool // it was so young that its time says nothing
}

func newWatcher(files func() map[string]string) *watcher {
	return &watcher{files: files, hungUp: make(chan struct{}, 1), seen: map[string]sight{}}
}

// hangup has the configuration read again. It never blocks.
func (w *watcher) hangup() {
	select {
	case w.hungUp <- struct{}{}:
	default:
	}
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.hungUp:
			w.reload(ctx, control.BySignal)
		case <-tick.C:
			if w.changed(w.look()) && w.settle(ctx) {
				w.reload(ctx, control.ByFile)
			}
		}
	}
}

// look returns the digests of the files as they are.
func (w *watcher) look() map[string]string {
	now := map[string]string{}
	for path := range w.files() {
		now[path] = w.digest(path)
	}
	return now
}

func (w *watcher) digest(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		delete(w.seen, path)
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return config.Digest(path) // which says how it cannot be read
	}
	s, known := w.seen[path]
	if known && !s.racy && s.size == info.Size() && s.time.Equal(info.ModTime()) && s.mode == info.Mode() {
		return s.digest
	}
	s = sight{size: info.Size(), mode: info.Mode(), time: info.ModTime(), digest: config.Digest(path)}
	s.racy = time.Since(s.time) < racyTime
	w.seen[path] = s
	return s.digest
}

// changed tells whether files are not what was read.
func (w *watcher) changed(now map[string]string) bool { return !maps.Equal(now, w.files()) }

// settle waits until nobody writes the files any more, and tells whether they are
// still not what was read.
func (w *watcher) settle(ctx context.Context) bool {
	limit := time.NewTimer(watchLimit)
	defer limit.Stop()
	last := w.look()
	for {
		still := watchSettle
		if w.lost(last) {
			still = watchEmpty
		}
		t := time.NewTimer(still)
		select {
		case <-t.C:
		case <-limit.C:
			t.Stop()
			return w.changed(w.look())
		case <-ctx.Done():
			t.Stop()
			return false
		}
		now := w.look()
		if maps.Equal(now, last) {
			return w.changed(now)
		}
		last = now
	}
}

// lost tells whether a file that held something is empty or gone, as it is while
// an editor writes it anew.
func (w *watcher) lost(now map[string]string) bool {
	for path, was := range w.files() {
		if is := now[path]; is != was && was != "" {
			if info, err := os.Stat(path); err != nil || info.Size() == 0 {
				return true
			}
		}
	}
	return false
}
