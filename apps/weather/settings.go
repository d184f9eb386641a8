package weather

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aurorabot/aurora/appkit"
)

// Settings are the app's startup parameters (startup: in apps/config.yml).
type Settings struct {
	// DefaultCity, if set, is the city that is meant when none is named; the
	// argument city is then optional.
	DefaultCity string `json:"default_city"`
	// Language is zh or en; empty means the user's language, and Chinese if
	// that is not known.
	Language string `json:"language"`
	// BaseURL, if set, is asked instead of both of Open-Meteo's addresses:
	// <base_url>/v1/search and <base_url>/v1/forecast.
	BaseURL string `json:"base_url"`
	// EmitEvent says whether each report is also told as the event
	// weather.reported.
	EmitEvent bool `json:"emit_event"`
	// TimeoutSeconds bounds one call, from 1 to 120; the default is 15.
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

// readSettings returns the settings an app was started with. The error names
// every fault.
func readSettings(env appkit.Env) (Settings, error) {
	s := Settings{TimeoutSeconds: DefaultTimeout.Seconds()}
	err := env.Startup(&s)
	s.DefaultCity = strings.TrimSpace(s.DefaultCity)
	fault := func(format string, args ...any) {
		err = errors.Join(err, fmt.Errorf("startup: "+format, args...))
	}
	if s.Language == "" {
		s.Language = string(languageOf(env.Language))
	}
	if s.Language != string(Chinese) && s.Language != string(English) {
		fault("language: must be zh or en, not %q", s.Language)
	}
	if u, parseErr := url.Parse(s.BaseURL); s.BaseURL != "" &&
		(parseErr != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "") {
		fault("base_url: must be an http or https address without a query, such as http://127.0.0.1:8080")
	}
	if s.TimeoutSeconds < 1 || s.TimeoutSeconds > 120 {
		fault("timeout_seconds: must be from 1 to 120, not %g", s.TimeoutSeconds)
	}
	return s, err
}

// options returns the options of the service for these settings.
func (s Settings) options() Options {
	return Options{
		Language: Language(s.Language), BaseURL: s.BaseURL,
		Timeout: time.Duration(s.TimeoutSeconds * float64(time.Second)),
	}
}
