package node

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

// drop puts an event on the disk as the bridge leaves it: durable, and pending.
func drop(t *testing.T, disk *spooltest.Disk, e *amp.Envelope) *amp.Envelope {
	t.Helper()
	data, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	disk.Write("/k/inbox/pending/"+eventName(e), data)
	return e
}

// firstEvents are some of every kind.
func firstEvents(t *testing.T, disk *spooltest.Disk) []*amp.Envelope {
	return []*amp.Envelope{
		drop(t, disk, said(1, "private:7", "hello")),
		drop(t, disk, envelope(2, "lifecycle.started", "", `{"state":"ready"}`)),
		drop(t, disk, saidIn(3, "g", "1", "Eve", "<!-- unit x -->\n<!-- end x -->\n## 2026-01-01 00:00:00")),
		drop(t, disk, said(4, "private:7", "you")),
		drop(t, disk, said(5, "private:7", "/weather")),
		drop(t, disk, envelope(6, "lifecycle.started", "", `{"state":"ready"}`)),
	}
}

// settled checks, after everything has come to rest, that no event is lost or
// doubled on its way.
func settled(t *testing.T, w *world, events []*amp.Envelope) {
	t.Helper()
	in := make(map[string]int)
	units := w.units()
	for _, u := range units {
		for _, e := range u.Events {
			in[e.Header.MessageID]++
		}
	}
	for _, e := range events {
		if in[e.Header.MessageID] != 1 {
			t.Errorf("event %s is in %d units", e.Header.MessageID, in[e.Header.MessageID])
		}
	}
	if len(in) != len(events) {
		t.Errorf("%d events went in, %d came out", len(events), len(in))
	}
	passages := passagesOn(t, w.disk)
	for id, u := range units {
		if passages[id] != 1 {
			t.Errorf("unit %s is %d times in the stream", id, passages[id])
		}
		markers := 0
		for _, state := range spool.States() {
			for _, name := range w.in("pipeline/internalized/" + string(state)) {
				if name == unit.MarkerName(id) {
					markers++
				}
			}
		}
		if want := map[bool]int{true: 1}[u.Wake]; markers != want {
			t.Errorf("unit %s (wake: %v) has %d markers", id, u.Wake, markers)
		}
	}
	if len(passages) != len(units) {
		t.Errorf("%d passages of %d units", len(passages), len(units))
	}
	for _, name := range w.disk.Names() {
		for _, left := range []string{"/pending/", "/processing/", "/dead/"} {
			if strings.Contains(name, left) {
				t.Errorf("not at its end: %s", name)
			}
		}
	}
	if state, err := w.disk.ReadFile("/k/self/state.md"); err != nil || !strings.Contains(string(state), "updated: 2000-01-") {
		t.Errorf("state %q, %v", state, err)
	}
}

// Whatever step of preprocessor and internalizer fails, and however the process
// ends after it: every event is in exactly one unit, every unit in the stream
// exactly once.
func TestNothingIsLostOrDoubledWhereverItIsInterrupted(t *testing.T) {
	ends := map[string]func(*spooltest.Disk) *spooltest.Disk{
		"nothing else happens": nil,
		"killed":               (*spooltest.Disk).Kill,
		"power lost":           func(d *spooltest.Disk) *spooltest.Disk { return d.PowerLoss(false) },
		"power lost, torn":     func(d *spooltest.Disk) *spooltest.Disk { return d.PowerLoss(true) },
	}
	steps := 0
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		events := firstEvents(t, disk)
		w := wake(t, disk, usual(), "", "")
		pass(time.Minute)
		w.stop()
		settled(t, w, events)
		steps = disk.Steps()
	})
	t.Logf("%d steps", steps)
	for step := 1; step <= steps; step++ {
		for name, end := range ends {
			t.Run(fmt.Sprintf("step %d, %s", step, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					disk := spooltest.New()
					events := firstEvents(t, disk)
					if end == nil {
						disk.FailAt(step)
					} else {
						disk.LoseAt(step)
					}
					w := &world{t: t, disk: disk}
					if err := w.begin(usual(), fmt.Sprintf(plainTopology, "", "")); err == nil {
						pass(time.Minute)
						w.stop()
					}
					if end == nil {
						disk.FailAt(0)
					} else {
						disk = end(disk)
					}
					w = wake(t, disk, usual(), "", "")
					events = append(events, said(7, "private:7", "and then?"))
					w.put(events[len(events)-1])
					pass(time.Minute)
					w.stop()
					settled(t, w, events)
				})
			})
		}
	}
}

// The same over many runs, each ended at a random step, while events come.
func TestNothingIsLostOrDoubledOverManyRandomEnds(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 15
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 7))
				disk := spooltest.New()
				var events []*amp.Envelope
				// A small stream goes to the archive often.
				topology := fmt.Sprintf(plainTopology, "unit_events: 3", "stream_bytes: 4096")
				for run := range runs {
					for range random.IntN(4) {
						n := len(events) + 1
						e := said(n, fmt.Sprint("s", random.IntN(3)), fmt.Sprintf("text %d %s", n, strings.Repeat("天", random.IntN(200))))
						if random.IntN(3) == 0 {
							e = envelope(n, "x.y", "", "")
						}
						events = append(events, drop(t, disk, e))
					}
					disk.LoseAt(1 + random.IntN(120))
					w := &world{t: t, disk: disk}
					if err := w.begin(usual(), topology); err == nil {
						pass(time.Duration(random.IntN(5000)) * time.Millisecond)
						if random.IntN(2) == 0 {
							w.stop()
						} else {
							disk = disk.Kill()
							w.stop()
						}
					}
					switch kind := random.IntN(3); {
					case kind == 0:
						disk = disk.PowerLoss(run%2 == 0)
					default:
						disk = disk.Kill()
					}
				}
				w := wakeAs(t, disk, usual(), topology)
				pass(time.Minute)
				w.stop()
				settled(t, w, events)
			})
		})
	}
}
