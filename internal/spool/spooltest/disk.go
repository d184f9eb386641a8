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

// ErrDisk is the error of a step that fails.
var ErrDisk = errors.New("disk says no")

// A Disk is a [spool.FileLayer] in memory.
type Disk struct {
	mu      sync.Mutex          // guards what follows
	names   map[string]*content // what programs see
	durable map[string]*content // what a power loss leaves
	steps   int
	failAt  int
	lostAt  int
	slow    func()
}

type content struct {
	data   []byte
	synced []byte
	mtime  time.Time
}

var _ spool.FileLayer = (*Disk)(nil)

// New makes an empty disk that works.
func New() *Disk {
	return &Disk{names: map[string]*content{}, durable: map[string]*content{}}
}

// FailAt lets one step fail, counted from 1 since New; 0: none.
func (d *Disk) FailAt(step int) { d.set(func() { d.failAt = step }) }

// LoseAt lets this step and all after it fail; 0: none.
func (d *Disk) LoseAt(step int) { d.set(func() { d.lostAt = step }) }

// Slow has f called before every sync, outside any lock; nil: nothing is.
func (d *Disk) Slow(f func()) { d.set(func() { d.slow = f }) }

// Steps returns how many steps there were.
func (d *Disk) Steps() (n int) {
	d.set(func() { n = d.steps })
	return n
}

// Names returns the full names of all files, sorted.
func (d *Disk) Names() (names []string) {
	d.set(func() {
		for name := range d.names {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

// Drop puts a file there as another program does, without a step. An earlier
// one of that name is replaced.
func (d *Disk) Drop(name, data string) {
	d.set(func() { d.names[name] = &content{data: []byte(data), mtime: time.Now()} })
}

// Durable reports whether a file would survive a power loss.
func (d *Disk) Durable(name string) (yes bool) {
	d.set(func() { yes = d.durable[name] != nil })
	return yes
}

// Crash returns the disk as it is after a power loss: names as of the last sync
// of their folder, content as of the last sync of the file.
func (d *Disk) Crash() *Disk {
	after := New()
	d.set(func() {
		for name, c := range d.durable {
			n := &content{data: slices.Clone(c.synced), synced: slices.Clone(c.synced), mtime: c.mtime}
			after.names[name], after.durable[name] = n, n
		}
	})
	return after
}

// Kill returns the disk as it is after the death of the process: as programs saw
// it, and working again.
func (d *Disk) Kill() *Disk {
	after := New()
	copies := make(map[*content]*content)
	copied := func(c *content) *content {
		if copies[c] == nil {
			copies[c] = &content{slices.Clone(c.data), slices.Clone(c.synced), c.mtime}
		}
		return copies[c]
	}
	d.set(func() {
		for name, c := range d.names {
			after.names[name] = copied(c)
		}
		for name, c := range d.durable {
			after.durable[name] = copied(c)
		}
	})
	return after
}

func (d *Disk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// step counts one operation and says whether it fails. d.mu is held.
func (d *Disk) step() error {
	d.steps++
	if d.steps == d.failAt || (d.lostAt > 0 && d.steps >= d.lostAt) {
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

// MkdirAll implements [spool.FileLayer]; folders are always there.
func (d *Disk) MkdirAll(string) error { return nil }

type file struct {
	d *Disk
	c *content
}

// Create implements [spool.FileLayer].
func (d *Disk) Create(name string) (spool.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return nil, err
	}
	if d.names[name] != nil {
		return nil, fs.ErrExist
	}
	c := &content{mtime: time.Now()}
	d.names[name] = c
	return &file{d, c}, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.step(); err != nil {
		f.c.data = append(f.c.data, p[:len(p)/2]...) // a full disk takes a part
		return len(p) / 2, err
	}
	f.c.data = append(f.c.data, p...)
	return len(p), nil
}

func (f *file) Sync() error {
	f.d.wait()
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.step(); err != nil {
		return err
	}
	f.c.synced = slices.Clone(f.c.data)
	return nil
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return f.d.step()
}

// Rename implements [spool.FileLayer].
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	c := d.names[from]
	if c == nil {
		return fs.ErrNotExist
	}
	delete(d.names, from)
	d.names[to] = c
	return nil
}

// Remove implements [spool.FileLayer].
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	if d.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(d.names, name)
	return nil
}

// SyncDir implements [spool.FileLayer].
func (d *Disk) SyncDir(dir string) error {
	d.wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	in := filepath.Clean(dir)
	now := make(map[*content]string, len(d.names))
	for name, c := range d.names {
		now[c] = name
	}
	for name, c := range d.durable {
		at, alive := now[c]
		if at == name || filepath.Dir(name) != in && filepath.Dir(at) != in {
			continue
		}
		delete(d.durable, name)
		if alive {
			d.durable[at] = c
		}
	}
	for name, c := range d.names {
		if filepath.Dir(name) == in {
			d.durable[name] = c
		}
	}
	return nil
}

// ReadFile implements [spool.FileLayer].
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names[name]; c != nil {
		return slices.Clone(c.data), nil
	}
	return nil, fs.ErrNotExist
}

// Touch implements [spool.FileLayer].
func (d *Disk) Touch(name string, at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names[name]; c != nil {
		c.mtime = at
		return nil
	}
	return fs.ErrNotExist
}

type info struct {
	name  string
	size  int64
	mtime time.Time
	dir   bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) Mode() fs.FileMode          { return 0o600 }
func (i info) ModTime() time.Time         { return i.mtime }
func (i info) IsDir() bool                { return i.dir }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return 0 }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

// Stat implements [spool.FileLayer]. A name without an extension is a folder,
// whose time always says "look again".
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.names[name]; c != nil {
		return info{filepath.Base(name), int64(len(c.data)), c.mtime, false}, nil
	}
	if filepath.Ext(name) == "" {
		return info{filepath.Base(name), 0, time.Now(), true}, nil
	}
	return nil, fs.ErrNotExist
}

// ReadDir implements [spool.FileLayer].
func (d *Disk) ReadDir(dir string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var entries []fs.DirEntry
	for name, c := range d.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			entries = append(entries, info{filepath.Base(name), int64(len(c.data)), c.mtime, false})
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
