package short

import "testing"

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		cut        func(string, int) string
		text, want string
		n          int
	}{
		{Runes, "上海天气", "上海天气", 4},
		{Runes, "上海天气", "上海天…", 3},
		{Runes, "上海天气", "…", 0},
		{Runes, "", "", 0},
		{Runes, "abc", "abc", 3},
		{Runes, "\xff\xfe\xfd", "\xff…", 1},
		{Bytes, "上海天气", "上海天气", 12},
		{Bytes, "上海天气", "上海天…", 11},
		{Bytes, "上海天气", "…", 2},
		{Bytes, "abc", "ab…", 2},
		{Bytes, "abc", "…", -1},
		{Bytes, "", "", 0},
	} {
		if got := c.cut(c.text, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
