package spool

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory is a file layer that forgets what was not synced when the power goes,
// and fails at a step of one's choice.
type memory struct {
	mu      sync.Mutex
	names   map[string]*content // what programs see
	durable map[string]*content // what a crash leaves
	steps   int
	failAt  int // the step that fails, 1 is the first; 0: none
	lostAt  int // from this step on nothing works; 0: never
}

type content struct {
	data   []byte
	synced []byte
	mtime  time.Time
}

var errDisk = errors.New("disk says no")

func newMemory() *memory {
	return &memory{names: map[string]*content{}, durable: map[string]*content{}}
}

// step counts one operation and says whether it fails. m.mu is held.
func (m *memory) step() error {
	m.steps++
	if m.steps == m.failAt || (m.lostAt > 0 && m.steps >= m.lostAt) {
		return errDisk
	}
	return nil
}

// crash leaves what was synced: names by their folder, content by their file.
func (m *memory) crash() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := newMemory()
	for name, c := range m.durable {
		n := &content{data: slices.Clone(c.synced), synced: slices.Clone(c.synced), mtime: c.mtime}
		after.names[name], after.durable[name] = n, n
	}
	return after
}

func (m *memory) MkdirAll(string) error { return nil }

type memoryFile struct {
	m *memory
	c *content
}

func (m *memory) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	if m.names[name] != nil {
		return nil, fs.ErrExist
	}
	c := &content{mtime: time.Now()}
	m.names[name] = c
	return &memoryFile{m, c}, nil
}

func (f *memoryFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(); err != nil {
		f.c.data = append(f.c.data, p[:len(p)/2]...) // a full disk takes a part
		return len(p) / 2, err
	}
	f.c.data = append(f.c.data, p...)
	return len(p), nil
}

func (f *memoryFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(); err != nil {
		return err
	}
	f.c.synced = slices.Clone(f.c.data)
	return nil
}

func (f *memoryFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.m.step()
}

func (m *memory) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	c := m.names[from]
	if c == nil {
		return fs.ErrNotExist
	}
	delete(m.names, from)
	m.names[to] = c
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.names, name)
	return nil
}

func (m *memory) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	in := filepath.Clean(dir)
	for name := range m.durable {
		if filepath.Dir(name) == in && m.names[name] == nil {
			delete(m.durable, name)
		}
	}
	for name, c := range m.names {
		if filepath.Dir(name) == in {
			m.durable[name] = c
		}
	}
	return nil
}

func (m *memory) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.names[name]; c != nil {
		return slices.Clone(c.data), nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Touch(name string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.names[name]; c != nil {
		c.mtime = at
		return nil
	}
	return fs.ErrNotExist
}

type memoryInfo struct {
	name string
	c    *content
	dir  bool
}

func (i memoryInfo) Name() string               { return i.name }
func (i memoryInfo) Size() int64                { return int64(len(i.c.data)) }
func (i memoryInfo) Mode() fs.FileMode          { return 0o600 }
func (i memoryInfo) ModTime() time.Time         { return i.c.mtime }
func (i memoryInfo) IsDir() bool                { return i.dir }
func (i memoryInfo) Sys() any                   { return nil }
func (i memoryInfo) Type() fs.FileMode          { return 0 }
func (i memoryInfo) Info() (fs.FileInfo, error) { return i, nil }

func (m *memory) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.names[name]; c != nil {
		return memoryInfo{filepath.Base(name), c, false}, nil
	}
	if filepath.Ext(name) == "" { // a folder; its time always says "look again"
		return memoryInfo{filepath.Base(name), &content{mtime: time.Now()}, true}, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) ReadDir(dir string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var entries []fs.DirEntry
	for name, c := range m.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			entries = append(entries, memoryInfo{filepath.Base(name), c, false})
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
