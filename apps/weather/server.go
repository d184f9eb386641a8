package weather

import (
	"bytes"
	"context"
	_ "embed" // for the manifest
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/appkit"
	"github.com/google/jsonschema-go/jsonschema"
)

// Who the app is.
const (
	Package = "im.polaris.weather"
	Key     = "aurora-app-weather" // in apps/config.yml
	Version = "0.2.0"
)

//go:embed manifest.yaml
var manifest []byte

// Manifest returns the app's manifest.yaml.
func Manifest() []byte { return bytes.Clone(manifest) }

// Run serves the app on the streams of a process, with the settings of its
// environment. It returns nil when the input ends, a signal arrives or ctx is
// done.
func Run(ctx context.Context, process appkit.Process) error {
	settings, err := readSettings(process.Env())
	if err != nil {
		return fmt.Errorf("app %s: %w", Package, err)
	}
	service := NewService(settings.options())
	defer service.Close()
	var emitter *appkit.Emitter
	if settings.EmitEvent {
		emitter = process.NewEmitter(Package)
	}
	return process.Serve(ctx, App(service, settings, emitter, process.Logger()))
}

// question holds the arguments of get_weather.
type question struct {
	City string `json:"city" appkit:"maxLength=100"`
	Days int    `json:"days,omitempty" appkit:"min=1,max=7,default=1"`
}

// App returns the MCP server of a service. Its language is that of the
// settings, as is the service's. emitter tells every report as an event, unless
// it is nil. logger is told why the provider failed; nil means that nobody is.
func App(service *Service, settings Settings, emitter *appkit.Emitter, logger *slog.Logger) *appkit.App {
	lang := Language(settings.Language)
	get := appkit.NewTool(appkit.ToolInfo{
		Name:  "get_weather",
		Title: lang.pick("查询天气", "Get weather"),
		Description: lang.pick(
			"查询一个城市现在的天气和未来 1 到 7 天的预报。重名的地方会返回候选，请加上省份或国家再查。",
			"Tells the weather of a city now and the forecast for 1 to 7 days. "+
				"For a name that several places share it returns candidates: ask again with the province, state or country."),
		Hints:     &appkit.Hints{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Arguments: func(schema *jsonschema.Schema) { describeArguments(schema, lang, settings.DefaultCity) },
	}, func(ctx context.Context, q question) (string, *Report, error) {
		if strings.TrimSpace(q.City) == "" {
			q.City = settings.DefaultCity
		}
		report, err := service.Weather(ctx, q.City, q.Days)
		var problem *Problem
		switch {
		case errors.As(err, &problem):
			if problem.Cause != nil && logger != nil {
				logger.Warn("no weather", "code", problem.Code, "cause", problem.Cause)
			}
			return "", nil, problem.failure()
		case err != nil:
			return "", nil, err
		}
		if emitter != nil {
			announce(emitter, report, logger)
		}
		return report.Text, report, nil
	})
	return &appkit.App{
		Package: Package,
		Title:   lang.pick("天气应用", "Weather"),
		Version: Version,
		Instructions: lang.pick("查询城市天气和预报，数据来自 Open-Meteo。",
			"Weather and forecasts of cities, with data from Open-Meteo."),
		Tools:   []appkit.Tool{get},
		Emitter: emitter,
		Logger:  logger,
	}
}

// describeArguments tells a model how to name a city. With a default city the
// argument is optional.
func describeArguments(schema *jsonschema.Schema, lang Language, defaultCity string) {
	city := schema.Properties["city"]
	city.Description = lang.pick(
		"城市名，可带省份或国家，例如“上海”“江苏 南京”“Paris, France”。",
		`Name of the city, with province, state or country if need be, such as "Shanghai" or "Springfield, Illinois".`)
	if defaultCity != "" {
		city.Description += fmt.Sprintf(lang.pick("不填则查询%s。", " Left out, it is %s."), defaultCity)
		schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == "city" })
	}
	schema.Properties["days"].Description = lang.pick(
		"预报天数，从今天算起，1 到 7。", "Days of the forecast, beginning with today, from 1 to 7.")
}

// failure gives a problem the form that callers of the tool get.
func (p *Problem) failure() *appkit.Failure {
	failure := appkit.Fail(string(p.Code), p.Message, p.Retryable)
	if len(p.Candidates) > 0 {
		failure.Data = struct {
			Candidates []Candidate `json:"candidates"`
		}{p.Candidates}
	}
	return failure
}
