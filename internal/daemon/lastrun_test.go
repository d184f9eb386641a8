package daemon

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/platform/host"
)

func TestTheLastRunIsExplained(t *testing.T) {
	ready := host.Status{Key: "good", State: host.Ready}
	crashed := host.Status{Key: "weak", State: host.Restarting, Reason: "It exited with code 3.", Exit: &host.Exit{Code: 3}}
	failed := host.Status{Key: "odd", State: host.Unavailable, Reason: "It offered version 1999-01-01."}
	for _, c := range []struct {
		name string
		h    host.Health
		want []string // none: nothing is said
	}{
		{"an orderly end", host.Health{Clean: true, PID: 7, Apps: []host.Status{crashed}}, nil},
		{"Aurora was killed", host.Health{PID: 7, Apps: []host.Status{ready}}, []string{"pid 7", "All apps and the brain were well"}},
		{"an app had crashed", host.Health{PID: 7, Apps: []host.Status{ready, crashed}}, []string{"Apps had crashed: weak (It exited with code 3)"}},
		{"the protocol had failed", host.Health{PID: 7, Apps: []host.Status{failed}}, []string{"The protocol had failed with: odd (It offered"}},
		{"the brain had failed", host.Health{PID: 7, Apps: []host.Status{ready}, House: json.RawMessage(`{"brain":{"state":"degraded","problems":["The node act fails to consume: disk (3 waiting, 1 tried again)."]}}`)}, []string{"The brain had failed to consume events: The node act fails"}},
		{"what an older Aurora said of its house", host.Health{PID: 7, Apps: []host.Status{ready}, House: json.RawMessage(`[1]`)}, []string{"so it was Aurora itself"}},
		{"both", host.Health{PID: 7, Apps: []host.Status{crashed, failed}}, []string{"weak", "odd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := json.Marshal(c.h)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "health.json")
			put(t, file, string(b))
			got := lastRun(file)
			if (got == "") != (c.want == nil) {
				t.Fatalf("it says %q", got)
			}
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("it says %q, without %q", got, w)
				}
			}
		})
	}
	if got := lastRun(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("a first run says %q", got)
	}
}
