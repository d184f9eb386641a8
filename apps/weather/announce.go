package weather

import (
	"log/slog"
	"strings"

	"github.com/aurorabot/aurora/appkit"
)

// EventReported is the type of the event that tells a report.
const EventReported = "weather.reported"

// announce tells a report as an event. It does not hold up the answer: the event
// goes out by itself once it is kept.
func announce(emitter *appkit.Emitter, r *Report, logger *slog.Logger) {
	headline, _, _ := strings.Cut(r.Text, "\n")
	err := emitter.Post(appkit.Event{Type: EventReported, Summary: headline, Data: r})
	if err != nil && logger != nil {
		logger.Warn("a report was not told as an event", "error", err)
	}
}
