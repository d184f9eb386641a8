package config

import (
	"github.com/aurorabot/aurora/internal/redact"
)

// Options says which home to read and with what around it.
type Options struct {
	// Home is the home folder; empty means the working directory. It must exist.
	Home string
	// Env is our own environment as "KEY=VALUE"; nil means os.Environ().
	Env []string
	// Bundled are the apps that come inside the binary, in the order in which
	// they are listed when there is no apps/config.yml.
	Bundled []Bundled
	// Self is the path of this binary, put in place of "aurora" as the first word
	// of a command; empty means os.Executable().
	Self string
	// Only, if not empty, restricts the checks against the machine (commands,
	// variables, folders) and the reported problems to these keys. Problems that
	// belong to no app are always reported.
	Only []string
	// LookPath finds the program that a child with this environment and working
	// directory would run. An error with the methods Message and Hint is shown in
	// these two parts. nil means that nobody looks: commands stay as written.
	LookPath func(name string, env []string, dir string) (string, error)
	// Texts holds, by absolute path, texts of files that count instead of those on
	// disk: a home can be tried before it is written. A nil text is a file that is
	// not there.
	Texts map[string][]byte
	// Redact, if set, is the redactor that secrets are added to, and becomes
	// [Config.Redact]: what masks logs learns the secrets of a configuration that
	// is read again.
	Redact *redact.Redactor
}

// Bundled is an app that comes inside the binary.
type Bundled struct {
	Key      string
	Manifest []byte // the text of its manifest.yaml
	// Always says that the app is there although apps/config.yml does not name it.
	// It comes last then.
	Always bool
}

// Config is what a home folder says. Nobody changes it after [Load].
type Config struct {
	Home     Home
	Settings Settings
	// Apps holds every app of apps/config.yml in the order of the file, also the
	// disabled and the faulty ones.
	Apps []*App
	// Problems are sorted by file and position.
	Problems []Problem
	// Redact knows every secret that was met while reading. It is never nil.
	Redact *redact.Redactor
	// Files holds, by absolute path, every file that was read or looked for, with
	// the [Digest] of what was found.
	Files map[string]string
	// DefaultApps tells that there is no apps/config.yml, and that Apps are the
	// bundled ones.
	DefaultApps bool

	settingKeys map[string]place // of the keys of aurora.yml, by field path
}

// SettingPlace returns where the key of a setting stands in aurora.yml, counted
// from 1; zeros where it does not stand there.
func (c *Config) SettingPlace(field string) (line, column int) {
	at := c.settingKeys[field]
	return at.line, at.column
}

// App returns the app with this key, or nil.
func (c *Config) App(key string) *App {
	for _, app := range c.Apps {
		if app.Key == key {
			return app
		}
	}
	return nil
}

// AppProblems returns the problems of one app, warnings included.
func (c *Config) AppProblems(key string) []Problem {
	var own []Problem
	for _, p := range c.Problems {
		if p.App == key {
			own = append(own, p)
		}
	}
	return own
}

// Errors returns the problems that are not mere warnings. If it is empty the
// house may start.
func (c *Config) Errors() []Problem {
	var errs []Problem
	for _, p := range c.Problems {
		if !p.Warning {
			errs = append(errs, p)
		}
	}
	return errs
}
