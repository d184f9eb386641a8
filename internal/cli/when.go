package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseWhen reads a point in time as people write it: so long ago (10m, 2h, 7d),
// an RFC 3339 time, a local day with or without a time, or a time of today. Empty
// is the zero time.
func parseWhen(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if ago, ok := parseAgo(text); ok {
		return now.Add(-ago), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, form := range []string{"2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(form, text); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 10m, 7d, 14:30, 2026-06-17, \"2026-06-17 14:30\" or 2026-06-17T14:30:00+08:00", text)
}

// parseAgo reads a duration, for which a day is 24 hours.
func parseAgo(text string) (time.Duration, bool) {
	var days time.Duration
	if number, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 || n > 36500 {
			return 0, false
		}
		days = time.Duration(n * float64(24*time.Hour))
		if text = rest; text == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(text)
	return days + d, err == nil && d >= 0
}
