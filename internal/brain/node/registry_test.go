package node

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

func TestTheDefaultTopologyIsSound(t *testing.T) {
	top, err := circuit.Load(filepath.Join(t.TempDir(), "topology.yaml"), Registry(usual()))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, n := range top.Nodes {
		ids = append(ids, n.ID)
		if !n.Enabled {
			t.Errorf("%s is not enabled", n.ID)
		}
	}
	same(t, "nodes", ids, "intake", "feel", "act", "pulse", "clockwork", "undertaker")
}

// What the default topology shows in comments is known, and is the default.
func TestTheCommentedSettingsAreTheDefaults(t *testing.T) {
	text := regexp.MustCompile(`(?m)^      # ([a-z_]+:)`).ReplaceAllString(string(circuit.Default()), "      $1")
	if text == string(circuit.Default()) {
		t.Fatal("there are no comments to read")
	}
	o := usual()
	o.Heartbeat = time.Minute
	shown, err := circuit.Parse("topology.yaml", []byte(text), Registry(o))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := circuit.Parse("topology.yaml", circuit.Default(), Registry(o))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range shown.Nodes {
		if got, want := n.Settings(), plain.Nodes[i].Settings(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s shows  %+v\nand gets %+v", n.ID, got, want)
		}
	}
}

func TestEveryTypeAndKeyIsExplained(t *testing.T) {
	types := Registry(usual())
	for _, name := range types.Types() {
		k := types[name]
		if !strings.HasSuffix(k.Doc, ".") || !strings.Contains(string(circuit.Default()), "type: "+name) {
			t.Errorf("%s: %q", name, k.Doc)
		}
		for _, key := range k.Keys() {
			if !strings.HasSuffix(key.Doc, ".") || key.Default == "" {
				t.Errorf("%s: %+v", name, key)
			}
		}
	}
	defaults := map[string]string{}
	for _, key := range types["preprocessor"].Keys() {
		defaults[key.Name] = key.Default
	}
	if defaults["debounce_seconds"] != "2" || defaults["wake"] != "[message.*, alarm.*, timer.*, approval.*]" || defaults["quiet_hours"] != `""` || defaults["commands_at_once"] != "true" {
		t.Errorf("defaults %v", defaults)
	}
}

func TestTheOriginalsExampleRuns(t *testing.T) {
	_, err := circuit.Parse("topology.yaml", []byte(`
nodes:
  - {id: intake, type: message_preprocessor, watch: ["inbox/pending/event_*.json"], emit: ["pipeline/message_queue/*.json"], config: {debounce_seconds: 2}}
  - {id: feel,   type: internalizer,         watch: ["pipeline/message_queue/*.json"], emit: ["pipeline/internalized/*.json"]}
  - {id: act,    type: externalizer,         watch: ["pipeline/internalized/*.json"]}
  - {id: pulse,  type: heartbeat_generator,  emit: ["heartbeat/tick.json"], config: {interval_sec: 60}}
  - {id: clockwork, type: timer_scheduler,   watch: ["heartbeat/tick.json"], config: {rules: [{name: evening, hour: 22, minute: 0}]}}
`), Registry(Options{}))
	if err != nil {
		t.Error(err)
	}
}

func TestSettingsThatCannotBeAreTold(t *testing.T) {
	_, err := circuit.Parse("topology.yaml", []byte(`
nodes:
  - id: intake
    type: preprocessor
    emit: [pipeline/a, pipeline/b]
    config:
      wake: [message.*, "*", "mess*", "a.*.b", ""]
      quiet_hours: 8-9
      unit_events: 0
  - {id: feel, type: internalizer, watch: pipeline/a, config: {mode: model}}
  - {id: feel2, type: internalizer, watch: pipeline/b, emit: [], config: {mode: poem}}
  - {id: act, type: externalizer}
  - {id: pulse, type: heartbeat_generator, config: {interval_seconds: 0.2}}
  - id: clockwork
    type: timer_scheduler
    config:
      rules:
        - {name: a, hour: 8}
        - {name: a, minute: 8}
        - {hour: 8}
        - {name: "x/y", hour: 8, every: 1h}
        - {name: b}
        - {name: c, hour: 24}
`), Registry(Options{}))
	var invalid *circuit.Invalid
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := []string{
		`config.unit_events: must be between 1 and 10000, not "0"`,
		`config.mode: no model writes the stream in this version (write mode: template)`,
		`config.mode: must be template`,
		`config.interval_seconds: must be 0 or at least 1`,
		`config.rules[5].hour: must be between 0 and 23, not "24"`,
	}
	var got []string
	for _, p := range invalid.Problems {
		_, line, _ := strings.Cut(p.String(), `": `)
		got = append(got, line)
	}
	same(t, "problems", got, want...)
	_, err = circuit.Parse("topology.yaml", []byte(`
nodes:
  - id: intake
    type: preprocessor
    emit: [pipeline/a, pipeline/b]
    config:
      wake: [message.*, "*", "mess*", "a.*.b", ""]
      quiet_hours: 8-9
  - id: clockwork
    type: timer_scheduler
    config:
      rules:
        - {name: a, hour: 8}
        - {name: a, minute: 8}
        - {hour: 8}
        - {name: "x/y", hour: 8, every: 1h}
        - {name: b}
        - {name: c, hour: 8, type: tool.mine}
        - {name: d, hour: 8, type: "two\nlines"}
`), Registry(Options{}))
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	got = nil
	for _, p := range invalid.Problems {
		got = append(got, p.String())
	}
	same(t, "more problems", got,
		`topology.yaml:7:30: node "intake": config.wake[2]: "mess*" is not a pattern of types (a type, a family like "message.*", or "*")`,
		`topology.yaml:7:39: node "intake": config.wake[3]: "a.*.b" is not a pattern of types (a type, a family like "message.*", or "*")`,
		`topology.yaml:7:48: node "intake": config.wake[4]: "" is not a pattern of types (a type, a family like "message.*", or "*")`,
		`topology.yaml:8:20: node "intake": config.quiet_hours: "8-9" must be two times of day like 23:00-07:30`,
		`topology.yaml:14:18: node "clockwork": config.rules[1].name: there is a rule "a" already`,
		`topology.yaml:15:11: node "clockwork": config.rules[2]: has no name`,
		`topology.yaml:16:18: node "clockwork": config.rules[3].name: "x/y" is not a name (letters, digits, _ and - make one)`,
		`topology.yaml:16:41: node "clockwork": config.rules[3].every: does not go with hour and minute`,
		`topology.yaml:17:11: node "clockwork": config.rules[4]: says no time (write hour and minute, minute alone for every hour, or every: 90m)`,
		`topology.yaml:18:36: node "clockwork": config.rules[5].type: "tool.mine" is for what the platform sees (timer.NAME wakes, rhythm.NAME does not)`,
		`topology.yaml:19:36: node "clockwork": config.rules[6].type: is no type of an event (at most 200 characters in one line)`,
	)
}

func TestFault15_NothingIsMadeOnDiskBeforeTheBrainIsWanted(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if _, err := circuit.Parse("topology.yaml", circuit.Default(), Registry(usual())); err != nil {
		t.Fatal(err)
	}
	bus.New(bus.Options{Dir: filepath.Join(dir, "data", "kernel")})
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("made %v, %v", entries, err)
	}
}

func TestAnExternalizerNeedsSomebodyToTakeTurns(t *testing.T) {
	top, err := circuit.Parse("topology.yaml", circuit.Default(), Registry(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = circuit.New(circuit.Options{Topology: top, Bus: bus.New(bus.Options{Dir: t.TempDir()})})
	if err == nil || !strings.Contains(err.Error(), "node act: there is nobody to take turns") {
		t.Errorf("error %v", err)
	}
}

// Every part of the kernel is its owner's alone.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernel")
	b := bus.New(bus.Options{Dir: dir})
	s := NewStream(b, shanghai, 1<<20)
	write(t, s, "u1", time.Now(), "secret")
	if err := (&selfState{bus: b, zone: shanghai}).update(&unit.Unit{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
