package turn

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

// A memory is a file layer that can die at a step of one's choice, as a process
// or with the power, and is told of what is left of it.
type memory struct {
	mu      sync.Mutex // guards what follows
	names   map[string]*content
	durable map[string]*content // names that survive the loss of power
	steps   int
	failAt  int // this step fails, once; 0: none
	dieAt   int // from this step on nothing works; 0: never
}

type content struct {
	data   []byte
	synced int // so much of data survives the loss of power
}

var errDisk = errors.New("disk says no")

func newMemory() *memory {
	return &memory{names: map[string]*content{}, durable: map[string]*content{}}
}

// A loss says what a crash takes with it.
type loss string

const (
	lossNone  loss = "nothing"          // the process was killed
	lossHalf  loss = "half a tail"      // the power went, some of what was not synced was written
	lossPower loss = "what is unsynced" // the power went
)

// crash returns what the next process finds.
func (m *memory) crash(l loss) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := newMemory()
	from := m.durable
	if l == lossNone {
		from = m.names
	}
	for name, c := range from {
		data := c.data
		switch l {
		case lossHalf:
			data = data[:c.synced+(len(data)-c.synced)/2]
		case lossPower:
			data = data[:c.synced]
		}
		n := &content{data: slices.Clone(data), synced: len(data)}
		after.names[name], after.durable[name] = n, n
	}
	return after
}

// step counts one operation and says whether it fails. m.mu is held.
func (m *memory) step() error {
	m.steps++
	if m.steps == m.failAt || m.dieAt > 0 && m.steps >= m.dieAt {
		return errDisk
	}
	return nil
}

func (m *memory) dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dieAt > 0 && m.steps >= m.dieAt
}

func (m *memory) MkdirAll(string) error { return nil }

type memoryFile struct {
	m *memory
	c *content
}

func (m *memory) open(name string, size int64, exclusive bool) (spool.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	c := m.names[name]
	if c != nil && exclusive {
		return nil, fs.ErrExist
	}
	if c == nil {
		c = &content{}
		m.names[name] = c
	}
	c.data = c.data[:size]
	c.synced = min(c.synced, int(size))
	return &memoryFile{m, c}, nil
}

func (m *memory) Create(name string) (spool.File, error) { return m.open(name, 0, true) }

func (m *memory) Append(name string, size int64) (spool.File, error) {
	return m.open(name, size, false)
}

func (f *memoryFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.m.step(); err != nil {
		if f.m.steps == f.m.failAt || f.m.steps == f.m.dieAt { // the last thing it does
			f.c.data = append(f.c.data, p[:len(p)/2]...)
		}
		return 0, err
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
	f.c.synced = len(f.c.data)
	return nil
}

func (f *memoryFile) Close() error { return nil }

func (m *memory) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	m.names[to] = m.names[from]
	delete(m.names, from)
	return nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.names, name)
	return nil
}

func (m *memory) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
func (m *memory) Stat(string) (fs.FileInfo, error)      { return nil, fs.ErrNotExist }
func (m *memory) Touch(string, time.Time) error         { return nil }

func (m *memory) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return nil, err
	}
	c := m.names[name]
	if c == nil {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(c.data), nil
}

func (m *memory) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(); err != nil {
		return err
	}
	for name := range m.durable {
		if filepath.Dir(name) == filepath.Clean(dir) && m.names[name] == nil {
			delete(m.durable, name)
		}
	}
	for name, c := range m.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			m.durable[name] = c
		}
	}
	return nil
}

// text returns the content of the file whose name ends so.
func (m *memory) text(end string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, c := range m.names {
		if strings.HasSuffix(name, end) {
			return string(c.data)
		}
	}
	return ""
}
