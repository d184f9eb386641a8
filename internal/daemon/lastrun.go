package daemon

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/platform/host"
)

// lastRun reads the health file of the previous run and says how that run
// ended, if not in order: whether an app had crashed, the protocol with an app
// had failed, the brain had failed to consume, or none of it, so that Aurora
// itself was ended. It returns "" if all was well or nothing is known.
func lastRun(healthFile string) string {
	h, err := host.ReadHealth(healthFile)
	if err != nil || h.Clean {
		return ""
	}
	var crashed, failed []string
	for _, a := range h.Apps {
		switch {
		case a.State != host.Unavailable && a.State != host.Restarting:
		case a.Exit != nil:
			crashed = append(crashed, fmt.Sprintf("%s (%s)", a.Key, strings.TrimSuffix(a.Reason, ".")))
		default:
			failed = append(failed, fmt.Sprintf("%s (%s)", a.Key, strings.TrimSuffix(a.Reason, ".")))
		}
	}
	said := fmt.Sprintf("The last run (pid %d) was killed or crashed; it was last heard of at %s.", h.PID, h.Written.Local().Format("2006-01-02 15:04:05"))
	if len(crashed) > 0 {
		said += " Apps had crashed: " + strings.Join(crashed, "; ") + "."
	}
	if len(failed) > 0 {
		said += " The protocol had failed with: " + strings.Join(failed, "; ") + "."
	}
	brain := brainFaults(h.House)
	if len(brain) > 0 {
		said += " The brain had failed to consume events: " + strings.Join(brain, " ")
	}
	if len(crashed)+len(failed)+len(brain) == 0 {
		said += " All apps and the brain were well, so it was Aurora itself that was ended."
	}
	return said
}

// brainFaults returns what a health file says is wrong with the brain.
func brainFaults(house json.RawMessage) []string {
	var h houseHealth
	if len(house) == 0 || json.Unmarshal(house, &h) != nil {
		return nil // of an older Aurora
	}
	return h.Brain.Problems
}
