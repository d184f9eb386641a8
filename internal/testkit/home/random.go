package home

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Kills is how often a test kills: more often in the long form
// (AURORA_TEST_LONG), less in the short one.
func Kills() int {
	switch {
	case os.Getenv("AURORA_TEST_LONG") != "":
		return 200
	case testing.Short():
		return 4
	}
	return 20
}

// Seed is that of AURORA_SEED, which repeats the choices of a run, or a new one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("AURORA_SEED")
	if text == "" {
		return rand.Uint64()
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("AURORA_SEED: %v", err)
	}
	return n
}
