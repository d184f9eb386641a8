package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Home is the folder that holds everything of one bot (DESIGN section 9). Its
// methods name places in it; none of them creates anything.
type Home struct {
	// Dir is the absolute path of the folder.
	Dir string
}

// AppsFile returns the path of apps/config.yml.
func (h Home) AppsFile() string { return filepath.Join(h.Dir, "apps", "config.yml") }

// SettingsFile returns the path of aurora.yml.
func (h Home) SettingsFile() string { return filepath.Join(h.Dir, "aurora.yml") }

// EnvFile returns the path of .env.
func (h Home) EnvFile() string { return filepath.Join(h.Dir, ".env") }

// ManifestFile returns the default path of the manifest of an app.
func (h Home) ManifestFile(key string) string {
	return filepath.Join(h.Dir, "apps", key, "manifest.yaml")
}

// Data returns a path under data/, where everything that Aurora writes goes.
// The folder is 0700, its files 0600.
func (h Home) Data(parts ...string) string {
	return filepath.Join(append([]string{h.Dir, "data"}, parts...)...)
}

// RunDir returns data/run: the lock, the pid files, the control socket.
func (h Home) RunDir() string { return h.Data("run") }

// LogDir returns data/log.
func (h Home) LogDir() string { return h.Data("log") }

// AppData returns the folder that belongs to one app, data/app_data/<key>.
func (h Home) AppData(key string) string { return h.Data("app_data", key) }

// openHome returns the home folder dir, which must exist; empty means the working
// directory.
func openHome(dir string) (Home, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, fmt.Errorf("home folder %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Home{}, fmt.Errorf("home folder %s does not exist", abs)
	case err != nil:
		return Home{}, fmt.Errorf("home folder: %w", err)
	case !info.IsDir():
		return Home{}, fmt.Errorf("home %s is not a folder", abs)
	}
	return Home{Dir: abs}, nil
}
