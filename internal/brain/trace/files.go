package trace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/spool"
)

// A home is the folder of data, to be read.
type home struct {
	dir  string
	zone *time.Location // of the stream
}

func (h home) kernel(parts ...string) string {
	return filepath.Join(append([]string{h.dir, "kernel"}, parts...)...)
}

// rel names a file relative to the folder of data.
func (h home) rel(path string) string {
	if r, err := filepath.Rel(h.dir, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}

// A file is one file of a queue.
type file struct {
	queue string // its folder
	state spool.State
	name  string
	size  int64
	mtime time.Time
}

func (f file) path() string { return filepath.Join(f.queue, string(f.state), f.name) }

// reason returns why a file is dead, or what else its note says.
func (f file) reason() string {
	var n spool.Note
	data, err := os.ReadFile(filepath.Join(f.queue, "notes", f.name))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return ""
	}
	return n.Reason
}

// ended returns when the file came to its end; zero while it has not.
func (f file) ended() time.Time {
	if f.state == spool.Done || f.state == spool.Dead {
		return f.mtime
	}
	return time.Time{}
}

// inbox returns the folder of the inbox, pipeline those of all other queues.
func (h home) inbox() string { return h.kernel("inbox") }

func (h home) pipeline() []string {
	entries, err := os.ReadDir(h.kernel("pipeline"))
	if err != nil {
		return nil // not there yet
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, h.kernel("pipeline", e.Name()))
		}
	}
	return out
}

// look finds a file of a queue by its name. One that moves is looked for again.
func look(queue, name string) (file, bool) {
	if name != filepath.Base(name) {
		return file{}, false
	}
	for range 2 {
		for _, state := range spool.States() {
			f := file{queue: queue, state: state, name: name}
			if info, err := os.Stat(f.path()); err == nil {
				f.size, f.mtime = info.Size(), info.ModTime()
				return f, true
			}
		}
	}
	return file{}, false
}

// list returns the files of a queue whose names begin so, the youngest first.
func list(queue, prefix string) []file {
	var all []file
	seen := map[string]bool{}
	for _, state := range spool.States() {
		entries, err := os.ReadDir(filepath.Join(queue, string(state)))
		if err != nil {
			continue // no such queue, or none of that state yet
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() || !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, ".json") || seen[name] {
				continue
			}
			info, err := e.Info()
			if err != nil {
				continue // moved meanwhile
			}
			seen[name] = true
			all = append(all, file{queue, state, name, info.Size(), info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b file) int { return b.mtime.Compare(a.mtime) })
	return all
}

// read returns the content of a file of a queue, wherever it is by now.
func (f file) read() ([]byte, error) {
	data, err := os.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		if again, ok := look(f.queue, f.name); ok {
			return os.ReadFile(again.path())
		}
	}
	return data, err
}
