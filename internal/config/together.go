package config

import (
	"fmt"
	"slices"
	"strings"
)

// checkTogether finds what is wrong between apps that run: one package for two,
// one tool name for two, keys that are one folder on some systems. Both apps have
// the problem, because nobody can tell which one is meant.
func (r *reader) checkTogether() {
	var running []*draft
	for _, d := range r.drafts {
		if d.app.Disabled == "" {
			running = append(running, d)
		}
	}
	for i, a := range running {
		for _, b := range running[i+1:] {
			if a.app.Package == b.app.Package {
				const hint = "give one of them another package, or disable it"
				r.both(a, b, "package", fmt.Sprintf("the package %s belongs to app %%q too", a.app.Package), hint)
				continue
			}
			for _, name := range a.app.ManifestTools {
				if slices.Contains(b.app.ManifestTools, name) {
					r.both(a, b, "package", fmt.Sprintf("the tool %s belongs to app %%q too", name), "give one of them another package, or disable it")
				}
			}
		}
	}
	for i, a := range r.drafts {
		for _, b := range r.drafts[i+1:] {
			if strings.EqualFold(a.key, b.key) {
				r.both(a, b, "", "the key differs from that of app %q in letter case only", "some systems would give both the same data folder")
			}
		}
	}
}

// both reports a problem of two apps; message has a place for the other one's key.
func (r *reader) both(a, b *draft, field, message, hint string) {
	for _, pair := range [][2]*draft{{a, b}, {b, a}} {
		d, other := pair[0], pair[1]
		d.src.problem(field, fmt.Sprintf(message, other.key), hint)
	}
}
