package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// A desk is a folder with files that somebody writes and a watcher watches. Its
// clock is that of a bubble.
type desk struct {
	t       *testing.T
	dir     string
	watcher *watcher

	mu      sync.Mutex // guards what follows
	known   map[string]string
	reloads []control.ReloadCause
}

func atDesk(t *testing.T, story func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, dir: t.TempDir(), known: map[string]string{}}
		for _, name := range []string{"config.yml", "aurora.yml", ".env"} {
			d.known[d.path(name)] = ""
		}
		d.write("config.yml", "apps:\n")
		d.read()
		d.watcher = newWatcher(func() map[string]string {
			d.mu.Lock()
			defer d.mu.Unlock()
			return maps.Clone(d.known)
		})
		d.watcher.reload = func(_ context.Context, cause control.ReloadCause) {
			d.read()
			d.mu.Lock()
			defer d.mu.Unlock()
			d.reloads = append(d.reloads, cause)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.watcher.run(ctx)
		}()
		story(d)
		cancel()
		<-done
	})
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// read takes note of what the files hold.
func (d *desk) read() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path := range d.known {
		d.known[path] = config.Digest(path)
	}
}

func (d *desk) pass(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

func (d *desk) all() []control.ReloadCause {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.reloads)
}

func (d *desk) wantReloads(n int, when string) {
	d.t.Helper()
	if got := len(d.all()); got != n {
		d.t.Errorf("%s: %d reloads, want %d", when, got, n)
	}
}

func TestAChangedFileIsReadAgainOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.pass(time.Minute)
		d.wantReloads(0, "nothing changed")

		d.write("config.yml", "apps: {}\n")
		d.pass(2 * time.Second)
		d.wantReloads(1, "a file changed")
		d.write(".env", "A=b\n")
		d.pass(2 * time.Second)
		d.wantReloads(2, "a file came")
		if err := os.Remove(d.path(".env")); err != nil {
			t.Fatal(err)
		}
		d.pass(time.Minute)
		d.wantReloads(3, "a file went")

		// The time alone changes nothing.
		now := time.Now()
		if err := os.Chtimes(d.path("config.yml"), now, now); err != nil {
			t.Fatal(err)
		}
		d.write("config.yml", "apps: {}\n")
		d.pass(time.Minute)
		d.wantReloads(3, "a file was written as it was")
	})
}

func TestAFileIsReadWhenItIsWhole(t *testing.T) {
	atDesk(t, func(d *desk) {
		// Somebody writes piece by piece.
		text := "apps:\n"
		for range 20 {
			text += "  # more\n"
			d.write("config.yml", text)
			d.pass(100 * time.Millisecond)
		}
		d.wantReloads(0, "while it is written")
		d.pass(time.Second)
		d.wantReloads(1, "when it is written")

		// An editor takes the file away and puts another one in its place.
		if err := os.Rename(d.path("config.yml"), d.path("config.yml~")); err != nil {
			t.Fatal(err)
		}
		d.pass(1500 * time.Millisecond)
		d.wantReloads(1, "while it is gone")
		d.write("new", "apps: {a: }\n")
		if err := os.Rename(d.path("new"), d.path("config.yml")); err != nil {
			t.Fatal(err)
		}
		d.pass(3 * time.Second)
		d.wantReloads(2, "when it is back")

		// Another one empties it first.
		d.write("config.yml", "")
		d.pass(1500 * time.Millisecond)
		d.write("config.yml", "apps: {b: }\n")
		d.pass(3 * time.Second)
		d.wantReloads(3, "when it was empty for a while")

		// What is back to what it was is not read again.
		d.write("config.yml", "apps: {c: }\n")
		d.pass(watchEvery)
		d.write("config.yml", "apps: {b: }\n")
		d.pass(time.Minute)
		d.wantReloads(3, "when it is as before")

		// A file that is written again and again is read all the same.
		for i := range 200 {
			d.write("config.yml", "apps: # "+string(rune('a'+i%26))+"\n")
			d.pass(100 * time.Millisecond)
		}
		if len(d.all()) < 4 {
			t.Error("a file that never rests was not read")
		}
	})
}

func TestAHangupReadsAgainInAnyCase(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.watcher.hangup()
		d.pass(0)
		d.wantReloads(1, "after a hangup")
		if got := d.all(); got[0] != control.BySignal {
			t.Errorf("the cause is %s", got[0])
		}
	})
}

// Two changes within one tick of the file system's clock look alike but for
// what the file holds.
func TestAFileOfTheSameSizeAndTimeIsSeen(t *testing.T) {
	atDesk(t, func(d *desk) {
		info, err := os.Stat(d.path("config.yml"))
		if err != nil {
			t.Fatal(err)
		}
		d.pass(2 * time.Second)
		d.write("config.yml", "appz:\n")
		if err := os.Chtimes(d.path("config.yml"), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		d.pass(3 * time.Second)
		d.wantReloads(1, "the same size and time")
	})
}

// BenchmarkLook is what a look at the files of a home with 20 apps costs, once a
// second.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	files := map[string]string{}
	for i := range 24 {
		path := filepath.Join(dir, fmt.Sprintf("app-%d.yaml", i))
		if i < 4 { // most manifests are not there
			if err := os.WriteFile(path, []byte("apps:\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				b.Fatal(err)
			}
		}
		files[path] = config.Digest(path)
	}
	w := newWatcher(func() map[string]string { return files })
	for b.Loop() {
		if w.changed(w.look()) {
			b.Fatal("something changed")
		}
	}
}
