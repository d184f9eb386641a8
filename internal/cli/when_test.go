package cli

import (
	"testing"
	"time"
)

func TestPointsInTimeAsPeopleWriteThem(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*60*60)
	now := time.Date(2026, 6, 17, 14, 30, 5, 0, shanghai)
	for text, want := range map[string]string{
		"10m":                       "2026-06-17T14:20:05+08:00",
		"1h30m":                     "2026-06-17T13:00:05+08:00",
		"7d":                        "2026-06-10T14:30:05+08:00",
		"1.5d":                      "2026-06-16T02:30:05+08:00",
		"1d12h":                     "2026-06-16T02:30:05+08:00",
		"0s":                        "2026-06-17T14:30:05+08:00",
		"09:05":                     "2026-06-17T09:05:00+08:00",
		"09:05:06":                  "2026-06-17T09:05:06+08:00",
		"2026-06-01":                "2026-06-01T00:00:00+08:00",
		"2026-06-01 07:08":          "2026-06-01T07:08:00+08:00",
		"2026-06-01T07:08":          "2026-06-01T07:08:00+08:00",
		"2026-06-01 07:08:09.5":     "2026-06-01T07:08:09.5+08:00",
		"2026-06-01T07:08:09Z":      "2026-06-01T07:08:09Z",
		"2026-06-01T07:08:09-05:00": "2026-06-01T07:08:09-05:00",
		" 10m ":                     "2026-06-17T14:20:05+08:00",
	} {
		got, err := parseWhen(text, now)
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %s (%v), want %s", text, got.Format(time.RFC3339Nano), err, want)
		}
	}
	if got, err := parseWhen("", now); err != nil || !got.IsZero() {
		t.Errorf("nothing is %v, %v", got, err)
	}
	for _, text := range []string{"yesterday", "-5m", "10", "d", "xd", "40000d", "2026-13-01", "25:00", "1d-2h"} {
		if got, err := parseWhen(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
