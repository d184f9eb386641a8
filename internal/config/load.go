package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/redact"
)

// Load reads a home. It returns an error only when nothing can be said because
// there is no home; everything else that is wrong is in [Config.Problems].
func Load(o Options) (*Config, error) {
	home, err := openHome(o.Home)
	if err != nil {
		return nil, err
	}
	r := newReader(home, o)
	r.readEnv()
	r.readSettings()
	r.readApps()
	r.checkTogether()
	return r.finish(), nil
}

// A reader reads one home, once.
type reader struct {
	options Options
	config  *Config
	// env is our own environment, completed from .env.
	env      *environment
	problems []Problem // of all files
	files    int       // read so far; a file's number is its rank
	structs  structs
	expand   *expander
	// safe is the part of env that every child gets.
	safe *environment
	// drafts are the apps in the making, in the order of the file.
	drafts []*draft
}

func newReader(home Home, o Options) *reader {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Self == "" {
		o.Self, _ = os.Executable() // if it fails, "aurora" is looked for in PATH
	}
	r := &reader{
		options: o,
		config:  &Config{Home: home, Redact: o.Redact, Files: map[string]string{}},
		env:     environmentOf(variables, o.Env),
		structs: structs{},
	}
	if r.config.Redact == nil {
		r.config.Redact = redact.New()
	}
	r.safe = r.env.safe()
	user, set := r.env.lookup("HOME")
	if !set || !filepath.IsAbs(user) {
		user, _ = os.UserHomeDir()
	}
	r.expand = &expander{
		lookup: r.env.lookup,
		home:   home.Dir,
		user:   user,
		read:   r.text,
		met: func(name, value string) {
			if name == "file" || isSecretValue(name, value) {
				r.config.Redact.Add(value)
			}
		},
	}
	return r
}

// open begins a new file.
func (r *reader) open(name string) *source {
	r.files++
	return &source{
		file: name, rank: r.files,
		places: map[string]place{}, keys: map[string]place{}, problems: &r.problems, structs: r.structs,
	}
}

// read returns the text of a file, or nil if there is none.
func (r *reader) read(path string, src *source) []byte {
	text, err := r.text(path)
	if err == nil {
		return text
	}
	if !os.IsNotExist(err) || r.present(path) {
		src.report(place{}, "", "the file cannot be read: "+reason(err), "", false)
	}
	return nil
}

// present tells whether there is something at a path, readable or not.
func (r *reader) present(path string) bool {
	if text, given := r.options.Texts[path]; given {
		return text != nil
	}
	return exists(path)
}

// text returns the text of a file and remembers it.
func (r *reader) text(path string) ([]byte, error) {
	text, given := r.options.Texts[path]
	var err error
	switch {
	case !given:
		text, err = readFile(path)
	case text == nil:
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	r.config.Files[path] = digest(text, err)
	return text, err
}

// shown returns a path as people know it: relative to the home if it lies in it.
func (r *reader) shown(path string) string {
	if inside, err := filepath.Rel(r.config.Home.Dir, path); err == nil && filepath.IsLocal(inside) {
		return filepath.ToSlash(inside)
	}
	return path
}

func (r *reader) readEnv() {
	path := r.config.Home.EnvFile()
	src := r.open(".env")
	text := r.read(path, src)
	if text == nil {
		return
	}
	if info, err := os.Stat(path); err == nil && readableByOthers(info) {
		src.report(place{}, "", "everybody on this machine can read the file", "chmod 600 .env", true)
	}
	for name, value := range parseEnv(text, src) {
		if isSecretValue(name, value) {
			r.config.Redact.Add(value)
		}
		if _, set := r.env.lookup(name); !set {
			r.env.set(name, value)
		}
	}
	r.safe = r.env.safe()
}

// misnamed reports a file with an ending that is not read, where the right one is
// missing.
func (r *reader) misnamed(path, wrong, right string) {
	if _, given := r.options.Texts[path]; given {
		return
	}
	wrongPath := filepath.Join(filepath.Dir(path), wrong)
	if _, err := os.Stat(wrongPath); err == nil {
		r.open(r.shown(wrongPath)).report(place{}, "", "a file of this name is not read", "rename it to "+right, false)
	}
}

func (r *reader) readSettings() {
	path := r.config.Home.SettingsFile()
	src := r.open("aurora.yml")
	text := r.read(path, src)
	if text == nil {
		r.misnamed(path, "aurora.yaml", "aurora.yml")
	}
	r.parseSettings(text, src)
}

// parseSettings makes the settings of the text of aurora.yml.
func (r *reader) parseSettings(text []byte, src *source) {
	settings := reflect.ValueOf(&r.config.Settings).Elem()
	applyDefaults(settings)
	r.decodeFile(text, src, settings)
	r.config.settingKeys = src.keys
	r.completeSettings(&r.config.Settings, src)
}

// decodeFile fills v, which has its defaults already, from the text of a file.
func (r *reader) decodeFile(text []byte, src *source, v reflect.Value) {
	root, problem := parseTree(text)
	if problem != nil {
		src.report(place{problem.Line, problem.Column}, "", problem.Message, problem.Hint, false)
		return
	}
	src.decode(root, "", v, "")
}

// readApps reads apps/config.yml and the manifests, and makes the apps.
func (r *reader) readApps() {
	path := r.config.Home.AppsFile()
	src := r.open("apps/config.yml")
	if text := r.read(path, src); text != nil {
		r.parseApps(text, src)
		return
	}
	before := len(r.problems)
	r.misnamed(path, "config.yaml", "config.yml")
	r.misnamed(filepath.Join(r.config.Home.Dir, "config.yml"), "config.yml", "apps/config.yml")
	if len(r.problems) > before || r.present(path) {
		return
	}
	r.config.DefaultApps = true
	for _, bundled := range r.options.Bundled {
		r.addDraft(src.part(bundled.Key), &node{kind: nullNode}, place{})
	}
	r.resolveAll()
}

// parseApps makes the apps of the text of apps/config.yml.
func (r *reader) parseApps(text []byte, src *source) {
	root, problem := parseTree(text)
	if problem != nil {
		src.report(place{problem.Line, problem.Column}, "", problem.Message, problem.Hint, false)
		return
	}
	r.readEntries(root, src)
	r.resolveAll()
}

func (r *reader) resolveAll() {
	for _, b := range r.options.Bundled {
		if b.Always && !slices.ContainsFunc(r.drafts, func(d *draft) bool { return d.key == b.Key }) {
			r.addDraft(r.open("apps/config.yml").part(b.Key), &node{kind: nullNode}, place{})
		}
	}
	for _, d := range r.drafts {
		r.config.Apps = append(r.config.Apps, r.resolve(d))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readEntries reads the entries below "apps:".
func (r *reader) readEntries(root *node, src *source) {
	switch root.kind {
	case nullNode:
		return
	case invalidNode:
		src.report(root.place, "", root.text, root.hint, false)
		return
	case mapNode:
	default:
		src.report(root.place, "", "the file must be a mapping that begins with apps:", lineHint(root.text), false)
		return
	}
	src.eachEntry(root, "", func(e entry, at string) {
		if e.key != "apps" {
			src.report(e.place, at, unknownKey, rootHint(e), false)
			return
		}
		switch e.value.kind {
		case nullNode:
		case invalidNode:
			src.report(e.value.place, at, e.value.text, e.value.hint, false)
		case mapNode:
			src.eachEntry(e.value, "", func(e entry, at string) {
				r.addDraft(src.part(e.key), e.value, e.place)
			})
		default:
			hint := "write each app as KEY: and its settings below it"
			src.report(e.value.place, at, "must be a mapping of apps, not "+e.value.kind.String(), hint, false)
		}
	})
}

// rootHint says what an unknown key beside "apps:" was probably meant to be.
func rootHint(e entry) string {
	if hint := foreign[e.key]; hint != "" {
		return hint
	}
	if hint := lineHint(e.key); hint != "" {
		return hint
	}
	if hasField(reflect.TypeFor[connection](), e.key) {
		return `an app needs a name around it: "apps: {NAME: {…}}"`
	}
	if nearest(e.key, []string{"apps"}) != "" {
		return `did you mean "apps"?`
	}
	if hasField(reflect.TypeFor[Settings](), e.key) {
		return "it belongs into aurora.yml"
	}
	if e.value.kind == mapNode && (hasKey(e.value.entries, "mcp") || hasKey(e.value.entries, "command") || hasKey(e.value.entries, "url") || hasKey(e.value.entries, "enabled")) {
		return `if it is an app, indent it below "apps:"`
	}
	return "the only key here is apps"
}

// finish sorts and filters the problems and removes secrets from them.
func (r *reader) finish() *Config {
	only := r.options.Only
	kept := r.problems[:0]
	for _, p := range r.problems {
		if p.App != "" && len(only) > 0 && !slices.Contains(only, p.App) {
			continue
		}
		p.Field = r.config.Redact.String(p.Field)
		p.Message = r.config.Redact.String(p.Message)
		p.Hint = r.config.Redact.String(p.Hint)
		p.Message = strings.ToValidUTF8(p.Message, "\uFFFD")
		kept = append(kept, p)
	}
	r.config.Problems = sortProblems(kept)
	return r.config
}
