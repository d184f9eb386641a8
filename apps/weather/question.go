package weather

import (
	"fmt"
	"strings"
)

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
