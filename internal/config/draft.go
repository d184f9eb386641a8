package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A draft is an app in the making: its entry, its manifest, and where they came
// from.
type draft struct {
	key      string
	at       place // of the key in apps/config.yml; zero for a bundled app without one
	src      *source
	entry    appEntry
	manifest *manifest // nil if there is none
	app      *App
}

// A manifest is a manifest.yaml that was read.
type manifest struct {
	src    *source
	file   manifestFile
	folder string // what its entry is relative to
}

// A layer is one place that says how to reach an app. Of several layers the first
// one that sets a key counts.
type layer struct {
	src    *source
	prefix string // "mcp" or, for the flat spelling, ""
	conn   *connection
}

func (l *layer) path(key string) string { return join(l.prefix, key) }

func (l *layer) has(key string) bool { return l != nil && l.src.has(l.path(key)) }

// addDraft reads the entry of one app.
func (r *reader) addDraft(src *source, n *node, at place) {
	d := &draft{key: src.app, at: at, src: src}
	src.places[""] = at
	applyDefaults(reflect.ValueOf(&d.entry).Elem())
	src.decode(n, "", reflect.ValueOf(&d.entry).Elem(), "")
	src.places[""] = at
	if problem := keyProblem(d.key); problem != "" {
		src.report(at, "", problem, "the key names a folder below data/app_data, so it must be a file name on every system", false)
	}
	d.checkTwice()
	r.drafts = append(r.drafts, d)
}

// keyProblem says why a key cannot be one.
func keyProblem(key string) string {
	switch {
	case key == "":
		return "the key of the app is empty"
	case len(key) > 100:
		return "the key of the app is longer than 100 bytes"
	case strings.ContainsAny(key, `/\:*?"<>|`):
		return `the key of the app holds one of / \ : * ? " < > |`
	case strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "the key of the app holds a control character"
	case key[0] == '.' || key[0] == ' ' || key[len(key)-1] == '.' || key[len(key)-1] == ' ':
		return "the key of the app begins or ends with a dot or a blank"
	}
	return ""
}

// checkTwice reports keys that stand both below "mcp:" and directly in the entry.
func (d *draft) checkTwice() {
	for _, f := range d.src.structs.fieldsOf(reflect.TypeFor[connection]()) {
		if d.src.has(f.key) && d.src.has("mcp."+f.key) {
			d.src.problemAtKey(f.key, `stands here and below "mcp:" too`, `keep the one below "mcp:"`)
		}
	}
}

// layers returns what says how to reach the app, the strongest first.
func (d *draft) layers() []*layer {
	all := []*layer{
		{d.src, "mcp", &d.entry.MCP.connection},
		{d.src, "", &d.entry.connection},
	}
	if d.manifest != nil {
		all = append(all, &layer{d.manifest.src, "mcp", &d.manifest.file.MCP.connection})
	}
	return all
}

// first returns the strongest layer that sets a key, or nil.
func first(layers []*layer, key string) *layer {
	for _, l := range layers {
		if l.has(key) {
			return l
		}
	}
	return nil
}

// readManifest finds and reads the manifest of an app: the file its entry names,
// else apps/KEY/manifest.yaml, else the one inside the binary.
func (r *reader) readManifest(d *draft) {
	path, named := d.entry.Manifest, d.entry.Manifest != ""
	if !named {
		if keyProblem(d.key) != "" {
			return
		}
		path = r.config.Home.ManifestFile(d.key)
	} else {
		path = r.expand.path(path, path)
	}
	text, err := r.text(path)
	if err == nil {
		d.manifest = r.parseManifest(d, r.shown(path), text, filepath.Dir(path))
		return
	}
	if named || !os.IsNotExist(err) && exists(path) {
		d.src.problem("manifest", "the manifest "+r.shown(path)+" cannot be read: "+reason(err), "the path is relative to the home folder")
		return
	}
	i := slices.IndexFunc(r.options.Bundled, func(b Bundled) bool { return b.Key == d.key })
	if i >= 0 {
		d.manifest = r.parseManifest(d, "bundled:"+d.key+"/manifest.yaml", r.options.Bundled[i].Manifest, filepath.Dir(path))
	}
}

func (r *reader) parseManifest(d *draft, name string, text []byte, folder string) *manifest {
	src := r.open(name)
	src.app = d.key
	m := &manifest{src: src, folder: folder}
	applyDefaults(reflect.ValueOf(&m.file).Elem())
	r.decodeFile(text, src, reflect.ValueOf(&m.file).Elem())
	return m
}
