package weather

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// The bounds of a call.
const (
	MaxDays        = 7
	DefaultTimeout = 15 * time.Second
)

// keepFor is how long answers of the provider are kept.
const keepFor = 10 * time.Minute

// Options configure a Service. The zero value is a Chinese service that asks
// Open-Meteo.
type Options struct {
	// Language of the reports and of the names of places; empty means Chinese.
	Language Language
	// BaseURL, if set, replaces both of the provider's addresses:
	// BaseURL/v1/search finds places and BaseURL/v1/forecast tells their
	// weather. It is for a mirror, or for recorded answers in tests.
	BaseURL string
	// Timeout bounds one call, all requests to the provider together; zero
	// means DefaultTimeout.
	Timeout time.Duration
	// HTTP sends the requests; nil means a client that honours the proxy
	// variables of the environment.
	HTTP Doer
	// Now is the clock of the cache; nil means time.Now.
	Now func() time.Time
}

// A Service tells the weather.
type Service struct {
	lang     Language
	timeout  time.Duration
	finder   *finder
	forecast *forecaster
	idle     func()
}

// NewService returns a Service. It does no work and connects to nothing.
func NewService(o Options) *Service {
	if o.Language == "" {
		o.Language = Chinese
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	client := &openMeteo{http: o.HTTP, geocoding: geocodingURL, forecast: forecastURL}
	if base := strings.TrimRight(o.BaseURL, "/"); base != "" {
		client.geocoding, client.forecast = base, base
	}
	s := &Service{
		lang: o.Language, timeout: o.Timeout, idle: func() {},
		finder:   &finder{client: client, cache: newCache[[]place](o.Now), keep: keepFor, lang: o.Language},
		forecast: &forecaster{client: client, cache: newCache[*forecast](o.Now), keep: keepFor},
	}
	if o.HTTP == nil {
		own := newHTTPClient()
		client.http, s.idle = own, own.CloseIdleConnections
	}
	return s
}

// Close lets go of idle connections. Calls under way are not hurt.
func (s *Service) Close() { s.idle() }

// Weather returns the weather of a city, now and for 1 to MaxDays days
// beginning with today; other numbers are brought into this range. city may be
// written as people write it, see README.md. The error is a *Problem unless the
// context was cancelled.
func (s *Service) Weather(ctx context.Context, city string, days int) (*Report, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	found, err := s.finder.resolve(ctx, city)
	if err != nil {
		return nil, problemOf(err, s.lang)
	}
	answer, err := s.forecast.forecast(ctx, found.place)
	if err != nil {
		return nil, problemOf(err, s.lang)
	}
	report := answer.report(min(max(days, 1), MaxDays), s.lang)
	report.Place = found.place.shown(s.lang)
	if report.Place.TimeZone == "" {
		report.Place.TimeZone = answer.Zone
	}
	report.City = report.Place.Name
	if found.instead != "" {
		report.Note = fmt.Sprintf(s.lang.pick("没有找到“%s”，这是它所在的%s的天气。",
			"Found no “%s”; this is the weather of %s around it."), found.instead, report.City)
	}
	report.Text = report.words(s.lang)
	return report, nil
}
