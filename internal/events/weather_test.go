package events

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/apps/weather/weathertest"
)

// An app of our own tells what happened: the weather that somebody asked for
// lies in the inbox, acknowledged, and nothing is left in the app's outbox. What
// it told for one command only goes out with the next start.
func TestTheWeatherAppTellsItsReports(t *testing.T) {
	provider := weathertest.NewServer(t)
	h := newHouse(t, `apps:
  weather:
    package: im.polaris.weather
    events: ["weather.*"]
    startup: {emit_event: true, base_url: "`+provider.URL+`"}
    mcp: {command: [aurora, app, run, weather]}
`, "")
	// A command that starts the app for itself waits for nobody.
	h.Run(0, "call", "get_weather", "city=上海")
	outbox := filepath.Join(h.Dir, "data", "app_data", "weather", "outbox", "*.json")
	if kept, _ := filepath.Glob(outbox); len(kept) != 1 {
		t.Errorf("kept for later: %q", kept)
	}

	r := h.Up().Settled()
	h.Run(0, "call", "get_weather", "city=北京")
	reports := func(events []*amp.Envelope) (cities []string) {
		for _, e := range events {
			if e.Payload.Type == "weather.reported" {
				cities = append(cities, e.Payload.Summary)
			}
		}
		return cities
	}
	h.await("both reports", func(events []*amp.Envelope) bool { return len(reports(events)) == 2 })
	r.Await("the acknowledgements", func() bool {
		kept, _ := filepath.Glob(outbox)
		return len(kept) == 0
	})
	r.Stop()
	for _, e := range h.inbox() {
		if e.Payload.Type == "weather.reported" && (e.Header.Source.App != "im.polaris.weather" || !json.Valid(e.Payload.Data) || e.Payload.Summary == "") {
			t.Errorf("event %+v %s", e, e.Payload.Data)
		}
	}
}
