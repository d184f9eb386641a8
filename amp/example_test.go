package amp_test

import (
	"fmt"

	"github.com/aurorabot/aurora/amp"
)

// A consumer reads the file of one event and looks at what it knows.
func ExampleParse() {
	file := []byte(`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1",
		"timestamp":"2026-06-17T14:30:00+08:00","source":{"app":"im.polaris.weather"}},
		"payload":{"type":"weather.reported","summary":"上海 12°C","data":{"city":"上海"}}}`)
	event, err := amp.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(event.Header.Source.App, event.Payload.Type, event.Payload.Summary)
	// Output: im.polaris.weather weather.reported 上海 12°C
}

// The error of a bad event names every fault with its place.
func ExampleParse_invalid() {
	_, err := amp.Parse([]byte(`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1",
		"timestamp":"2026-06-17T14:30:00","source":{"app":"x"}},"payload":{}}`))
	fmt.Println(err)
	// Output: invalid event: header.timestamp: must be RFC 3339 with a time zone, like 2026-06-17T14:30:00+08:00, not "2026-06-17T14:30:00"; payload.type: is missing
}
