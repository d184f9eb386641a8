package appkit

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// The variables that Aurora sets for every app it starts.
const (
	envPackage  = "AURORA_APP_PACKAGE"
	envDataDir  = "AURORA_APP_DATA_DIR"
	envStartup  = "AURORA_APP_STARTUP"
	envConfig   = "AURORA_APP_CONFIG"
	envTimeZone = "AURORA_USER_TZ"
	envLanguage = "AURORA_USER_LANG"
	envEvents   = "AURORA_APP_EVENTS"
)

// An Env is what Aurora tells an app about itself and its user. Every field is
// empty when the app was not started by Aurora.
type Env struct {
	// Package is the reverse-DNS id the app is connected under
	// (AURORA_APP_PACKAGE).
	Package string
	// DataDir is the app's own folder for what it keeps
	// (AURORA_APP_DATA_DIR). Aurora creates it.
	DataDir string
	// ConfigFile is the path of the app's own configuration file
	// (AURORA_APP_CONFIG), set only when its manifest names one.
	ConfigFile string
	// TimeZone is the user's IANA zone, such as Asia/Shanghai
	// (AURORA_USER_TZ).
	TimeZone string
	// Language is the user's language tag, such as zh or en-GB
	// (AURORA_USER_LANG).
	Language string
	// EventsLater says that Aurora takes no events from this process
	// (AURORA_APP_EVENTS=later): it was started for one command only. What an
	// [Emitter] is told is kept, and goes out when Aurora runs as a whole.
	EventsLater bool

	startup string // the JSON object of AURORA_APP_STARTUP
	events  string // AURORA_APP_EVENTS
}

// ReadEnv picks Aurora's variables out of an environment of KEY=value strings.
// As in a process, the last of several equal keys counts.
func ReadEnv(environ []string) Env {
	var e Env
	fields := map[string]*string{
		envPackage:  &e.Package,
		envDataDir:  &e.DataDir,
		envStartup:  &e.startup,
		envConfig:   &e.ConfigFile,
		envTimeZone: &e.TimeZone,
		envLanguage: &e.Language,
		envEvents:   &e.events,
	}
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		if field := fields[key]; field != nil {
			*field = value
		}
	}
	e.EventsLater = e.events == "later"
	return e
}

// Startup decodes the app's startup parameters (startup: in apps/config.yml)
// into the struct that into points to. Fields that are not set keep the value
// they had, so defaults are set beforehand. Decoding is strict: an unknown key
// or a wrong type is an error that names the key, and all of them are reported
// at once. Keys are those of the json tags and are case-sensitive.
func (e Env) Startup(into any) error {
	return decodeStrict([]byte(e.startup), into, envStartup)
}

// ReadConfig decodes the JSON file that AURORA_APP_CONFIG names into the
// struct that into points to, as strictly as [Env.Startup]. Without the
// variable it does nothing.
func (e Env) ReadConfig(into any) error {
	if e.ConfigFile == "" {
		return nil
	}
	data, err := os.ReadFile(e.ConfigFile)
	if err != nil {
		return fmt.Errorf("reading the file that %s names: %w", envConfig, err)
	}
	return decodeStrict(data, into, e.ConfigFile)
}

// Location returns the user's time zone, and the local zone of the machine
// when none was told.
func (e Env) Location() (*time.Location, error) {
	if e.TimeZone == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(e.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envTimeZone, err)
	}
	return zone, nil
}
