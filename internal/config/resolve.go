package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/names"
)

// resolve joins entry and manifest to the app as it shall run.
func (r *reader) resolve(d *draft) *App {
	r.readManifest(d)
	app := &App{Key: d.key, Enabled: d.entry.Enabled}
	d.app = app
	switch {
	case !d.entry.Enabled:
		app.Disabled = "enabled: false"
	case !d.entry.MCP.Enabled:
		app.Disabled = "mcp.enabled: false"
	}
	r.describe(d)
	r.connect(d)
	if app.Pin = Pin(d.entry.Pin); app.Pin == "" {
		app.Pin = PinHold
		if app.Trust == TrustHigh || app.Trust == TrustNormal && app.MCP.Transport == Stdio {
			app.Pin = PinAuto
		}
	}
	return app
}

// runs tells whether somebody wants to know if the app could run on this machine.
func (r *reader) runs(d *draft) bool {
	only := r.options.Only
	return d.app.Disabled == "" && (len(only) == 0 || slices.Contains(only, d.key))
}

// describe fills in what the app is.
func (r *reader) describe(d *draft) {
	app, entry := d.app, &d.entry
	made := manifestFile{}
	if d.manifest != nil {
		made = d.manifest.file
	}
	app.Name = cmp.Or(entry.Name, made.Name, d.key)
	app.Version = cmp.Or(entry.Version, made.Version)
	app.Description = cmp.Or(entry.Description, made.Description)
	app.Reply = cmp.Or(entry.Reply, made.Reply)
	app.Trust = Trust(entry.Trust)
	app.People = entry.People
	if !d.src.has("people") {
		app.People = made.People
	}
	d.identify(made.Package)
	d.startup()
	d.events(made.Events)
	d.roots(r.expand)
	d.permissions(made)
}

const packageRule = "a package is words of letters, digits, _ and -, joined by dots, such as org.example.notes"

// identify finds the package of the app.
func (d *draft) identify(made string) {
	madeOK := made == "" || names.ValidPackage(made) && len(made) <= 200
	if !madeOK {
		d.manifest.src.problem("package", fmt.Sprintf("%q is not a package", brief(made)), packageRule)
	}
	own := d.entry.Package
	switch {
	case own != "":
		if !names.ValidPackage(own) || len(own) > 200 {
			d.src.problem("package", fmt.Sprintf("%q is not a package", brief(own)), packageRule)
		} else if made != "" && made != own {
			d.src.problem("package", fmt.Sprintf("is %s here, but %s says %s", own, d.manifest.src.file, brief(made)), "remove the line here, or correct one of the two")
		}
		d.app.Package = own
	case made != "":
		d.app.Package = made
	default:
		d.app.Package = d.key
		if !names.ValidPackage(d.key) {
			d.src.report(d.at, "package", fmt.Sprintf("is missing, and the key %q cannot stand for it", brief(d.key)), packageRule, false)
		}
	}
}

// startup hands over the parameters that only the app understands.
func (d *draft) startup() {
	text := d.entry.Startup
	switch {
	case text == nil:
		text = json.RawMessage("{}")
	case text[0] != '{':
		d.src.problem("startup", "must be a mapping (key: value)", "")
		text = json.RawMessage("{}")
	case bytes.Contains(text, []byte("${")):
		d.src.warn("startup", "${…} is not expanded here; the app gets it as it stands", "hand variables over by mcp.env")
	}
	d.app.Startup = text
}

// reservedTypes are the first words of the event types that only we emit.
var reservedTypes = []string{"tool", "lifecycle", "capability", "resource", "mcp"}

func (d *draft) events(made []string) {
	src, patterns := d.src, d.entry.Events
	if !src.has("events") && d.manifest != nil {
		src, patterns = d.manifest.src, made
	}
	for i, pattern := range patterns {
		at := fmt.Sprintf("events[%d]", i)
		if problem := patternProblem(pattern); problem != "" {
			src.problem(at, problem, "write an exact type, prefix.* or *")
		} else if first, _, _ := strings.Cut(pattern, "."); slices.Contains(reservedTypes, first) {
			src.problem(at, fmt.Sprintf("events of the kind %s.* come from Aurora only", first), "give the app's events another first word")
		} else {
			d.app.Events = append(d.app.Events, pattern)
		}
	}
}

// patternProblem says why a text is no pattern of names: exact, "prefix.*" or "*".
func patternProblem(pattern string) string {
	switch {
	case pattern == "":
		return "is empty"
	case len([]rune(pattern)) > 200:
		return "is longer than 200 characters"
	case strings.ContainsFunc(pattern, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "holds a control character"
	}
	fixed := strings.TrimSuffix(pattern, ".*")
	if pattern != "*" && (strings.Contains(fixed, "*") || fixed == "") {
		return fmt.Sprintf("%q has a * in a place where it means nothing", brief(pattern))
	}
	return ""
}

func (d *draft) roots(expand *expander) {
	c := d.entry.Capabilities
	d.app.Capabilities = Capabilities{Sampling: c.Sampling, Elicitation: c.Elicitation}
	for i, root := range c.Roots {
		full := expand.path(root, root)
		d.app.Capabilities.Roots = append(d.app.Capabilities.Roots, full)
		if !exists(full) {
			d.src.warn(fmt.Sprintf("capabilities.roots[%d]", i), "there is no folder "+full, "")
		}
	}
}

// canonical returns the one name that a tool of a package has in Aurora.
func canonical(pkg, upstream string) string {
	if strings.HasPrefix(upstream, pkg+".") {
		return upstream
	}
	return pkg + "." + upstream
}

// permissions joins what entry and manifest say about single tools.
func (d *draft) permissions(made manifestFile) {
	app := d.app
	app.Tools = map[string]ToolPermission{}
	for i, tool := range made.Commands {
		if tool.Name == "" {
			d.manifest.src.problem(fmt.Sprintf("commands[%d].name", i), "is missing", "")
			continue
		}
		name := canonical(app.Package, tool.Name)
		if slices.Contains(app.ManifestTools, name) {
			d.manifest.src.problem(fmt.Sprintf("commands[%d].name", i), fmt.Sprintf("the tool %s stands here a second time", name), "")
			continue
		}
		app.ManifestTools = append(app.ManifestTools, name)
		if tool.Risk != "" {
			app.Tools[name] = ToolPermission{Risk: tool.Risk}
		}
	}
	if d.manifest != nil {
		d.permit(d.manifest.src, made.Permissions.Tools)
	}
	d.permit(d.src, d.entry.Permissions.Tools)
}

func (d *draft) permit(src *source, tools map[string]toolEntry) {
	app := d.app
	spelled := map[string]string{}
	for _, written := range sortedKeys(tools) {
		at := "permissions.tools." + written
		if written == "" || strings.Contains(written, "*") {
			src.problemAtKey(at, "must be the name of one tool", "patterns of tools go into policy.rules of aurora.yml")
			continue
		}
		name := canonical(app.Package, written)
		if other, twice := spelled[name]; twice {
			src.problemAtKey(at, fmt.Sprintf("means the same tool as %q", other), "keep one of the two")
			continue
		}
		spelled[name] = written
		if len(app.ManifestTools) > 0 && !slices.Contains(app.ManifestTools, name) {
			if near := nearest(name, app.ManifestTools); near != "" {
				at0 := src.keys[at]
				src.report(at0, at, "the manifest lists no tool of this name", fmt.Sprintf("did you mean %q?", near), true)
			}
		}
		permission := app.Tools[name]
		entry := tools[written]
		if entry.Risk != "" {
			permission.Risk = entry.Risk
		}
		if entry.Enabled != nil {
			permission.Enabled = entry.Enabled
		}
		app.Tools[name] = permission
	}
}
