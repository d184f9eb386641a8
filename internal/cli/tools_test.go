package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/control"
)

func TestWhatWasLeftOutIsSaidOnceForEachReason(t *testing.T) {
	if lines := leftOut(nil); len(lines) > 0 {
		t.Errorf("nothing was left out, and it says %q", lines)
	}
	few := []control.Left{{Name: "a.x", Reason: "too many"}, {Name: "b.y", Reason: "no name"}, {Name: "a.z", Reason: "too many"}}
	if lines, want := leftOut(few), []string{"left out a.x, a.z: too many", "left out b.y: no name"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	var many []control.Left
	for i := range 10_000 {
		many = append(many, control.Left{Name: fmt.Sprintf("a.t%d", i), Reason: "too many"})
	}
	lines := leftOut(many)
	if len(lines) != 1 || !strings.HasSuffix(lines[0], ", a.t19 and 9980 more: too many") {
		t.Errorf("got %q", lines)
	}
}
