package weather

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// forecastDays is how many days are asked for, always: an answer then serves
// every question about its place.
const forecastDays = 7

// A forecast is one answer of the provider. Columns of daily may be of unequal
// length and hold nulls.
type forecast struct {
	Offset int    `json:"utc_offset_seconds"`
	Zone   string `json:"timezone"`

	Current *struct {
		Time          string   `json:"time"`
		Temperature   *float64 `json:"temperature_2m"`
		FeelsLike     *float64 `json:"apparent_temperature"`
		Humidity      *float64 `json:"relative_humidity_2m"`
		Precipitation *float64 `json:"precipitation"`
		WeatherCode   *float64 `json:"weather_code"`
		WindSpeed     *float64 `json:"wind_speed_10m"`
		WindDirection *float64 `json:"wind_direction_10m"`
	} `json:"current"`
	CurrentUnits map[string]string `json:"current_units"`

	Daily *struct {
		Time                     []string   `json:"time"`
		WeatherCode              []*float64 `json:"weather_code"`
		TemperatureMax           []*float64 `json:"temperature_2m_max"`
		TemperatureMin           []*float64 `json:"temperature_2m_min"`
		PrecipitationSum         []*float64 `json:"precipitation_sum"`
		PrecipitationProbability []*float64 `json:"precipitation_probability_max"`
	} `json:"daily"`
}

// A forecaster asks for the weather of places, through a cache.
type forecaster struct {
	client *openMeteo
	cache  *cache[*forecast]
	keep   time.Duration
}

// forecast returns the weather of a place. An answer is not kept beyond the
// place's midnight, when its first day is over.
func (f *forecaster) forecast(ctx context.Context, p *place) (*forecast, error) {
	latitude := strconv.FormatFloat(p.latitude, 'f', 4, 64)
	longitude := strconv.FormatFloat(p.longitude, 'f', 4, 64)
	return f.cache.get(ctx, latitude+","+longitude, func() (*forecast, time.Time, error) {
		query := url.Values{
			"latitude": {latitude}, "longitude": {longitude},
			"current": {"temperature_2m,relative_humidity_2m,apparent_temperature,precipitation," +
				"weather_code,wind_speed_10m,wind_direction_10m"},
			"daily": {"weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum," +
				"precipitation_probability_max"},
			"timezone": {"auto"}, "forecast_days": {strconv.Itoa(forecastDays)},
		}
		answer := new(forecast)
		if err := f.client.get(ctx, f.client.forecast+"/v1/forecast", query, answer); err != nil {
			return nil, time.Time{}, err
		}
		if answer.Current == nil && answer.Daily == nil {
			return nil, time.Time{}, &providerFault{ProviderUnavailable, true,
				errors.New("the answer holds neither current nor daily weather")}
		}
		now := f.cache.now()
		expires := now.Add(f.keep)
		if midnight := nextMidnight(now.In(answer.location())); midnight.Before(expires) {
			expires = midnight
		}
		return answer, expires, nil
	})
}

// nextMidnight returns the end of the day of t.
func nextMidnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
}

// location returns the place's time zone as the answer's offset from UTC. The
// machine's own zone database is not needed, and may be absent.
func (f *forecast) location() *time.Location { return time.FixedZone(f.Zone, f.Offset) }

// report makes a report of the first days of a forecast.
func (f *forecast) report(days int, lang Language) *Report {
	r := &Report{
		Daily:  []Day{},
		Source: openMeteoSource,
		Units: Units{
			Temperature:   f.unit("temperature_2m", "°C"),
			Humidity:      f.unit("relative_humidity_2m", "%"),
			Precipitation: f.unit("precipitation", "mm"),
			WindSpeed:     f.unit("wind_speed_10m", "km/h"),
		},
	}
	if c := f.Current; c != nil {
		r.Current = &Current{
			Time: f.moment(c.Time), Temperature: c.Temperature, FeelsLike: c.FeelsLike, Humidity: c.Humidity,
			Precipitation: c.Precipitation, WindSpeed: c.WindSpeed, WindDirection: c.WindDirection,
		}
		r.Current.WeatherCode, r.Current.Weather = code(c.WeatherCode, lang)
	}
	if d := f.Daily; d != nil {
		for i, date := range d.Time[:min(len(d.Time), days)] {
			day := Day{
				Date: date, TemperatureMax: at(d.TemperatureMax, i), TemperatureMin: at(d.TemperatureMin, i),
				PrecipitationSum: at(d.PrecipitationSum, i), PrecipitationProbability: at(d.PrecipitationProbability, i),
			}
			day.WeatherCode, day.Weather = code(at(d.WeatherCode, i), lang)
			r.Daily = append(r.Daily, day)
		}
	}
	return r
}

// unit returns the unit the provider states, or the one that was asked for.
func (f *forecast) unit(field, usual string) string {
	if stated := f.CurrentUnits[field]; stated != "" {
		return stated
	}
	return usual
}

// moment writes the provider's local time as RFC 3339. A time of another form
// is passed on.
func (f *forecast) moment(local string) string {
	t, err := time.ParseInLocation("2006-01-02T15:04", local, f.location())
	if err != nil {
		return local
	}
	return t.Format(time.RFC3339)
}

// at returns the value of a column, or nil where it has none.
func at(column []*float64, i int) *float64 {
	if i < len(column) {
		return column[i]
	}
	return nil
}

// code returns a weather code as a whole number and in words.
func code(value *float64, lang Language) (*int, string) {
	if value == nil {
		return nil, ""
	}
	n := int(*value)
	if float64(n) != *value {
		return nil, fmt.Sprint(*value)
	}
	return &n, sky(n, lang)
}
