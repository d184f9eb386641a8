package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/testkit"
)

const oneApp = `apps:
  demo:
    mcp: {command: [aurora]}
    events: ["demo.*"]
`

// teller is an app that says things by itself.
const teller = `
tool tell
on tools/call tell
  notify aurora/event {"type":"demo.told","message_id":"${args.id}"}
  reply text told
`

// openTeller opens a house with that app.
func openTeller(t *testing.T, home string) *Daemon {
	t.Helper()
	script, err := testkit.Parse("demo", teller)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, Options{Home: home, Dialer: &memoryDialer{t: t, script: script, cancelled: make(chan struct{}, 16)}})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func shut(t *testing.T, d *Daemon) {
	t.Helper()
	if err := d.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func tell(t *testing.T, d *Daemon, id string) {
	t.Helper()
	if r := d.Call(t.Context(), control.CallRequest{Name: "demo.tell", Args: json.RawMessage(`{"id":"` + id + `"}`)}, nil); !r.OK {
		t.Fatalf("call: %+v", r)
	}
}

// listed returns what List finds.
func listed(t *testing.T, c *config.Config, f control.EventFilter, newest int) (files []control.EventFile, more bool) {
	t.Helper()
	files, more, err := Events(c).List(t.Context(), f, newest)
	if err != nil {
		t.Fatal(err)
	}
	return files, more
}

func typesOf(t *testing.T, files []control.EventFile) string {
	t.Helper()
	var types []string
	for _, f := range files {
		e, err := amp.Parse(f.Envelope)
		if err != nil {
			types = append(types, "none")
			continue
		}
		types = append(types, e.Payload.Type)
	}
	return strings.Join(types, " ")
}

func TestALifeFromItsFirstToItsLastEvent(t *testing.T) {
	home := makeHome(t, oneApp)
	d := openTeller(t, home)
	conf := d.Config()
	tell(t, d, "m-1")
	shut(t, d)
	files, _ := listed(t, conf, control.EventFilter{}, 0)
	// A call ends on its caller's goroutine, so what the app said while it ran
	// may come before or after.
	got := typesOf(t, files)
	if got != "lifecycle.started demo.told tool.completed lifecycle.stopping lifecycle.stopped" && got != "lifecycle.started tool.completed demo.told lifecycle.stopping lifecycle.stopped" {
		t.Errorf("events: %s", got)
	}
	for _, path := range []string{"data/kernel", "data/kernel/inbox", "data/kernel/inbox/pending", "data/app_data/demo"} {
		if st, err := os.Stat(filepath.Join(home, path)); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, st, err)
		}
	}
	for _, f := range files {
		if st, err := os.Stat(filepath.Join(home, "data/kernel/inbox/pending", f.File)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.File, st, err)
		}
	}

	// The next life knows the id.
	d = openTeller(t, home)
	tell(t, d, "m-1")
	shut(t, d)
	if files, _ := listed(t, conf, control.EventFilter{Types: []string{"demo.*"}}, 0); len(files) != 1 {
		t.Errorf("the event is there %d times", len(files))
	}
}

func TestAHouseForOneCommandMakesNoEvents(t *testing.T) {
	home := makeHome(t, oneApp)
	d := open(t, Options{Home: home, Dialer: refuser{}, OneShot: true})
	if _, err := d.Flow(t.Context()); err == nil {
		t.Error("it tells of events")
	}
	shut(t, d)
	if _, err := os.Stat(filepath.Join(home, "data", "kernel")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data/kernel: %v", err)
	}
}

func TestASpoolNeedsANameOfItsOwn(t *testing.T) {
	home := makeHome(t, oneApp)
	put(t, filepath.Join(home, "aurora.yml"), "amp:\n  spools:\n    turns: {}\n    My-Spool: {}\n    archive-2: {include: [\"message.*\"]}\n")
	var e *PreflightError
	_, err := Open(t.Context(), Options{Home: home, Dialer: refuser{}})
	if !errors.As(err, &e) || len(e.Problems) != 2 {
		t.Fatalf("Open: %v", err)
	}
	for i, want := range []string{"amp.spools.My-Spool", "amp.spools.turns"} {
		if p := e.Problems[i]; p.Field != want || p.File != "aurora.yml" || p.Hint == "" {
			t.Errorf("problem %+v, want one of %s", p, want)
		}
	}
}

func TestASpoolOfOnesOwnGetsWhatItWants(t *testing.T) {
	home := makeHome(t, oneApp)
	put(t, filepath.Join(home, "aurora.yml"), "brain: {enabled: false}\namp:\n  spools:\n    archive: {include: [\"demo.*\"]}\n")
	d := openTeller(t, home)
	tell(t, d, "m-1")
	shut(t, d)
	files, _ := listed(t, d.Config(), control.EventFilter{Spools: []string{"archive"}}, 0)
	if typesOf(t, files) != "demo.told" {
		t.Fatalf("in the archive: %s", typesOf(t, files))
	}
	// Its consumer has it in hand while Aurora starts again.
	dir := filepath.Join(home, "data", "kernel", "archive")
	if err := os.Rename(filepath.Join(dir, "pending", files[0].File), filepath.Join(dir, "processing", files[0].File)); err != nil {
		t.Fatal(err)
	}
	shut(t, openTeller(t, home))
	if files, _ := listed(t, d.Config(), control.EventFilter{Spools: []string{"archive"}, States: []string{"processing"}}, 0); len(files) != 1 {
		t.Error("the file was taken out of its consumer's hands")
	}
	places, err := Events(d.Config()).Find(t.Context(), "m-1")
	if err != nil || len(places) != 2 || places[0].Spool != "inbox" || places[1].Spool != "archive" || places[1].State != "processing" {
		t.Errorf("places %+v, %v", places, err)
	}
}

// degraded waits until the flow is as it should be.
func awaitFlow(t *testing.T, d *Daemon, what string, ok func(control.Flow) bool) control.Flow {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		f, err := d.Flow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok(f) {
			return f
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-limit:
			t.Fatalf("the flow never was %s: %+v", what, f)
		}
	}
}

func TestAFullSpoolIsToldEverywhere(t *testing.T) {
	home := makeHome(t, oneApp)
	put(t, filepath.Join(home, "aurora.yml"), "brain: {enabled: false}\namp: {spools: {inbox: {max_files: 1, include: [\"demo.*\"]}}}\n")
	d := openTeller(t, home)
	tell(t, d, "m-1")
	tell(t, d, "m-2")
	flow := awaitFlow(t, d, "degraded", func(f control.Flow) bool { return f.State == control.FlowDegraded && len(f.Warnings) == 2 })
	if s := flow.Spools[0]; !s.Full || s.Pending != 1 || s.Dropped != 1 || s.MaxFiles != 1 {
		t.Errorf("spool %+v", s)
	}
	if len(flow.Problems) != 1 || !strings.Contains(flow.Problems[0], `"inbox" is full (1 files wait)`) || len(flow.Warnings) != 2 {
		t.Errorf("problems %q, warnings %q", flow.Problems, flow.Warnings)
	}
	apps, err := d.Apps(t.Context())
	if err != nil || apps[0].Events == nil || apps[0].Events.Dropped != 1 || len(apps[0].Warnings) != 1 || apps[0].State != control.StateReady {
		t.Errorf("apps %+v, %v", apps, err)
	}
	said := Diagnose(t.Context(), d.Config(), apps, &control.Version{}, &flow, nil)
	i := slices.IndexFunc(said.Environment, func(c Check) bool { return c.Name == "spool inbox" })
	if i < 0 || said.OK || said.Environment[i].OK || !strings.Contains(said.Environment[i].Hint, "max_files") {
		t.Errorf("the doctor says %+v", said.Environment)
	}
	// The health file follows.
	path := filepath.Join(home, "data", "platform", "health.json")
	limit := time.After(time.Minute)
	for {
		h, err := host.ReadHealth(path)
		var house houseHealth
		if err == nil && json.Unmarshal(h.House, &house) == nil && house.Events.State == control.FlowDegraded && house.Events.Spools[0].Full {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatalf("the health file says %s (%v)", h.House, err)
		}
	}
	// Its consumer makes room.
	if _, err := d.EventAction(t.Context(), control.EventActionRequest{Action: control.Drop, Spool: "inbox", File: fileOf(t, d, "m-1")}); err != nil {
		t.Fatal(err)
	}
	if flow := awaitFlow(t, d, "ready", func(f control.Flow) bool { return f.State == control.FlowReady }); flow.Spools[0].Dropped != 1 {
		t.Errorf("what was dropped is forgotten: %+v", flow)
	}
}

func fileOf(t *testing.T, d *Daemon, id string) string {
	t.Helper()
	places, err := Events(d.Config()).Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return places[0].File
}

func TestADiskThatFailsIsToldAndMends(t *testing.T) {
	home := makeHome(t, oneApp)
	d := openTeller(t, home)
	pending := filepath.Join(home, "data", "kernel", "inbox", "pending")
	awaitFlow(t, d, "begun", func(f control.Flow) bool { return f.Spools[0].Pending == 1 })
	if err := os.Rename(pending, pending+".away"); err != nil {
		t.Fatal(err)
	}
	put(t, pending, "no folder")
	tell(t, d, "m-1")
	var said []Check
	limit := time.After(time.Minute)
	for broken := false; !broken; {
		flow, err := d.Flow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said = spoolChecks(d.Config(), &flow)
		broken = flow.State == control.FlowDegraded && flow.Spools[0].Dropped > 0
		select {
		case <-limit:
			t.Fatalf("nobody says that the disk fails: %+v", flow)
		default:
		}
	}
	if len(said) != 1 || said[0].OK || !strings.Contains(said[0].Said, "are dropped") || said[0].Hint == "" {
		t.Errorf("the doctor says %+v", said)
	}
	if r := d.Call(t.Context(), control.CallRequest{Name: "demo.tell", Args: json.RawMessage(`{"id":"m-2"}`)}, nil); !r.OK {
		t.Errorf("calls suffer: %+v", r)
	}
	if err := errors.Join(os.Remove(pending), os.Rename(pending+".away", pending)); err != nil {
		t.Fatal(err)
	}
	tell(t, d, "m-3")
	awaitFlow(t, d, "ready", func(f control.Flow) bool { return f.State == control.FlowReady && f.Spools[0].Pending > 1 })
}

func TestTheDataFolderOfAnAppIsThereWhenItStarts(t *testing.T) {
	home := makeHome(t, oneApp)
	dialer := &folderDialer{folder: filepath.Join(home, "data", "app_data", "demo")}
	d := open(t, Options{Home: home, Dialer: dialer})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dialer.folder); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AppAction(t.Context(), "demo", control.Start); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dialer.modes, []os.FileMode{0o700, 0o700}) {
		t.Errorf("modes %v", dialer.modes)
	}
}

// A folderDialer looks for a folder and refuses.
type folderDialer struct {
	folder string
	modes  []os.FileMode // one app's starts follow each other
}

func (d *folderDialer) Dial(context.Context, *config.App) (*host.Link, error) {
	st, err := os.Stat(d.folder)
	if err != nil {
		return nil, &host.Refusal{Reason: err.Error()}
	}
	d.modes = append(d.modes, st.Mode().Perm())
	return nil, &host.Refusal{Reason: refused}
}

func TestOnlyOneChangesTheSpoolsOfAHome(t *testing.T) {
	home := makeHome(t, oneApp)
	d := openTeller(t, home)
	tell(t, d, "m-1")
	awaitFlow(t, d, "written", func(f control.Flow) bool { return f.Waiting == 0 && f.Spools[0].Pending == 3 })
	r := control.EventActionRequest{Action: control.Drop, Spool: "inbox", File: fileOf(t, d, "m-1")}
	var e *call.Error
	if _, err := Events(d.Config()).Act(t.Context(), r); !errors.As(err, &e) || e.Code != call.HomeLocked {
		t.Errorf("beside a daemon: %v", err)
	}
	shut(t, d)
	if done, err := Events(d.Config()).Act(t.Context(), r); err != nil || done.Was != "pending" {
		t.Errorf("without one: %+v, %v", done, err)
	}
	if _, err := Events(d.Config()).Act(t.Context(), r); !errors.As(err, &e) || e.Code != call.EventUnknown {
		t.Errorf("again: %v", err)
	}
}
