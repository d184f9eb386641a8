package spooltest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/spool"
)

// ErrDisk is the failure of a step. It is a [fs.PathError], as a disk's own.
var ErrDisk error = &fs.PathError{Op: "test", Path: "disk", Err: errors.New("disk says no")}

// A Disk is a file system in memory. All methods may be called from many
// goroutines.
type Disk struct {
	mu      sync.Mutex // guards everything below
	names   folders
	durable folders
	steps   int
	failAt  int // the step that fails; 0: none
	lostAt  int // from this step on all fail; 0: never
	slow    func()
}

var _ spool.FileLayer = (*Disk)(nil)

// New returns an empty disk that works.
func New() *Disk { return &Disk{names: folders{}, durable: folders{}} }

// FailAt lets the step-th step from the first fail, once; 0: none.
func (d *Disk) FailAt(step int) { d.set(func() { d.failAt = step }) }

// LoseAt lets the step-th step and all after it fail; 0: none.
func (d *Disk) LoseAt(step int) { d.set(func() { d.lostAt = step }) }

// Slow has f called before every sync, outside any lock; nil: nothing is.
func (d *Disk) Slow(f func()) { d.set(func() { d.slow = f }) }

func (d *Disk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// Steps returns how many steps were made.
func (d *Disk) Steps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steps
}

// Kill returns the disk as the next process finds it after a kill -9.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := New()
	copies := map[*content]*content{}
	copied := func(c *content) *content {
		if copies[c] == nil {
			copies[c] = &content{slices.Clone(c.data), slices.Clone(c.synced), c.mtime, c.now, c.at}
		}
		return copies[c]
	}
	d.names.each(func(name string, c *content) { after.names.set(name, copied(c)) })
	d.durable.each(func(name string, c *content) { after.durable.set(name, copied(c)) })
	return after
}

// PowerLoss returns the disk as the next process finds it after the power went.
// With torn, half of what was written to the end of a file without a sync is
// there too.
func (d *Disk) PowerLoss(torn bool) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := New()
	d.durable.each(func(name string, c *content) {
		data := c.synced
		if extra := len(c.data) - len(data); torn && extra > 0 {
			data = c.data[:len(data)+extra/2]
		}
		n := &content{data: slices.Clone(data), synced: slices.Clone(data), mtime: c.mtime, now: name, at: name}
		after.names.set(name, n)
		after.durable.set(name, n)
	})
	return after
}

// Names returns the names of all files, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	d.names.each(func(name string, _ *content) { names = append(names, name) })
	slices.Sort(names)
	return names
}

// Durable reports whether a file would survive a power loss.
func (d *Disk) Durable(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.durable.get(name) != nil
}

// Write puts a file on the disk as another program would, durably.
func (d *Disk) Write(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &content{data: slices.Clone(data), synced: slices.Clone(data), mtime: time.Now(), at: name}
	d.name(name, c)
	d.durable.set(name, c)
}

// Age sets the time of a file back.
func (d *Disk) Age(name string, by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names.get(name); c != nil {
		c.mtime = c.mtime.Add(-by)
	}
}

// name gives content a name, in the place of what had it. d.mu is held.
func (d *Disk) name(name string, c *content) {
	if old := d.names.get(name); old != nil && old != c {
		old.now = ""
	}
	c.now = name
	d.names.set(name, c)
}

// step counts one operation and says whether it fails. d.mu is held.
func (d *Disk) step() error {
	d.steps++
	if d.steps == d.failAt || d.lostAt > 0 && d.steps >= d.lostAt {
		return ErrDisk
	}
	return nil
}

// wait is the slowness of a sync.
func (d *Disk) wait() {
	d.mu.Lock()
	slow := d.slow
	d.mu.Unlock()
	if slow != nil {
		slow()
	}
}

// MkdirAll does nothing: folders are where files are.
func (d *Disk) MkdirAll(string) error { return nil }

// Create makes a new file.
func (d *Disk) Create(name string) (spool.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return nil, err
	}
	if d.names.get(name) != nil {
		return nil, fs.ErrExist
	}
	c := &content{mtime: time.Now()}
	d.name(name, c)
	return &file{d, c}, nil
}

// Append opens a file for writing at its end.
func (d *Disk) Append(name string) (spool.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return nil, err
	}
	if d.names.get(name) == nil {
		d.name(name, &content{mtime: time.Now()})
	}
	return &file{d, d.names.get(name)}, nil
}

// Truncate cuts a file.
func (d *Disk) Truncate(name string, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	c := d.names.get(name)
	if c == nil {
		return fs.ErrNotExist
	}
	c.data = c.data[:size]
	return nil
}

// Rename moves a file over another one.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	c := d.names.get(from)
	if c == nil {
		return fs.ErrNotExist
	}
	d.names.remove(from)
	d.name(to, c)
	return nil
}

// Remove removes a file.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names.get(name) == nil {
		return fs.ErrNotExist // no step: nothing happens
	}
	if err := d.step(); err != nil {
		return err
	}
	d.names.get(name).now = ""
	d.names.remove(name)
	return nil
}

// SyncDir makes the names of a folder durable.
func (d *Disk) SyncDir(dir string) error {
	d.wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	for base, c := range d.durable[dir] {
		if name := filepath.Join(dir, base); c.now != name {
			d.settle(name, c)
		}
	}
	for _, c := range d.names[dir] {
		if c.at != c.now {
			d.settle(c.at, c)
		}
	}
	return nil
}

// settle makes the name of a file durable in the place of the one that was. A
// rename is one step, also for a crash, whichever of both folders is synced.
func (d *Disk) settle(was string, c *content) {
	if was != "" && d.durable.get(was) == c {
		d.durable.remove(was)
	}
	if c.at = c.now; c.now != "" {
		d.durable.set(c.now, c)
	}
}

// ReadFile returns the content of a file.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names.get(name); c != nil {
		return slices.Clone(c.data), nil
	}
	return nil, fs.ErrNotExist
}

// Touch sets the time of a file.
func (d *Disk) Touch(name string, at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	if c := d.names.get(name); c != nil {
		c.mtime = at
		return nil
	}
	return fs.ErrNotExist
}

// Stat describes a file or a folder.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names.get(name); c != nil {
		return info{filepath.Base(name), int64(len(c.data)), c.mtime, false}, nil
	}
	if filepath.Ext(name) == "" { // a folder; its time always says "look again"
		return info{filepath.Base(name), 0, time.Now(), true}, nil
	}
	return nil, fs.ErrNotExist
}

// ReadDir lists the files of a folder.
func (d *Disk) ReadDir(dir string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []fs.DirEntry
	for base, c := range d.names[filepath.Clean(dir)] {
		entries = append(entries, info{base, int64(len(c.data)), c.mtime, false})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
