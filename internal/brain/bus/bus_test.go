package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func eventFile(id string, seq int) []byte {
	return fmt.Appendf(nil, `{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":%q,"timestamp":"2026-06-17T14:30:00Z","source":{"app":"a.b"},"aurora":{"seq":%d,"received_at":"2026-06-17T14:30:00Z"}},"payload":{"type":"x.y","session_id":"s"}}`, id, seq)
}

func TestWhatAGlobMeans(t *testing.T) {
	for glob, want := range map[string]Target{
		"inbox":                             {Queue: "inbox"},
		"inbox/":                            {Queue: "inbox"},
		"inbox/pending":                     {Queue: "inbox"},
		"inbox/pending/event_*.json":        {Queue: "inbox"},
		"inbox/*.json":                      {Queue: "inbox"},
		"pipeline/message_queue/*.json":     {Queue: "pipeline/message_queue"},
		"pipeline/message_queue/msg_*.json": {Queue: "pipeline/message_queue"},
		"pipeline/*/*.json":                 {Queue: "pipeline/*"},
		"heartbeat/tick.json":               {State: "heartbeat/tick.json"},
		"self/*.md":                         {State: "self/*.md"},
		"self/stream/now.md":                {State: "self/stream/now.md"},
	} {
		want.Glob = glob
		if got, err := ParseTarget(glob); err != nil || got != want {
			t.Errorf("%s: %+v, %v", glob, got, err)
		}
	}
	for glob, want := range map[string]string{
		"":                                   "neither a queue",
		"tick.json":                          "neither a queue",
		"inbox/done/*.json":                  "files that somebody works on or has worked on",
		"pipeline/x/processing/*.json":       "files that somebody works on",
		"inbox/pending/event_message_*.json": "taken whole",
		"inbox/a/b.json":                     "taken whole",
		"pipeline":                           "pipeline holds queues",
		"pipeline/X/*.json":                  "pipeline holds queues",
		"pipeline/**/*.json":                 "pipeline holds queues",
		"../etc/passwd.json":                 "not the name of a folder",
		"/etc/passwd.json":                   "not the name of a folder",
		"heartbeat/../x.json":                "not the name of a folder",
		"heartbeat/*/tick.json":              "not the name of a folder",
		"heartbeat/tick.txt":                 "not the name of a state file",
		"heartbeat/.tick.json":               "not the name of a state file",
		`heartbeat\tick.json`:                "neither a queue",
	} {
		if _, err := ParseTarget(glob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", glob, err, want)
		}
	}
}

func TestFault7_AStarNeverCrossesASlash(t *testing.T) {
	all, _ := ParseTarget("pipeline/*/*.json")
	if !all.HoldsQueue("pipeline/x") || all.HoldsQueue("pipeline/x/done") || all.HoldsQueue("inbox") {
		t.Error("pipeline/* is the queues right under pipeline")
	}
	state, _ := ParseTarget("heartbeat/*.json")
	if !state.HoldsState("heartbeat/tick.json") || state.HoldsState("heartbeat/old/tick.json") || state.HoldsState("tick.json") {
		t.Error("heartbeat/*.json is the files right in heartbeat")
	}
	// And a queue gives out what waits, not what is done.
	b := New(Options{Dir: "/k", Files: spooltest.New()})
	w, err := b.Watch("pipeline/x/*.json", Events)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := b.Queue("pipeline/x", Events)
	if _, err := q.Put(spool.Item{Name: "event_1.json", Data: eventFile("1", 1)}); err != nil {
		t.Fatal(err)
	}
	ev, err := w.Next(t.Context())
	if err != nil || ev.Path != "pipeline/x" || ev.Claim.Name != "event_1.json" {
		t.Fatalf("event %+v, %v", ev, err)
	}
	if err := ev.Claim.Done(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if ev, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was done: %+v, %v", ev, err)
	}
}

func TestFault5_WhatWaitsFromTheLastRunIsSeenAtTheStart(t *testing.T) {
	disk := spooltest.New()
	disk.Write("/k/inbox/pending/event_2.json", eventFile("2", 2))
	disk.Write("/k/inbox/processing/event_1.json", eventFile("1", 1))
	disk.Write("/k/heartbeat/tick.json", []byte(`{"number":41}`))
	b := New(Options{Dir: "/k", Files: disk})
	w, err := b.Watch("inbox/pending/event_*.json", Events)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"event_1.json", "event_2.json"} {
		if ev, err := w.Next(t.Context()); err != nil || ev.Claim.Name != want {
			t.Fatalf("event %+v, %v; want %s", ev, err, want)
		}
	}
	state, err := b.Watch("heartbeat/*.json", "")
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if ev, err := state.Next(t.Context()); err != nil || ev.Path != "heartbeat/tick.json" || string(ev.Data) != `{"number":41}` {
		t.Errorf("event %+v, %v", ev, err)
	}
}

func TestAWritingWakesItsWatchersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{Dir: "/k", Files: spooltest.New()})
		w, err := b.Watch("heartbeat/*.json", "")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		start := time.Now()
		got := make(chan Event)
		var wg sync.WaitGroup
		wg.Go(func() {
			ev, _ := w.Next(t.Context())
			got <- ev
		})
		synctest.Wait()
		for _, file := range []string{"self/state.md", "heartbeat/tick.json"} {
			if err := b.WriteState(file, []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		if ev := <-got; ev.Path != "heartbeat/tick.json" || string(ev.Data) != "1" || time.Since(start) != 0 {
			t.Errorf("woken by %+v after %v", ev, time.Since(start))
		}
		wg.Wait()
		// Two writings before the next look are one change, with the last content.
		_ = b.WriteState("heartbeat/tick.json", []byte("2"))
		_ = b.WriteState("heartbeat/tick.json", []byte("3"))
		if ev, err := w.Next(t.Context()); err != nil || string(ev.Data) != "3" {
			t.Errorf("event %+v, %v", ev, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if ev, err := w.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third event: %+v, %v", ev, err)
		}
	})
}

func TestFault6_AReaderSeesTheOldStateOrTheNewOne(t *testing.T) {
	dir := t.TempDir()
	b := New(Options{Dir: dir})
	text := func(n int) []byte {
		data, _ := json.Marshal(strings.Repeat(fmt.Sprint(n%10), 200_000))
		return data
	}
	if err := b.WriteState("self/state.json", text(0)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				data, err := os.ReadFile(filepath.Join(dir, "self", "state.json"))
				if err != nil || !json.Valid(data) {
					t.Errorf("read %d bytes, %v", len(data), err)
					return
				}
			}
		})
	}
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			for range 5 {
				if err := b.WriteState("self/state.json", text(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	wg.Wait()
	if info, err := os.Stat(filepath.Join(dir, "self", "state.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file: %v, %v", info.Mode(), err)
	}
}

// Whatever step fails and whether or not the power goes: the state is the old
// one or the new one, and the new one once WriteState said so.
func TestStateSurvivesADiskThatFailsAnywhere(t *testing.T) {
	prepare := func() *spooltest.Disk {
		disk := spooltest.New()
		disk.Write("/k/self/state.md", []byte("old"))
		disk.Write("/k/self/.state.md.tmp", []byte("of an earlier run"))
		return disk
	}
	dry := prepare()
	if err := New(Options{Dir: "/k", Files: dry}).WriteState("self/state.md", []byte("new")); err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= dry.Steps()+1; step++ {
		disk := prepare()
		disk.LoseAt(step)
		err := New(Options{Dir: "/k", Files: disk}).WriteState("self/state.md", []byte("new"))
		for name, after := range map[string]*spooltest.Disk{"killed": disk.Kill(), "power lost": disk.PowerLoss(false)} {
			b := New(Options{Dir: "/k", Files: after})
			got, readErr := b.ReadState("self/state.md")
			if readErr != nil || string(got) != "new" && (err == nil || string(got) != "old") {
				t.Errorf("step %d, %s: %q, %v; writing said %v", step, name, got, readErr, err)
			}
			if err := b.WriteState("self/state.md", []byte("newer")); err != nil {
				t.Errorf("step %d, %s: %v", step, name, err)
			}
		}
	}
}

func TestPlacesThatAreNone(t *testing.T) {
	b := New(Options{Dir: "/k", Files: spooltest.New()})
	for _, path := range []string{"", "inbox/*.json", "pipeline/*", "../x", "heartbeat/tick.json"} {
		if _, err := b.Queue(path, Events); err == nil {
			t.Errorf("opened a queue %q", path)
		}
	}
	for _, path := range []string{"", "inbox", "heartbeat/*.json", "../x.json", "heartbeat/../../x.json"} {
		if err := b.WriteState(path, nil); err == nil {
			t.Errorf("wrote a state file %q", path)
		}
		if _, err := b.ReadState(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read a state file %q: %v", path, err)
		}
	}
	if _, err := b.Watch("pipeline/*/*.json", Units); err == nil {
		t.Error("watched all queues at once")
	}
	if _, err := b.Queue("pipeline/x", Units); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Queue("pipeline/x", Events); err == nil {
		t.Error("a queue of units was opened as one of events")
	}
}

func TestADroppedUnitIsFoundAndABrokenOneSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		inbox, err := spool.Open("/k/inbox", spool.Options{Files: disk, Inspect: unit.InspectEvent})
		if err != nil {
			t.Fatal(err)
		}
		b := New(Options{Dir: "/k", Files: disk, Inbox: inbox})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { b.Run(ctx) })
		synctest.Wait()
		w, err := b.Watch("pipeline/x/*.json", Events) // opened while the bus runs
		if err != nil {
			t.Fatal(err)
		}
		disk.Write("/k/pipeline/x/pending/hand.json", eventFile("1", 1))
		disk.Write("/k/pipeline/x/pending/broken.json", []byte(`{"header":`))
		disk.Write("/k/inbox/pending/hand.json", eventFile("1", 1)) // its opener looks, not we
		if ev, err := w.Next(ctx); err != nil || ev.Claim.Name != "hand.json" {
			t.Fatalf("event %+v, %v", ev, err)
		}
		time.Sleep(10 * time.Second)
		if !slices.Contains(disk.Names(), "/k/pipeline/x/dead/broken.json") {
			t.Errorf("files: %v", disk.Names())
		}
		if inbox.Waiting() != 0 {
			t.Error("the bus looked through a queue that is not its own")
		}
		stop()
		wg.Wait()
	})
}
