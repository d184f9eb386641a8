package weather

import (
	"fmt"
	"slices"
	"strings"
)

// maxCandidates bounds the places a caller is asked to choose from.
const maxCandidates = 6

// missing is the problem of a call without a city.
func (f *finder) missing() *Problem {
	return &Problem{Code: CityMissing, Message: f.lang.pick(
		"没有城市名。请给出城市，例如“上海”或“江苏 南京”。",
		`No city was given. Name one, such as "Shanghai" or "Springfield, Illinois".`)}
}

// ambiguous asks which place is meant.
func (f *finder) ambiguous(city string, found *finding) *Problem {
	problem := &Problem{Code: CityAmbiguous}
	switch {
	case found.region != nil:
		problem.Message = fmt.Sprintf(f.lang.pick(
			"“%s”是一个省级地区，请说出具体城市，例如%s。",
			"“%s” is a whole province. Name a city in it, such as %s."), city, found.region.capital)
	case found.country != nil:
		problem.Message = fmt.Sprintf(f.lang.pick(
			"“%s”是一个国家，请说出具体城市。",
			"“%s” is a whole country. Name a city in it."), city)
	default:
		problem.Candidates = candidates(found.several, f.lang)
		problem.Message = fmt.Sprintf(f.lang.pick("有 %d 个地方叫“%s”：%s。要查哪一个？",
			"%d places are called “%s”: %s. Which one is meant?"),
			len(found.several), city, f.list(problem.Candidates, len(found.several)))
	}
	return problem
}

// unknown says that a place was not found, and what was found instead.
func (f *finder) unknown(city string, misfit *misfitted, similar []*place) *Problem {
	problem := &Problem{Code: CityUnknown}
	switch {
	case misfit != nil:
		elsewhere := rivals(misfit.elsewhere)
		problem.Candidates = candidates(elsewhere, f.lang)
		problem.Message = fmt.Sprintf(f.lang.pick("在“%s”没有找到“%s”，找到的是：%s。",
			"Found no “%[2]s” in “%[1]s”, but: %[3]s."),
			strings.Join(misfit.way.within, " "), misfit.way.name, f.list(problem.Candidates, len(elsewhere)))
	case len(similar) > 0:
		problem.Candidates = candidates(similar, f.lang)
		problem.Message = fmt.Sprintf(f.lang.pick("没有找到“%s”，相近的有：%s。",
			"Found no “%s”; similar names are: %s."), city, f.list(problem.Candidates, len(similar)))
	default:
		problem.Message = fmt.Sprintf(f.lang.pick(
			"没有找到“%s”。请检查写法，或者换成所在的城市，也可以用英文名或拼音。",
			"Found no “%s”. Check the spelling, or name the nearest larger city."), city)
	}
	return problem
}

// list writes candidates in one line; total says how many there are in all.
func (f *finder) list(shown []Candidate, total int) string {
	var names []string
	for _, c := range shown {
		names = append(names, c.describe(f.lang))
	}
	if total > len(shown) {
		names = append(names, "…")
	}
	return strings.Join(names, f.lang.pick("、", "; "))
}

// shown returns a place as the caller gets to see it.
func (p *place) shown(lang Language) Place {
	l := p.label(lang)
	return Place{
		Name: l.name, Admin1: l.areas[0], Admin2: l.areas[1], Country: l.country, CountryCode: p.countryCode,
		Latitude: p.latitude, Longitude: p.longitude, TimeZone: p.timeZone,
	}
}

// candidates returns places to choose from, each with words that find it.
func candidates(places []*place, lang Language) []Candidate {
	var list []Candidate
	for _, p := range places[:min(len(places), maxCandidates)] {
		l := p.label(lang)
		list = append(list, Candidate{Place: p.shown(lang), Query: l.query()})
	}
	return list
}

// query writes a label so that it can be asked for: 辽宁省 朝阳市 朝阳, and
// Springfield, Illinois, United States.
func (l label) query() string {
	areas := []string{l.country, l.areas[0], l.areas[1]}
	if isEastAsian(l.name) && l.areas[0] != "" {
		areas = areas[1:]
	}
	var parts []string
	for _, area := range append(areas, l.name) {
		if area != "" && !slices.Contains(parts, area) {
			parts = append(parts, area)
		}
	}
	if isEastAsian(strings.Join(parts, "")) {
		return strings.Join(parts, " ")
	}
	slices.Reverse(parts)
	return strings.Join(parts, ", ")
}
