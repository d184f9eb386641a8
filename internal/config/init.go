package config

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

//go:embed templates
var templates embed.FS

// initFiles are the files of a new home. A template without a folder has no
// language.
var initFiles = []struct {
	path     string // in the home
	template string
	mode     fs.FileMode
}{
	{"apps/config.yml", "config.yml", 0o644},
	{"aurora.yml", "aurora.yml", 0o644},
	{".env", "env", 0o600},
	{".gitignore", "../gitignore", 0o644},
}

// Init writes a commented home into dir, which is created if need be, with
// comments in Chinese for lang "zh" and in English otherwise. A file that exists
// already is kept as it is. Init returns the paths of the files it wrote, relative
// to dir. After an error the files it returns are there.
func Init(dir, lang string) (written []string, err error) {
	if lang != "zh" {
		lang = "en"
	}
	for _, f := range initFiles {
		text, err := templates.ReadFile(path.Join("templates", lang, f.template))
		if err != nil {
			return written, fmt.Errorf("making a home: %w", err)
		}
		wrote, err := writeNew(filepath.Join(dir, filepath.FromSlash(f.path)), text, f.mode)
		if err != nil {
			return written, fmt.Errorf("making a home: %w", err)
		}
		if wrote {
			written = append(written, f.path)
		}
	}
	return written, nil
}

// writeNew writes a file that does not exist yet. It tells whether it did.
func writeNew(path string, text []byte, mode fs.FileMode) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = file.Write(text)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(path)) // half a file would be kept for ever
	}
	return true, nil
}
