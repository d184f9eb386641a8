package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aurorabot/aurora/internal/redact"
)

// openHome returns the home folder dir, which must exist.
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

// Load reads a home. It returns an error only when nothing can be said because
// there is no home; everything else that is wrong is in [Config.Problems].
func Load(o Options) (*Config, error) {
	home, err := openHome(o.Home)
	if err != nil {
		return nil, err
	}
	return &Config{Home: home, Redact: redact.New()}, nil
}
