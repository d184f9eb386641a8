package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrFileChanged says that a file is not any more what somebody wanted to replace.
var ErrFileChanged = errors.New("the file was changed by somebody else meanwhile")

// A Replacement is a file that gets another text.
type Replacement struct {
	Path string
	// Before is the text that After was made from; nil: there was no file.
	Before, After []byte
	// Private keeps the file to its owner. Any other keeps the rights that it has;
	// a new one can be read by everybody.
	Private bool
}

// Replace gives files another text, each as a whole: whoever reads one meanwhile
// finds the old text or the new one. All new texts are on the disk before the
// first file is replaced, in the order given; if one cannot be, those before it
// get their old text back. A file that does not hold Before any more is an
// [ErrFileChanged]. Links are followed, folders made, owners kept where that is
// allowed.
func Replace(files ...Replacement) error {
	var staged []stagedFile
	defer func() {
		for _, s := range staged {
			_ = os.Remove(s.temp) // in vain after the rename
		}
	}()
	for _, f := range files {
		s, err := stage(f)
		if err != nil {
			return err
		}
		staged = append(staged, s)
	}
	for i, s := range staged {
		err := unchanged(s.path, s.Before)
		if err == nil {
			err = os.Rename(s.temp, s.path)
		}
		if err != nil {
			for _, done := range staged[:i] {
				err = errors.Join(err, done.takeBack())
			}
			return fmt.Errorf("replacing %s: %w", s.Path, err)
		}
	}
	for _, s := range staged {
		syncFolder(filepath.Dir(s.path))
	}
	return nil
}

// A stagedFile is a replacement whose text lies beside its file.
type stagedFile struct {
	Replacement
	path string // without links
	temp string
}

func stage(f Replacement) (stagedFile, error) {
	s := stagedFile{Replacement: f, path: f.Path}
	if target, err := filepath.EvalSymlinks(f.Path); err == nil {
		s.path = target
	}
	if err := unchanged(s.path, f.Before); err != nil {
		return s, fmt.Errorf("replacing %s: %w", f.Path, err)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return s, err
	}
	mode := fs.FileMode(0o644)
	old, err := os.Stat(s.path)
	if err == nil {
		mode = old.Mode().Perm()
	}
	if f.Private {
		mode = 0o600
	}
	temp, err := os.CreateTemp(filepath.Dir(s.path), ".aurora-*")
	if err != nil {
		return s, err
	}
	s.temp = temp.Name()
	keepOwner(temp, old)
	_, err = temp.Write(f.After)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return s, errors.Join(err, os.Remove(s.temp))
	}
	return s, nil
}

// unchanged tells whether a file still holds a text; nil: is not there.
func unchanged(path string, text []byte) error {
	now, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && text == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), err == nil && (text == nil || !bytes.Equal(now, text)):
		return ErrFileChanged
	}
	return err
}

// takeBack gives the file its old text again.
func (s *stagedFile) takeBack() error {
	if s.Before == nil {
		return os.Remove(s.path)
	}
	back := s.Replacement
	back.Path, back.Before, back.After = s.path, s.After, s.Before
	undo, err := stage(back)
	if err != nil {
		return err
	}
	return os.Rename(undo.temp, undo.path)
}

// syncFolder makes renames in a folder durable, where the system can do that.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync() // not every system knows it
		_ = f.Close()
	}
}
