package weather

import (
	"context"
	"slices"
)

const (
	// maxSearches bounds how often the geocoder is asked about one city, in
	// names. Names nobody knows would else be tried in every reading.
	maxSearches = 16
	// nearArea is how far from the seat of an area a place may lie and still be
	// in it, in kilometres, where the gazetteer does not tell.
	nearArea = 100
)

// A finding is what became of one reading.
type finding struct {
	place *place // the one place that is meant

	several []*place // meant equally well
	country *place   // a whole country was meant
	region  *province

	elsewhere []*place // places of that name outside the areas
	similar   []*place // places of a longer or shorter name
}

// done reports whether a reading was understood, even if it needs a question.
func (f *finding) done() bool {
	return f.place != nil || len(f.several) > 0 || f.country != nil || f.region != nil
}

// A misfitted reading is one whose place exists, but not where it should be.
type misfitted struct {
	way       reading
	elsewhere []*place
}

// A resolver finds the place behind the words for one city.
type resolver struct {
	*finder
	searches int
	langs    []string // asked in, whatever the name is written in; usually nil
}

// A resolution is the place that was found. instead is the name that was not
// found in it, when it is the city around a place the gazetteer lacks.
type resolution struct {
	place   *place
	instead string
}

// resolve returns the place that is meant. Its error is a *Problem, or one of
// the provider.
func (f *finder) resolve(ctx context.Context, city string) (resolution, error) {
	r := &resolver{finder: f}
	ways := readings(city)
	if len(ways) == 0 {
		return resolution{}, f.missing()
	}
	var similar []*place
	var misfit *misfitted
	for _, way := range ways {
		found, err := r.find(ctx, way)
		switch {
		case err != nil:
			return resolution{}, err
		case found.place != nil:
			return resolution{place: found.place}, nil
		case found.done():
			return resolution{}, f.ambiguous(city, found)
		}
		if len(found.elsewhere) > 0 && misfit == nil {
			misfit = &misfitted{way, found.elsewhere}
		}
		similar = merge(similar, found.similar)
	}
	if isHan(city) && misfit == nil && len(similar) == 0 {
		r.langs = otherHan
		found, err := r.find(ctx, ways[0])
		if err != nil {
			return resolution{}, err
		}
		if found.place != nil {
			return resolution{place: found.place}, nil
		}
		r.langs = nil
	}
	for _, way := range ways {
		around, err := r.around(ctx, way)
		if err != nil {
			return resolution{}, err
		}
		if around != nil {
			return resolution{place: around, instead: way.name}, nil
		}
	}
	return resolution{}, f.unknown(city, misfit, similar)
}

// find looks for the place of one reading.
func (r *resolver) find(ctx context.Context, way reading) (*finding, error) {
	found := new(finding)
	alone := len(way.within) == 0
	region, long, isRegion := provinceNamed(way.name)
	isRegion = isRegion && alone && !region.city
	if isRegion && long {
		found.region = &region
		return found, nil
	}
	named, similar, err := r.named(ctx, way.name, !alone)
	if err != nil {
		return nil, err
	}
	found.similar = similar
	if alone {
		if i := slices.IndexFunc(named, (*place).country); i >= 0 {
			found.country = named[i]
		}
	}
	named = slices.DeleteFunc(named, func(p *place) bool {
		return p.country() || isRegion && !p.city()
	})
	if isRegion && len(named) == 0 {
		found.region = &region
		return found, nil
	}
	if !alone && len(named) > 0 {
		within, err := r.within(ctx, named, way.within)
		if err != nil {
			return nil, err
		}
		if len(within) == 0 {
			found.elsewhere = named
		}
		named = within
	}
	if choices := rivals(named); len(choices) == 1 {
		found.place, found.country = choices[0], nil
	} else if len(choices) > 1 {
		found.several, found.country = choices, nil
	}
	return found, nil
}

// named returns the places that have a name, and those that have a similar one.
func (r *resolver) named(ctx context.Context, name string, wide bool) (named, similar []*place, err error) {
	count := someResults
	if wide {
		count = manyResults
	}
	var all []*place
	ask := func(names, langs []string) error {
		if r.searches += len(names); len(names) == 0 || runes(name) < 2 || r.searches > maxSearches {
			return nil
		}
		more, err := r.searchAll(ctx, names, langs, count)
		all = merge(all, more)
		named, similar = sift(all, name)
		return err
	}
	langs := r.langs
	if langs == nil {
		langs = r.languagesFor(name)
	}
	first, second := spellings(name)
	if err := ask(first, langs); err != nil {
		return nil, nil, err
	}
	if !wide && slices.ContainsFunc(named, (*place).capital) {
		return named, similar, nil
	}
	if err := ask(second, langs); err != nil {
		return nil, nil, err
	}
	return named, similar, nil
}

// within keeps the places that lie in all areas.
func (r *resolver) within(ctx context.Context, places []*place, areas []string) ([]*place, error) {
	for i, area := range areas {
		inside := slices.DeleteFunc(slices.Clone(places), func(p *place) bool { return !p.inArea(area) })
		if _, _, isProvince := provinceNamed(area); len(inside) == 0 && !isProvince && isHan(area) && area != "中国" {
			// The gazetteer may not say that 城关区 is in 兰州, but it lies there.
			seat, err := r.find(ctx, reading{name: area, within: areas[:i]})
			if err != nil {
				return nil, err
			}
			if seat.place != nil && seat.place.populated() {
				inside = slices.DeleteFunc(slices.Clone(places), func(p *place) bool {
					return distance(p, seat.place) > nearArea
				})
			}
		}
		places = inside
	}
	return places, nil
}

// around returns the city around a place the gazetteer does not have: for
// 兰州市城关区 it is 兰州. It returns nil if the reading gives no good reason to
// take it.
func (r *resolver) around(ctx context.Context, way reading) (*place, error) {
	last := len(way.within) - 1
	if last < 0 || !isHan(way.name) || !isHan(way.within[last]) {
		return nil, nil
	}
	area := way.within[last]
	if p, _, isProvince := provinceNamed(area); isProvince && !p.city {
		return nil, nil
	}
	if _, k := stem(fold(way.name)); way.guess && !k.belowCity() {
		return nil, nil
	}
	found, err := r.find(ctx, reading{name: area, within: way.within[:last]})
	if err != nil || found.place == nil {
		return nil, err
	}
	if p := found.place; p.city() || !way.guess && p.feature == "PPLA3" {
		return p, nil
	}
	return nil, nil
}
