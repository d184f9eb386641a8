package weather

import (
	"math"
	"slices"
	"strings"
)

// A place is one answer of the geocoder, with its names in the languages it
// was asked for in.
type place struct {
	id          int64
	feature     string // GeoNames feature code, such as PPLA2
	countryCode string // ISO 3166-1 alpha-2
	timeZone    string
	latitude    float64
	longitude   float64
	population  float64
	labels      map[string]label // by language
}

// A label is how a place and the areas around it are called in one language.
type label struct {
	name    string
	areas   [4]string // first to fourth administrative level; empty if unknown
	country string
}

// label returns the names in a language, and otherwise in any other.
func (p *place) label(lang Language) label {
	if l, ok := p.labels[string(lang)]; ok {
		return l
	}
	for _, other := range []string{"zh", "en", "ja", "ko", "ru", "zh-TW"} {
		if l, ok := p.labels[other]; ok {
			return l
		}
	}
	return label{}
}

// likeness returns how much the best of the place's names is like the one that
// was asked for.
func (p *place) likeness(asked string) likeness {
	best := unlike
	for _, l := range p.labels {
		best = max(best, compare(asked, l.name))
	}
	return best
}

// inArea reports whether a place is known to lie in an area, by the names of
// the areas around it.
func (p *place) inArea(area string) bool {
	if area == "中国" {
		return slices.Contains([]string{"CN", "HK", "MO", "TW"}, p.countryCode)
	}
	if p.countryCode != "" && (strings.EqualFold(area, p.countryCode) || countryCodes[fold(area)] == p.countryCode) {
		return true
	}
	_, asked := stem(fold(area))
	state := usStates[strings.ToUpper(area)]
	for _, l := range p.labels {
		if compare(area, l.country) >= variant {
			return true
		}
		for level, name := range l.areas {
			if state != "" && p.countryCode == "US" && level == 0 && name == state {
				return true
			}
			if name == "" || compare(area, name) < variant {
				continue
			}
			// 吉林市 is not the province 吉林, which has the same name.
			if province, _, ok := provinceNamed(name); level == 0 && asked == "市" && ok && !province.city {
				continue
			}
			return true
		}
	}
	return false
}

// countryCodes holds names that people use and no gazetteer has.
var countryCodes = map[string]string{
	"uk": "GB", "england": "GB", "britain": "GB", "great britain": "GB",
	"usa": "US", "america": "US", "united states of america": "US", "holland": "NL",
}

// usStates holds the postal abbreviations of the states, which are commoner in
// addresses than their names.
var usStates = map[string]string{
	"AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
	"CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho",
	"IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
	"ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
	"MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
	"NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina",
	"ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
	"RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas",
	"UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington", "WV": "West Virginia",
	"WI": "Wisconsin", "WY": "Wyoming", "DC": "District of Columbia",
}

// capital reports whether a place is the seat of a country or of its
// first-level division.
func (p *place) capital() bool { return p.feature == "PPLC" || p.feature == "PPLA" }

// city reports whether a place is at least the seat of a second-level division,
// in China a prefecture-level city.
func (p *place) city() bool { return p.capital() || p.feature == "PPLA2" }

// populated reports whether people live there, as opposed to a mountain or an
// airport.
func (p *place) populated() bool { return strings.HasPrefix(p.feature, "PPL") }

// country reports whether a place is a whole country.
func (p *place) country() bool { return strings.HasPrefix(p.feature, "PCL") }

// weight estimates how many people mean this place by its name. Populations
// are missing or small for many seats of government, above all in China, so
// that the rank of a seat gives a lower bound: there, the second level governs
// some million people and the third some hundred thousand.
func (p *place) weight() float64 {
	least := map[string]float64{"PPLC": 2e6, "PPLA": 3e5, "PPLA2": 1e5, "PPLA3": 3e4, "PPLA4": 1e4}[p.feature]
	if p.countryCode == "CN" {
		least = map[string]float64{"PPLC": 2e7, "PPLA": 3e6, "PPLA2": 1.5e6, "PPLA3": 3e5, "PPLA4": 3e4}[p.feature]
	}
	switch {
	case least > 0:
	case p.populated():
		least = 1e3
	default:
		least = 100
	}
	return math.Max(least, p.population)
}

// fits reports whether a place can be what an administrative word says: 朝阳区
// is no prefecture-level city.
func (p *place) fits(k kind) bool {
	return !k.belowCity() || !p.city()
}

// distance returns how far two places are apart, in kilometres.
func distance(p, q *place) float64 {
	const radius = 6371
	rad := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	sin := func(x float64) float64 { s := math.Sin(x / 2); return s * s }
	h := sin(rad(q.latitude-p.latitude)) +
		math.Cos(rad(p.latitude))*math.Cos(rad(q.latitude))*sin(rad(q.longitude-p.longitude))
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// sameSpot reports whether two entries of the gazetteer are one place for the
// weather: near each other, or not far apart in the same district.
func sameSpot(p, q *place) bool {
	d := distance(p, q)
	if d < 30 {
		return true
	}
	for lang, a := range p.labels {
		b, ok := q.labels[lang]
		if ok && a.areas[1] != "" && a.areas == b.areas && a.country == b.country {
			return d < 100
		}
	}
	return false
}
