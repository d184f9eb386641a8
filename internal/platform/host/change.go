package host

import (
	"encoding/json"
	"strings"
)

// maxNames bounds the names of one kind in a [Change].
const maxNames = 100

// A Change is the difference between two readings of a list.
type Change struct {
	// List is tools, resources or prompts. Templates are among the resources.
	List string
	// Added, Removed and Changed name what differs, in order: canonical names of
	// tools and prompts, URIs of resources, URI templates. Each holds at most
	// 100 names.
	Added, Removed, Changed []string
	// Omitted is how many more there are.
	Omitted int
}

// signalChanges tells of the lists in changed, one signal each.
func (a *app) signalChanges(old, now *part, changed lists) {
	if a.host.opt.Observe == nil {
		return
	}
	for _, method := range changed.methods() {
		c := &Change{List: strings.TrimSuffix(strings.TrimPrefix(method, "notifications/"), "/list_changed")}
		switch listChanged[method] {
		case listTools:
			compare(c, old.tools, now.tools, func(t *Tool) string { return t.Name })
		case listResources:
			compare(c, old.resources, now.resources, func(r *Resource) string { return r.URI })
			compare(c, old.templates, now.templates, func(t *Template) string { return t.URITemplate })
		case listPrompts:
			compare(c, old.prompts, now.prompts, func(p *Prompt) string { return p.Name })
		}
		a.signal(Signal{Kind: SignalChanged, Method: method, Change: c})
	}
}

// compare adds to c what differs between two lists of one kind. Items that did
// not change are the same pointers, because decodeList keeps them.
func compare[T any](c *Change, old, now []*T, name func(*T) string) {
	before := make(map[string]*T, len(old))
	for _, t := range old {
		before[name(t)] = t
	}
	for _, t := range now {
		was, known := before[name(t)]
		delete(before, name(t))
		switch {
		case !known:
			c.note(&c.Added, name(t))
		case was != t:
			c.note(&c.Changed, name(t))
		}
	}
	for _, t := range old {
		if before[name(t)] == t {
			c.note(&c.Removed, name(t))
		}
	}
}

func (c *Change) note(names *[]string, name string) {
	if len(*names) >= maxNames {
		c.Omitted++
		return
	}
	*names = append(*names, name)
}

// serverInfo returns that member of an initialize result as it was sent.
func serverInfo(result json.RawMessage) json.RawMessage {
	f, err := parseFields(result)
	if err != nil {
		return nil // it was read before
	}
	info, _ := f.object("serverInfo") // one that is none says nothing
	return info
}
