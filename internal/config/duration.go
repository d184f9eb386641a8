package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

var durationPart = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)`)

// parseDuration reads a time such as 10s, 5m, 7d, 1h30m, 250ms or 1.5h. A bare
// number is taken as seconds where the key says so; a bare 0 always.
func parseDuration(text string, seconds bool) (time.Duration, error) {
	if number, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		switch {
		case math.IsNaN(number) || !strings.ContainsAny(text, "0123456789") || strings.ContainsAny(text, "xXpP_"):
			return 0, fmt.Errorf("%q is not a time", text)
		case number < 0:
			return 0, fmt.Errorf("must not be negative, as %s is", text)
		case number != 0 && !seconds:
			return 0, fmt.Errorf("%q has no unit", text)
		}
		return scaled(number, time.Second, text)
	}
	var total time.Duration
	rest := text
	for rest != "" {
		m := durationPart.FindStringSubmatch(rest)
		if m == nil {
			if strings.HasPrefix(text, "-") {
				return 0, fmt.Errorf("must not be negative, as %s is", text)
			}
			return 0, fmt.Errorf("%q is not a time", text)
		}
		number, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, fmt.Errorf("%s is too long a time", text)
		}
		part, err := scaled(number, durationUnits[m[2]], text)
		if err != nil {
			return 0, err
		}
		if total += part; total < 0 {
			return 0, fmt.Errorf("%s is too long a time", text)
		}
		rest = rest[len(m[0]):]
	}
	if text == "" {
		return 0, errors.New("is empty")
	}
	return total, nil
}

// scaled returns number units, rounded to the nanosecond.
func scaled(number float64, unit time.Duration, text string) (time.Duration, error) {
	product := math.Round(number * float64(unit))
	if product >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is too long a time", text)
	}
	return time.Duration(product), nil
}

// durationHint says how to write a time that was not understood.
func durationHint(text string, seconds bool) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && !seconds && !strings.HasPrefix(text, "-") {
		return fmt.Sprintf("write %ss, or another of the units ms, s, m, h, d", text)
	}
	if seconds {
		return "write seconds such as 30 or 0.5, or a time such as 5m"
	}
	return "write a time such as 10s, 5m, 1h30m or 7d"
}
