package cli

import (
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/control"
)

func TestLowTerminalsShowWhatIsNotReady(t *testing.T) {
	var apps []control.App
	for _, state := range []string{"ready", "unavailable", "ready", "starting", "ready"} {
		apps = append(apps, control.App{State: state})
	}
	shown, hidden := fit(apps, 3)
	var states []string
	for _, a := range shown {
		states = append(states, a.State)
	}
	if strings.Join(states, " ") != "ready unavailable starting" || hidden != 2 {
		t.Errorf("shown %q, hidden %d", states, hidden)
	}
	if shown, hidden := fit(apps, -3); len(shown) != 1 || hidden != 4 {
		t.Errorf("on no lines: %v, %d", shown, hidden)
	}
}
