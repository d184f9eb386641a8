package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/control"
)

func TestTheLiveTable(t *testing.T) {
	// Given apps in all states,
	begin := time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	v := &upView{out: &output{terminal: true, noColor: true}, begin: begin}
	text := v.rows([]control.App{
		{Key: "good", State: "ready", Tools: 1, Reason: "It is well.", Since: at(52)},
		{Key: "沉默", State: "restarting", Reason: "initialize timed out\nafter 10s", Since: at(10_040)},
		{Key: "off", State: "disabled", Since: at(0)},
		{Key: "evil\x1b[2J", State: "unavailable", Reason: "no\rway", Since: at(3)},
	}, 0)
	// then each has a line with its state, its tools, its time and what is wrong.
	want := `✓  good         ready        1 tool  52 ms
✗  沉默         restarting           10.0 s  initialize timed out
-  off          disabled             0 ms
✗  evil\x1b[2J  unavailable          3 ms    no\rway
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestTheSummaryCountsWhatShouldRun(t *testing.T) {
	v := &upView{out: &output{}}
	for states, want := range map[string]string{
		"ready":                      "1 of 1 app ready. ",
		"ready degraded disabled":    "2 of 2 apps ready. ",
		"ready unavailable starting": "1 of 3 apps ready; `aurora doctor`",
	} {
		var apps []control.App
		for _, s := range strings.Fields(states) {
			apps = append(apps, control.App{State: s})
		}
		if got := v.summary(apps); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", states, got, want)
		}
	}
}

func TestWhomTheEndWaitsFor(t *testing.T) {
	v := &upView{out: &output{}}
	got := v.waiting([]control.App{{Key: "a"}, {Key: "b", PID: 7}, {Key: "c", PID: 8}}, 0)
	if got != "⠋ waiting for b, c\n" {
		t.Errorf("got %q", got)
	}
	if got := v.waiting([]control.App{{Key: "a"}}, 0); got != "" {
		t.Errorf("got %q for nobody", got)
	}
}

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
