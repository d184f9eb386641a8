package circuit

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/aurorabot/aurora/internal/brain/bus"
)

var update = flag.Bool("update", false, "write the problems into testdata")

// quietSettings are those of a type of the test.
type quietSettings struct {
	Schedule
	Interval time.Duration `yaml:"interval_seconds,interval_sec" min:"1s" max:"1d"`
	Age      time.Duration `yaml:"max_age"`
	Wake     []string      `yaml:"wake"`
	Mode     string        `yaml:"mode"`
	Loud     bool          `yaml:"loud"`
	Rules    []struct {
		Name   string `yaml:"name"`
		Hour   *int   `yaml:"hour" min:"0" max:"23"`
		Minute int    `yaml:"minute" min:"0" max:"59"`
	} `yaml:"rules"`
}

func (s *quietSettings) Check(c *Config) {
	if s.Mode == "model" {
		c.Problem("mode", `"model" is not there yet`, "write template")
	}
	for i, r := range s.Rules {
		if r.Name == "" {
			c.Problem("rules["+string(rune('0'+i))+"].name", "is missing", "")
		}
	}
}

func settings() any {
	return &quietSettings{Schedule: Schedule{Concurrency: 2, Attempts: 3}, Interval: time.Minute}
}

type idleNode struct{}

func (idleNode) Handle(context.Context, *Job) error { return nil }

// types are like the real ones.
func types() Registry {
	idle := func(*Config) (Node, error) { return idleNode{}, nil }
	return Registry{
		"preprocessor": {Takes: bus.Events, Gives: bus.Units, Watch: []string{"inbox/pending/event_*.json"},
			Emit: []string{"pipeline/message_queue/*.json"}, Settings: settings, New: idle, Aliases: []string{"message_preprocessor"}},
		"internalizer": {Takes: bus.Units, Gives: bus.Units, Last: true, Watch: []string{"pipeline/message_queue/*.json"},
			Emit: []string{"pipeline/internalized/*.json"}, New: idle, Settings: settings},
		"externalizer":        {Takes: bus.Units, Watch: []string{"pipeline/internalized/*.json"}, New: idle},
		"heartbeat_generator": {Source: true, State: true, Emit: []string{"heartbeat/tick.json"}, New: idle, Settings: settings},
		"timer_scheduler": {State: true, Source: true, Gives: bus.Events, Watch: []string{"heartbeat/tick.json"},
			Emit: []string{"inbox/pending/event_*.json"}, New: idle, Settings: settings},
		"dead_letter_router": {Looks: true, Source: true, Gives: bus.Events, Last: true, Watch: []string{"inbox/*.json", "pipeline/*/*.json"}, New: idle},
		"follower":           {State: true, Watch: []string{"heartbeat/tick.json"}, New: idle},
	}
}

// Each file of testdata is a topology and what is wrong with it.
func TestProblemsAreToldWithTheirPlace(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse("topology.yaml", a.Files[0].Data, types())
			got := "none\n"
			if err != nil {
				got = err.Error() + "\n"
			}
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "problems", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if len(a.Files) < 2 || string(a.Files[1].Data) != got {
				t.Errorf("problems:\n%s", got)
			}
		})
	}
}

func TestSettingsAreRead(t *testing.T) {
	_, err := Parse("topology.yaml", []byte(`
nodes:
  - id: intake
    type: message_preprocessor
    emit: pipeline/q/*.json
    config: {interval_sec: 0x10, wake: message.*, loud: true, max_age: 7d, concurrency: 9}
`), types())
	var invalid *Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
		t.Fatalf("error %v", err)
	}
	top, err := Parse("topology.yaml", []byte(`
nodes:
  - id: intake
    type: message_preprocessor
    emit: pipeline/q/*.json
    config: {interval_sec: 1.5, wake: message.*, loud: true, max_age: 7d, concurrency: 9, rules: [{name: a, hour: 0}, {name: b}]}
  - {id: feel, type: internalizer, watch: pipeline/q, emit: [], config: {interval_seconds: 90s}}
  - {id: off, type: externalizer, enabled: false}
`), types())
	if err != nil {
		t.Fatal(err)
	}
	s := top.Nodes[0].config.Settings.(*quietSettings)
	if s.Interval != 1500*time.Millisecond || s.Age != 7*24*time.Hour || len(s.Wake) != 1 || !s.Loud ||
		s.Schedule != (Schedule{9, 3}) || *s.Rules[0].Hour != 0 || s.Rules[1].Hour != nil {
		t.Errorf("settings %+v", s)
	}
	if top.Nodes[0].Type != "preprocessor" || top.Nodes[2].Enabled {
		t.Errorf("nodes %+v", top.Nodes)
	}
	if s := top.Nodes[1].config.Settings.(*quietSettings); s.Interval != 90*time.Second {
		t.Errorf("settings %+v", s)
	}
}

func TestEdges(t *testing.T) {
	top, err := Parse("topology.yaml", []byte(`
nodes:
  - {id: a, type: preprocessor}
  - {id: b, type: internalizer, emit: []}
  - {id: h, type: heartbeat_generator}
  - {id: t, type: timer_scheduler}
  - {id: d, type: dead_letter_router}
`), types())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range top.Edges() {
		line := e.From + ">" + e.To + " " + e.Through
		if e.Looks {
			line += " looks"
		}
		lines = append(lines, line)
	}
	want := []string{
		">a inbox", ">d inbox looks", "a>b pipeline/message_queue", "a>d pipeline/message_queue looks",
		"h>t heartbeat/tick.json", "t>a inbox", "t>d inbox looks",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("edges\n%s", strings.Join(lines, "\n"))
	}
}

func FuzzTopology(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		if a, err := txtar.ParseFile(name); err == nil {
			f.Add(a.Files[0].Data)
		}
	}
	f.Add(Default())
	known := types()
	f.Fuzz(func(t *testing.T, data []byte) {
		top, err := Parse("t.yaml", data, known)
		var invalid *Invalid
		if err != nil && (!errors.As(err, &invalid) || len(invalid.Problems) == 0 || top != nil) {
			t.Fatalf("error %v with %+v", err, top)
		}
		if err == nil {
			top.Edges()
			if len(top.Nodes) == 0 {
				t.Fatal("a topology without nodes is sound")
			}
		}
	})
}

func TestADashIsNoArrowInADrawing(t *testing.T) {
	if a, b, c := drawn("a--b"), drawn("a_b"), drawn("a_db"); strings.Contains(a, "-") || a == b || b == c || drawn("intake") != "n_intake" {
		t.Errorf("%s, %s, %s", a, b, c)
	}
}
