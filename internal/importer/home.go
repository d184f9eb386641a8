package importer

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
)

// A home is the home that is imported into, as it is.
type home struct {
	options config.Options
	config  *config.Config
	apps    []byte // the text of apps/config.yml; nil: there is none
	env     []byte // the text of .env; nil: there is none
	// values are the variables of .env, outer those of our own environment, which
	// win over them.
	values, outer map[string]string
}

func openHome(o config.Options) (*home, error) {
	h := &home{options: o, values: map[string]string{}, outer: map[string]string{}}
	var err error
	if h.config, err = config.Load(o); err != nil {
		return nil, err
	}
	if h.apps, err = readFile(h.config.Home.AppsFile()); err != nil {
		return nil, err
	}
	if h.env, err = readFile(h.config.Home.EnvFile()); err != nil {
		return nil, err
	}
	h.values, _ = config.ParseEnv(h.env)
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			h.outer[name] = value
		}
	}
	return h, nil
}

func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// try loads the home as it would be with other texts.
func (h *home) try(apps, env []byte) (*config.Config, error) {
	o := h.options
	o.Texts = map[string][]byte{h.config.Home.AppsFile(): apps, h.config.Home.EnvFile(): env}
	return config.Load(o)
}

// A taken knows which keys and packages cannot be had any more.
type taken struct{ keys, packages []string }

func (h *home) taken() *taken {
	t := &taken{}
	for _, app := range h.config.Apps {
		t.keys = append(t.keys, app.Key)
		t.packages = append(t.packages, app.Package)
	}
	for _, b := range h.options.Bundled { // their manifests would be joined to ours
		t.keys = append(t.keys, b.Key)
	}
	return t
}

// hasKey tells whether a key cannot be had. Some systems do not tell letter cases
// of folders apart.
func (t *taken) hasKey(key string) bool {
	return slices.ContainsFunc(t.keys, func(k string) bool { return strings.EqualFold(k, key) })
}
