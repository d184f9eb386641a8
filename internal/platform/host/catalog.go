package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
)

// A Catalog is everything that all apps offer at one moment. It never changes.
//
// The order is that of the apps in the configuration and, within an app, by
// upstream name (resources and templates: by URI), so that the same offers
// always give the same list, also from a server that shuffles its own.
//
// Tools of an app that restarts stay listed. Those of an app that is stopped
// or given up are not, but their names still resolve, so that a call can say
// what is wrong with the app.
type Catalog struct {
	tools     []*Tool
	resources []*Resource
	templates []*Template
	prompts   []*Prompt

	byName  map[string]*Tool   // canonical
	byAlias map[string]*Tool   //
	byBare  map[string][]*Tool // without the package
	// withheld says, by canonical name and by alias, why a name has no tool.
	withheld map[string]string

	promptByName map[string]*Prompt
	promptByBare map[string][]*Prompt
	resByURI     map[string][]*Resource

	offered  map[string]int      // by key: tools in tools
	clashes  map[string][]string // by key: what is withheld, one sentence each
	warnings map[string][]string // by key: what is wrong with the lists
}

// Tools returns the tools, also those that are switched off. The slice must
// not be changed.
func (c *Catalog) Tools() []*Tool { return c.tools }

// Resources returns the resources. The slice must not be changed.
func (c *Catalog) Resources() []*Resource { return c.resources }

// Templates returns the resource templates. The slice must not be changed.
func (c *Catalog) Templates() []*Template { return c.templates }

// Prompts returns the prompts. The slice must not be changed.
func (c *Catalog) Prompts() []*Prompt { return c.prompts }

// A part is what one app contributes to the catalog. Parts never change.
type part struct {
	app       *config.App
	standing  standing
	tools     []*Tool
	resources []*Resource
	templates []*Template
	prompts   []*Prompt
	warned    warned
}

// warned holds what is wrong with each list, and which tools are spoken of that
// are not listed.
type warned struct{ tools, resources, templates, prompts, unlisted []string }

func (w *warned) all() []string {
	return slices.Concat(w.tools, w.resources, w.templates, w.prompts, w.unlisted)
}

// A standing says how far what an app once listed still counts.
type standing int

const (
	// offered: listed, and it takes part in everything.
	offered standing = iota
	// withdrawn: the app is given up. Not listed; its names stay taken, so
	// that no name changes its meaning because an app broke.
	withdrawn
	// retired: somebody stopped the app. Its names are free, and lead to it
	// only where nobody else has them.
	retired
)

// with returns p with another standing.
func (p *part) with(s standing) *part {
	if p == nil || p.standing == s {
		return p
	}
	q := *p
	q.standing = s
	return &q
}

// join puts the parts of all apps together. Nil parts are skipped.
func join(parts []*part) *Catalog {
	c := &Catalog{
		byName:       make(map[string]*Tool),
		byAlias:      make(map[string]*Tool),
		byBare:       make(map[string][]*Tool),
		withheld:     make(map[string]string),
		promptByName: make(map[string]*Prompt),
		promptByBare: make(map[string][]*Prompt),
		resByURI:     make(map[string][]*Resource),
		offered:      make(map[string]int),
		clashes:      make(map[string][]string),
		warnings:     make(map[string][]string),
	}
	var current []*part
	for _, p := range parts {
		if p != nil && p.standing != retired {
			current = append(current, p)
		}
	}
	tools := c.withoutClashes(current)
	for _, t := range tools {
		c.byName[t.Name] = t
		c.byAlias[t.Alias] = t
		c.byBare[t.bare()] = append(c.byBare[t.bare()], t)
	}
	for _, p := range current {
		for _, q := range p.prompts {
			c.addPrompt(q)
		}
		if p.standing != offered {
			continue
		}
		c.warnings[p.app.Key] = p.warned.all()
		for _, t := range p.tools {
			if c.byName[t.Name] == t {
				c.tools = append(c.tools, t)
				c.offered[p.app.Key]++
			}
		}
		c.resources = append(c.resources, p.resources...)
		c.templates = append(c.templates, p.templates...)
		for _, r := range p.resources {
			c.resByURI[r.URI] = append(c.resByURI[r.URI], r)
		}
		for _, q := range p.prompts {
			if c.promptByName[q.Name] == q {
				c.prompts = append(c.prompts, q)
			}
		}
	}
	for _, p := range parts {
		if p != nil && p.standing == retired {
			c.remember(p)
		}
	}
	return c
}

// addPrompt puts a prompt into the tables. Of two prompts with one canonical
// name neither stays; see withoutClashes for why.
func (c *Catalog) addPrompt(q *Prompt) {
	other, clash := c.promptByName[q.Name]
	if !clash {
		c.promptByName[q.Name] = q
		c.promptByBare[q.bare()] = append(c.promptByBare[q.bare()], q)
		return
	}
	why := func(mine, others *Prompt) string {
		return fmt.Sprintf("The prompt %s is withheld: %q of app %q and %q of app %q have this one name. Give one of the apps another package in apps/config.yml.",
			q.Name, mine.Upstream, mine.App.Key, others.Upstream, others.App.Key)
	}
	if other != nil {
		c.promptByName[q.Name] = nil // taken, but by nobody
		c.promptByBare[other.bare()] = slices.DeleteFunc(c.promptByBare[other.bare()], func(p *Prompt) bool { return p == other })
		c.clash(other.App.Key, why(other, q))
	} else {
		other = q
	}
	c.clash(q.App.Key, why(q, other))
}

// withoutClashes returns the tools whose canonical name and alias are theirs
// alone. Two tools with one name are both withheld: whichever was kept, some
// call would one day reach the wrong one.
func (c *Catalog) withoutClashes(parts []*part) []*Tool {
	names := make(map[string][]*Tool)
	aliases := make(map[string][]*Tool)
	for _, p := range parts {
		for _, t := range p.tools {
			names[t.Name] = append(names[t.Name], t)
			aliases[t.Alias] = append(aliases[t.Alias], t)
		}
	}
	var kept []*Tool
	for _, p := range parts {
		for _, t := range p.tools {
			switch {
			case len(names[t.Name]) > 1:
				why := fmt.Sprintf("The tool %s is withheld: %s have this one name. Give one of the apps another package in apps/config.yml.", t.Name, owners(names[t.Name]))
				c.withheld[t.Name] = why
				c.withheld[t.Alias] = why
				c.clash(t.App.Key, why)
			case len(aliases[t.Alias]) > 1:
				why := fmt.Sprintf("The tools %s are withheld: their names for models are the same, %s. Give one of the apps another package in apps/config.yml.", owners(aliases[t.Alias]), t.Alias)
				c.withheld[t.Name] = why
				c.withheld[t.Alias] = why
				c.clash(t.App.Key, why)
			default:
				kept = append(kept, t)
			}
		}
	}
	return kept
}

// clash notes once per app that something is withheld.
func (c *Catalog) clash(key, why string) {
	if !slices.Contains(c.clashes[key], why) {
		c.clashes[key] = append(c.clashes[key], why)
	}
}

// remember lets the names of a stopped app lead to it where they are free.
func (c *Catalog) remember(p *part) {
	for _, t := range p.tools {
		if c.byName[t.Name] == nil && c.withheld[t.Name] == "" {
			c.byName[t.Name] = t
		}
		if c.byAlias[t.Alias] == nil && c.withheld[t.Alias] == "" {
			c.byAlias[t.Alias] = t
		}
		if len(c.byBare[t.bare()]) == 0 {
			c.byBare[t.bare()] = []*Tool{t}
		}
	}
}

// owners names the tools of a clash: "run" of app "a" and "run" of app "b".
func owners(tools []*Tool) string {
	var b strings.Builder
	for i, t := range tools {
		switch {
		case i == 0:
		case i == len(tools)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q of app %q", t.Upstream, t.App.Key)
	}
	return b.String()
}
