package node

import (
	"fmt"
	"strings"
	"time"
)

// quietHours are a part of every day. The zero value is none of it.
type quietHours struct {
	from, to time.Duration // since midnight by the clock on the wall
	zone     *time.Location
}

// parseQuiet reads hours such as 23:00-07:30; empty text is none.
func parseQuiet(text string, zone *time.Location) (quietHours, error) {
	if strings.TrimSpace(text) == "" {
		return quietHours{}, nil
	}
	from, to, ok := strings.Cut(text, "-")
	var q quietHours
	var err, err2 error
	q.from, err = wallTime(from)
	q.to, err2 = wallTime(to)
	if !ok || err != nil || err2 != nil {
		return quietHours{}, fmt.Errorf("%q must be two times of day like 23:00-07:30", text)
	}
	if q.from == q.to {
		return quietHours{}, fmt.Errorf("%q begins when it ends", text)
	}
	q.zone = zone
	return q, nil
}

// wallTime reads a time of day, 00:00 to 24:00.
func wallTime(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0, err
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// holds reports whether at is within the hours.
func (q quietHours) holds(at time.Time) bool {
	if q.zone == nil {
		return false
	}
	at = at.In(q.zone)
	now := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
	if q.from < q.to {
		return q.from <= now && now < q.to
	}
	return q.from <= now || now < q.to // over midnight
}
