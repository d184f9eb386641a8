package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var sizeUnits = map[string]float64{
	"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)$`)

// parseSize reads a number of bytes such as 1MiB, 64KiB, 10MB or 512B, in any
// case of letters. A bare number has no unit and is refused.
func parseSize(text string) (Size, error) {
	if text == "" {
		return 0, errors.New("is empty")
	}
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		if strings.HasPrefix(text, "-") {
			return 0, fmt.Errorf("must not be negative, as %s is", text)
		}
		return 0, fmt.Errorf("%q is not a size", text)
	}
	if m[2] == "" {
		return 0, fmt.Errorf("%q has no unit", text)
	}
	unit, known := sizeUnits[strings.ToLower(m[2])]
	if !known {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	number, err := strconv.ParseFloat(m[1], 64)
	if bytes := math.Round(number * unit); err == nil && bytes < math.MaxInt64 {
		return Size(bytes), nil
	}
	return 0, fmt.Errorf("%s is too large a size", text)
}
