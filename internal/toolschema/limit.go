package toolschema

import (
	"slices"
	"strings"
)

// limit returns at most Options.Max functions, in their order, by the rule that
// Convert states (field fault C09).
func (c *converter) limit(functions []function) []function {
	if len(functions) <= c.opt.Max {
		return functions
	}
	room := c.opt.Max
	taken := make([]bool, len(functions))
	take := func(want func(f function) bool) {
		for i, f := range functions {
			if room > 0 && !taken[i] && want(f) {
				taken[i] = true
				room--
			}
		}
	}
	take(func(f function) bool { return slices.Contains(c.opt.Own, f.tool.App) })
	take(func(f function) bool { return matches(c.opt.Keep, f.tool.Canonical) })

	rest := map[string]int{} // tools of each app not taken yet
	var apps []string
	for i, f := range functions {
		if taken[i] {
			continue
		}
		if rest[f.tool.App]++; rest[f.tool.App] == 1 {
			apps = append(apps, f.tool.App)
		}
	}
	for _, app := range apps {
		if rest[app] <= room {
			take(func(f function) bool { return f.tool.App == app })
		}
	}
	for _, app := range apps {
		take(func(f function) bool { return f.tool.App == app })
	}

	out := make([]function, 0, c.opt.Max)
	for i, f := range functions {
		if taken[i] {
			out = append(out, f)
		} else {
			c.leave(f.tool, "over the limit of tools in one request")
		}
	}
	return out
}

// matches reports whether one of the patterns (a name, "prefix.*" or "*") means
// name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && (prefix == "" || strings.HasSuffix(prefix, ".")) {
			return strings.HasPrefix(name, prefix)
		}
		return p == name
	})
}
