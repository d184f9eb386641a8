package names

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is the length in bytes from which on a name is compared by letter
// case only: nobody mistypes a name that long, and the comparison is quadratic.
const maxNear = 128

// Near returns the names among which name may have been meant, no more than
// most, the likeliest first: those that differ in letter case only, then those
// at the smallest edit distance (a swap of neighbours counts as one edit),
// equals in alphabetical order. Where names differ in letter case only, no
// others are returned: one of them was surely meant.
//
// A dotted candidate is also compared by each of its ends, so "get_wether" is
// near "im.polaris.weather.get_weather". Names that differ in more than a third
// of their letters, rounded up, are not near. The name itself is never returned.
func Near(name string, among []string, most int) []string {
	type candidate struct {
		name string
		cost int
	}
	var found []candidate
	for _, a := range among {
		if a == name || a == "" {
			continue
		}
		if cost, ok := nearness(name, a); ok {
			found = append(found, candidate{a, cost})
		}
	}
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.name, y.name))
	})
	found = slices.Compact(found)
	if len(found) > 0 && found[0].cost == 0 {
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.cost > 0 })
	}
	var out []string
	for _, c := range found {
		if len(out) >= most {
			break
		}
		out = append(out, c.name)
	}
	return out
}

// nearness returns how far candidate is from name, 0 for a difference of
// letter case, and whether that is near enough to suggest it.
func nearness(name, candidate string) (int, bool) {
	if strings.EqualFold(name, candidate) {
		return 0, true
	}
	if name == "" || len(name) > maxNear {
		return 0, false
	}
	n := []rune(strings.ToLower(name))
	best, ok := 0, false
	for end := candidate; ; {
		if len(end) <= maxNear {
			e := []rune(strings.ToLower(end))
			limit := (max(len(n), len(e)) + 2) / 3
			if d := Distance(n, e, limit); d <= limit && d < max(len(n), len(e)) {
				// Twice the distance leaves room to prefer the whole name
				// over one of its ends.
				cost := 2*d + 1
				if len(end) < len(candidate) {
					cost++
				}
				if !ok || cost < best {
					best, ok = cost, true
				}
			}
		}
		_, rest, more := strings.Cut(end, ".")
		if !more {
			return best, ok
		}
		end = rest
	}
}

// Distance returns the edit distance of a and b (insert, delete, replace, swap
// of neighbours), or some number over limit when it is over limit.
func Distance(a, b []rune, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	before := make([]int, len(b)+1) // row i-2
	last := make([]int, len(b)+1)   // row i-1
	row := make([]int, len(b)+1)    // row i
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		smallest := i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			smallest = min(smallest, row[j])
		}
		if smallest > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
