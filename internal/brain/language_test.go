package brain

import "testing"

func TestOneIsNoPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 tools", 1: "1 tool", 2: "2 tools"} {
		if got := Count(n, "tool"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
