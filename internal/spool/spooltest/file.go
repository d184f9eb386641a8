package spooltest

import (
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// A content is a file, whatever its names are.
type content struct {
	data   []byte
	synced []byte
	mtime  time.Time
	now    string // its name; empty: it has none any more
	at     string // its durable name; empty: it has none
}

// folders hold files, by folder and name within it.
type folders map[string]map[string]*content

func (f folders) get(name string) *content { return f[filepath.Dir(name)][filepath.Base(name)] }

func (f folders) set(name string, c *content) {
	dir := filepath.Dir(name)
	if f[dir] == nil {
		f[dir] = map[string]*content{}
	}
	f[dir][filepath.Base(name)] = c
}

func (f folders) remove(name string) { delete(f[filepath.Dir(name)], filepath.Base(name)) }

// each calls do with the full name of every file.
func (f folders) each(do func(name string, c *content)) {
	for dir, files := range f {
		for base, c := range files {
			do(filepath.Join(dir, base), c)
		}
	}
}

// A file is open for writing.
type file struct {
	d *Disk
	c *content
}

func (f *file) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.step(); err != nil {
		f.c.data = append(f.c.data, p[:len(p)/2]...) // a full disk takes a part
		return len(p) / 2, err
	}
	f.c.data = append(f.c.data, p...)
	f.c.mtime = time.Now()
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

// An info describes a file or a folder.
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
