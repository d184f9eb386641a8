package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/brain/trace"
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

// What a server calls its things cannot move the cursor of who presses Tab, nor
// what stands in an event that of who looks at its way.
func TestNamesOfServersAreNoEscapes(t *testing.T) {
	got, _ := beginning([]string{"im.a.x\tfine", "im.a.\x1b[2J", "im.a.\u202ey", "im.a.z\nq", "im.b.w", "im.a.天气"}, "im.a.")
	if want := []string{"im.a.x\tfine", "im.a.天气"}; !slices.Equal(got, want) {
		t.Errorf("suggested are %q, want %q", got, want)
	}
	p := &program{out: newOutput(io.Discard, io.Discard, func(string) string { return "" })}
	if text := p.traceText(&trace.Trace{ID: "a\x1b[2J", Session: "\x1b]0;x\a"}); strings.ContainsAny(text, "\x1b\a") {
		t.Errorf("shown is %q", text)
	}
}
