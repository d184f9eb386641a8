package weather

import "slices"

// dominance is how many times more people must mean one place than any
// other of the same name, for it to be taken without asking.
const dominance = 4

// merge adds the places that are new.
func merge(all, more []*place) []*place {
	for _, p := range more {
		if !slices.ContainsFunc(all, func(q *place) bool { return q.id == p.id }) {
			all = append(all, p)
		}
	}
	return all
}

// sift parts the places that are called by a name from those whose name only
// resembles it. If nothing is called so, places that were found under a name we
// do not see count as called so.
func sift(all []*place, name string) (named, similar []*place) {
	_, asked := stem(fold(name))
	var equals, variants, hidden []*place
	for _, p := range all {
		switch p.likeness(name) {
		case equal:
			equals = append(equals, p)
		case variant:
			if p.fits(asked) {
				variants = append(variants, p)
			}
		case partial:
			similar = append(similar, p)
		case unlike:
			hidden = append(hidden, p)
		}
	}
	switch {
	case asked != "" && len(equals) > 0: // 朝阳区 is not the city 朝阳
		return equals, similar
	case len(equals)+len(variants) > 0: // 北京 is 北京市, not the village 北京
		return append(equals, variants...), similar
	default:
		return hidden, similar
	}
}

// rivals returns the one place that most people mean, or all that may be meant:
// those not far less important than the first. Entries for one spot count once.
func rivals(places []*place) []*place {
	ordered := slices.Clone(places)
	slices.SortStableFunc(ordered, func(a, b *place) int {
		switch wa, wb := a.weight(), b.weight(); {
		case wa > wb:
			return -1
		case wa < wb:
			return 1
		default:
			return 0
		}
	})
	var choices []*place
	for _, p := range ordered {
		if len(choices) > 0 && p.weight()*dominance <= choices[0].weight() {
			break
		}
		if !slices.ContainsFunc(choices, func(q *place) bool { return sameSpot(p, q) }) {
			choices = append(choices, p)
		}
	}
	return choices
}
