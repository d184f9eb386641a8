package weather

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"
)

// How the geocoder of Open-Meteo matches, which shapes what is asked
// (https://open-meteo.com/en/docs/geocoding-api, and its source): a name of one
// character finds nothing, one of two finds whole names only, a longer one
// finds names that begin with it. It looks through the names in the language
// asked for and through those that belong to none. Divisions are not in its
// index, only their seats, and for each language it knows one name of a place:
// Beijing may be 北京市 and not 北京.

const (
	someResults = 20  // asked for when the name alone must tell
	manyResults = 100 // asked for when an area narrows them; the most there can be
)

// A finder looks places up by name, through a cache.
type finder struct {
	client *openMeteo
	cache  *cache[[]place]
	keep   time.Duration
	lang   Language // of the answers to the user
}

// search asks the geocoder for one name in one language.
func (f *finder) search(ctx context.Context, name, lang string, count int) ([]place, error) {
	key := fmt.Sprintf("%s\x00%s\x00%d", name, lang, count)
	return f.cache.get(ctx, key, func() ([]place, time.Time, error) {
		var answer struct {
			Results []struct {
				ID          int64    `json:"id"`
				Name        string   `json:"name"`
				Latitude    *float64 `json:"latitude"`
				Longitude   *float64 `json:"longitude"`
				FeatureCode string   `json:"feature_code"`
				CountryCode string   `json:"country_code"`
				Country     string   `json:"country"`
				Admin1      string   `json:"admin1"`
				Admin2      string   `json:"admin2"`
				Admin3      string   `json:"admin3"`
				Admin4      string   `json:"admin4"`
				TimeZone    string   `json:"timezone"`
				Population  float64  `json:"population"`
			} `json:"results"`
		}
		query := url.Values{"name": {name}, "count": {strconv.Itoa(count)}, "language": {lang}, "format": {"json"}}
		if err := f.client.get(ctx, f.client.geocoding+"/v1/search", query, &answer); err != nil {
			return nil, time.Time{}, err
		}
		places := make([]place, 0, len(answer.Results))
		for _, r := range answer.Results {
			if r.Latitude == nil || r.Longitude == nil {
				continue
			}
			places = append(places, place{
				id: r.ID, feature: r.FeatureCode, countryCode: r.CountryCode, timeZone: r.TimeZone,
				latitude: *r.Latitude, longitude: *r.Longitude, population: r.Population,
				labels: map[string]label{lang: {
					name: r.Name, areas: [4]string{r.Admin1, r.Admin2, r.Admin3, r.Admin4}, country: r.Country,
				}},
			})
		}
		return places, f.cache.now().Add(f.keep), nil
	})
}

// searchAll asks for several names in several languages at once and returns
// each place that was found once, with all its labels, in the geocoder's order.
func (f *finder) searchAll(ctx context.Context, names, langs []string, count int) ([]*place, error) {
	answers := make([][]place, len(names)*len(langs))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, name := range names {
		for j, lang := range langs {
			group.Go(func() (err error) {
				answers[i*len(langs)+j], err = f.search(groupCtx, name, lang, count)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var found []*place
	known := make(map[int64]*place)
	for _, answer := range answers {
		for i := range answer {
			p := &answer[i]
			all := known[p.id]
			if all == nil {
				all = new(place)
				*all = *p
				all.labels = make(map[string]label)
				known[p.id] = all
				found = append(found, all)
			}
			for lang, l := range p.labels {
				all.labels[lang] = l
			}
		}
	}
	return found, nil
}

// spellings returns the forms of a name to ask for, in two waves: the second is
// needed only if the first did not find a city everybody knows.
func spellings(name string) (first, second []string) {
	if !isHan(name) {
		return []string{name}, nil
	}
	short, k := stem(simplified.Replace(name))
	switch {
	case k != "":
		return []string{name, short}, nil
	case runes(name) == 2:
		return []string{name, name + "市"}, []string{name + "区", name + "县"}
	default:
		return []string{name}, nil
	}
}

// languagesFor returns the languages to ask in: the one the name is written in,
// and the user's, in which it is shown.
func (f *finder) languagesFor(name string) []string {
	written := "en"
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			written = "ja"
		case unicode.Is(unicode.Han, r) && written != "ja":
			written = "zh"
		case unicode.Is(unicode.Hangul, r):
			written = "ko"
		case unicode.Is(unicode.Cyrillic, r):
			written = "ru"
		}
	}
	if written == string(f.lang) {
		return []string{written}
	}
	return []string{written, string(f.lang)}
}

// otherHan are languages to ask in for Chinese characters that the Chinese of
// the gazetteer, which is simplified, does not know: 東京, 臺北.
var otherHan = []string{"ja", "zh-TW"}
