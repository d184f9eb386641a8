package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

const clockTopology = plainTopologyHead + `
  - {id: pulse, type: heartbeat_generator}
  - {id: clockwork, type: timer_scheduler, config: {rules: [%s]}}
`

const plainTopologyHead = `
nodes:
  - {id: intake, type: preprocessor}
  - {id: feel, type: internalizer}
  - {id: act, type: externalizer}
`

func lastTick(t *testing.T, disk *spooltest.Disk) Tick {
	t.Helper()
	data, err := disk.ReadFile("/k/heartbeat/tick.json")
	if err != nil {
		t.Fatal(err)
	}
	var tick Tick
	if err := json.Unmarshal(data, &tick); err != nil {
		t.Fatal(err)
	}
	return tick
}

func TestFault13_BeatsAreCountedOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		o.Heartbeat = time.Minute
		disk := spooltest.New()
		for run := range 3 {
			w := wakeAs(t, disk, o, fmt.Sprintf(clockTopology, ""))
			pass(90 * time.Second) // two beats
			want := Tick{TickID: fmt.Sprint("tick-", 2*run+2), Number: int64(2*run + 2), Timestamp: time.Now().Add(-30 * time.Second), Interval: 60}
			if got := lastTick(t, disk); got.TickID != want.TickID || got.Number != want.Number || got.Interval != 60 || !got.Timestamp.Equal(want.Timestamp) {
				t.Errorf("run %d: tick %+v, want %+v", run, got, want)
			}
			// No event, no unit, no turn came of it.
			if n := len(w.texts()) + len(w.in("inbox/done")) + len(w.units()); n != 0 {
				t.Errorf("a heartbeat made %d things", n)
			}
			w.stop()
			disk = disk.Kill()
		}
	})
}

func TestABrokenTickIsNoReasonToStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		o.Heartbeat = time.Minute
		disk := spooltest.New()
		disk.Write("/k/heartbeat/tick.json", []byte("{"))
		w := wakeAs(t, disk, o, fmt.Sprintf(clockTopology, ""))
		synctest.Wait()
		if got := lastTick(t, disk); got.Number != 1 {
			t.Errorf("tick %+v", got)
		}
		disk.LoseAt(disk.Steps() + 1)
		pass(time.Hour)
		disk.LoseAt(0)
		pass(2 * time.Minute)
		if got := lastTick(t, disk); got.Number < 2 || time.Since(got.Timestamp) > time.Minute {
			t.Errorf("tick after the disk failed %+v", got)
		}
		w.stop()
	})
}

func TestNoHeartbeatIfNobodyWantsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wakeAs(t, spooltest.New(), usual(), fmt.Sprintf(clockTopology, "{name: a, hour: 9}"))
		pass(2 * time.Hour)
		same(t, "heartbeat", w.in("heartbeat"), "timers_clockwork.json")
		if len(w.units()) != 1 { // and the timers need none
			t.Errorf("units %v", w.units())
		}
		w.stop()
	})
}

// fired returns the events of timers, in order.
func fired(t *testing.T, disk *spooltest.Disk) []string {
	t.Helper()
	var all []string
	for _, folder := range []string{"pending", "done"} {
		for _, name := range filesIn(disk, "inbox/"+folder) {
			data, _ := disk.ReadFile("/k/inbox/" + folder + "/" + name)
			e, err := amp.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if e.Header.Source != ownSource || e.Header.Method != amp.MethodEvent || amp.Reserved(e.Payload.Type) || e.FileName(true) != name {
				t.Errorf("event %s: %+v", name, e.Header)
			}
			var d timerData
			if err := json.Unmarshal(e.Payload.Data, &d); err != nil {
				t.Fatal(err)
			}
			line := d.Due.In(shanghai).Format("01-02 15:04") + " " + e.Payload.Type
			if d.Late > 0 {
				line += fmt.Sprintf(" late %s", time.Duration(d.Late)*time.Second)
			}
			if d.Missed > 0 {
				line += fmt.Sprintf(" missed %d", d.Missed)
			}
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

func TestEachTimeOfARuleMakesOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is 08:00
		disk := spooltest.New()
		w := wakeAs(t, disk, usual(), fmt.Sprintf(clockTopology,
			"{name: morning, hour: 7, minute: 30}, {name: noon, hour: 12}, {name: hourly, minute: 15}, {name: stretch, every: 5h, type: timer.stretch}"))
		pass(6 * time.Hour)
		w.stop()
		same(t, "fired", fired(t, disk),
			"01-01 08:15 rhythm.hourly", "01-01 09:15 rhythm.hourly", "01-01 10:15 rhythm.hourly", "01-01 11:15 rhythm.hourly",
			"01-01 12:00 rhythm.noon", "01-01 12:15 rhythm.hourly", "01-01 13:00 timer.stretch", "01-01 13:15 rhythm.hourly")
		// timer.* is on the list of what wakes, rhythm.* is not.
		if texts := w.texts(); len(texts) != 1 || !strings.HasPrefix(texts[0], `[timer.stretch] It is time for "stretch": 13:00.`) {
			t.Errorf("turns %q", texts)
		}
	})
}

func TestATimeFiresOnceOverRestartsAndWhatWasMissedFiresOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		topology := fmt.Sprintf(clockTopology, "{name: noon, hour: 12}, {name: hourly, minute: 0}")
		run := func(d time.Duration) {
			w := wakeAs(t, disk, usual(), topology)
			pass(d)
			w.stop()
			disk = disk.Kill()
		}
		run(4*time.Hour + time.Second) // 12:00:01
		run(10 * time.Second)
		run(10 * time.Second)
		time.Sleep(3*24*time.Hour + 90*time.Minute) // the machine is off until 13:30 three days later
		run(time.Minute)
		run(time.Minute)
		same(t, "fired", fired(t, disk),
			"01-01 09:00 rhythm.hourly", "01-01 10:00 rhythm.hourly", "01-01 11:00 rhythm.hourly",
			"01-01 12:00 rhythm.hourly", "01-01 12:00 rhythm.noon",
			"01-04 12:00 rhythm.noon late 1h30m21s missed 2", "01-04 13:00 rhythm.hourly late 30m21s missed 72")
	})
}

func TestAClockThatJumps(t *testing.T) {
	disk := spooltest.New()
	b := bus.New(bus.Options{Dir: "/k", Files: disk})
	inbox, err := b.Queue(bus.Inbox, bus.Events)
	if err != nil {
		t.Fatal(err)
	}
	noon := 12
	timers := &Timers{bus: b, file: "heartbeat/timers_x.json", out: []*spool.Spool{inbox}, zone: shanghai, log: quietLog(nil), rules: []rule{
		{Name: "noon", Hour: &noon}, {Name: "often", Every: time.Hour},
	}}
	look := func(clock string) {
		t.Helper()
		now := at(clock)
		next, err := timers.look(now)
		if err != nil || next.After(now.Add(lookAgain)) || next.Before(now) {
			t.Errorf("at %s: next %v, %v", clock, next, err)
		}
	}
	expect := func(when string, want ...string) {
		t.Helper()
		same(t, when, fired(t, disk), want...)
	}
	look("2026-06-17 11:30")
	expect("a new rule has no past")
	look("2026-06-17 12:00")
	look("2026-06-17 12:45") // the machine slept
	first := []string{"06-17 12:00 rhythm.noon", "06-17 12:30 rhythm.often late 15m0s"}
	expect("noon", first...)
	look("2026-06-17 11:50") // set back
	look("2026-06-17 12:10")
	look("2026-06-17 12:59")
	look("2026-06-16 12:30") // by more than a day
	look("2026-06-17 12:00")
	expect("set back", first...)
	look("2026-06-17 13:30")
	expect("time goes on", append(slices.Clone(first), "06-17 13:30 rhythm.often")...)
	// Somebody sets the clock to the year 2030 and back: that must not silence the
	// rules until then.
	look("2030-01-01 00:00")
	look("2026-06-17 14:00")
	look("2026-06-18 12:00")
	got := fired(t, disk)
	if !slices.Contains(got, "06-18 12:00 rhythm.noon") || !slices.ContainsFunc(got, func(s string) bool {
		return strings.HasPrefix(s, "06-18 12:00 rhythm.often") || strings.HasPrefix(s, "06-18 11:")
	}) {
		t.Errorf("after a wrong clock: %q", got)
	}
}

func TestTimesThatTheWallClockSkipsOrRepeats(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zones on this machine:", err)
	}
	two, one := 2, 1
	thirty := 30
	skipped, repeated := rule{Name: "s", Hour: &two, Minute: &thirty}, rule{Name: "r", Hour: &one, Minute: &thirty}
	hourly := rule{Name: "h", Minute: &thirty}
	count := func(r rule, from, to time.Time) (times int) {
		last := r.last(from, time.Time{})
		for now := from; now.Before(to); now = now.Add(10 * time.Minute) {
			if due := r.last(now, last); due.After(last) {
				last = due
				times++
			}
			if next := r.next(now, last); !next.After(now) || next.Sub(now) > 26*time.Hour {
				t.Fatalf("at %v the next is %v", now, next)
			}
		}
		return times
	}
	// 2026-03-08 02:30 does not exist; 2026-11-01 01:30 comes twice.
	if n := count(skipped, time.Date(2026, 3, 7, 12, 0, 0, 0, zone), time.Date(2026, 3, 9, 12, 0, 0, 0, zone)); n != 2 {
		t.Errorf("a skipped time fired %d times in two days", n)
	}
	if n := count(repeated, time.Date(2026, 10, 31, 12, 0, 0, 0, zone), time.Date(2026, 11, 2, 12, 0, 0, 0, zone)); n != 2 {
		t.Errorf("a repeated time fired %d times in two days", n)
	}
	// An hourly rule goes by hours, whatever the wall says.
	if n := count(hourly, time.Date(2026, 3, 7, 12, 0, 0, 0, zone), time.Date(2026, 3, 9, 12, 0, 0, 0, zone)); n != 47 {
		t.Errorf("an hourly rule fired %d times in 47 hours", n)
	}
	if n := count(hourly, time.Date(2026, 10, 31, 12, 0, 0, 0, zone), time.Date(2026, 11, 2, 12, 0, 0, 0, zone)); n != 49 {
		t.Errorf("an hourly rule fired %d times in 49 hours", n)
	}
}

func TestTimersWhereverTheDiskFails(t *testing.T) {
	topology := fmt.Sprintf(clockTopology, "{name: hourly, minute: 0}")
	steps := 0
	run := func(t *testing.T, step int, once bool, end func(*spooltest.Disk) *spooltest.Disk) {
		disk := spooltest.New()
		if once {
			disk.FailAt(step)
		} else if step > 0 {
			disk.LoseAt(step)
		}
		w := &world{t: t, disk: disk}
		if err := w.begin(usual(), topology); err == nil {
			pass(2*time.Hour + 5*time.Minute)
			w.stop()
		} else {
			time.Sleep(2*time.Hour + 5*time.Minute)
		}
		steps = disk.Steps()
		disk.FailAt(0)
		disk.LoseAt(0)
		disk = end(disk)
		w = wakeAs(t, disk, usual(), topology)
		pass(time.Hour)
		w.stop()
		for due, n := range func() map[string]int {
			counts := map[string]int{}
			for _, line := range fired(t, disk) {
				counts[line[:11]]++
			}
			return counts
		}() {
			if n != 1 {
				t.Errorf("%s fired %d times", due, n)
			}
		}
		if got := fired(t, disk); len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "01-01 11:00") {
			t.Errorf("fired %q", got)
		}
		settledUnits(t, w)
	}
	synctest.Test(t, func(t *testing.T) { run(t, 0, true, (*spooltest.Disk).Kill) })
	for step := 1; step <= steps; step++ {
		for name, end := range map[string]func(*spooltest.Disk) *spooltest.Disk{
			"killed": (*spooltest.Disk).Kill, "power lost": func(d *spooltest.Disk) *spooltest.Disk { return d.PowerLoss(false) },
		} {
			t.Run(fmt.Sprintf("step %d, %s", step, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { run(t, step, name == "killed" && step%2 == 0, end) })
			})
		}
	}
}

// settledUnits checks that every event is in one unit and every unit once in the
// stream.
func settledUnits(t *testing.T, w *world) {
	t.Helper()
	in := map[string]int{}
	for id, u := range w.units() {
		for _, e := range u.Events {
			in[e.Header.MessageID]++
		}
		if n := passagesOn(t, w.disk)[id]; n != 1 {
			t.Errorf("unit %s is %d times in the stream", id, n)
		}
	}
	for id, n := range in {
		if n != 1 {
			t.Errorf("event %s is in %d units", id, n)
		}
	}
}

const sweepTopology = plainTopologyHead + `
  - {id: undertaker, type: dead_letter_router, config: {interval_seconds: 60, max_age: 2h}}
`

func TestFault8_WhatWaitsTooLongIsSetAsideAndNothingIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		o := usual()
		w := wakeAs(t, disk, o, sweepTopology)
		// The brain is deaf: its inbox is watched by nobody that runs.
		w.stop()
		b := bus.New(bus.Options{Dir: "/k", Files: disk})
		inbox, _ := b.Queue(bus.Inbox, bus.Events)
		units, _ := b.Queue("pipeline/message_queue", bus.Units)
		target, _ := bus.ParseTarget("inbox")
		pipes, _ := bus.ParseTarget("pipeline/*/*.json")
		d := &DeadLetters{bus: b, from: []bus.Target{target, pipes}, out: []*spool.Spool{inbox},
			deadLetterSettings: deadLetterSettings{Interval: time.Minute, MaxAge: 2 * time.Hour}}
		expired, young := said(1, "s", "expired"), said(2, "s", "young")
		expired.Payload.ExpireAt = time.Now().Add(time.Minute)
		drop(t, disk, expired)
		drop(t, disk, young)
		u := unit.Of([]*amp.Envelope{said(3, "s", "old")}, func(*amp.Envelope) bool { return false }, time.Now())
		data, _ := u.Encode()
		disk.Write("/k/pipeline/message_queue/pending/"+unit.FileName(u.ID), data)
		_ = inbox.Scan()
		_ = units.Scan()
		disk.Age("/k/pipeline/message_queue/pending/"+unit.FileName(u.ID), 3*time.Hour)
		time.Sleep(2 * time.Minute)

		// The disk fails first: nothing may be gone without its reason.
		for step := 1; step < 8; step++ {
			disk.FailAt(disk.Steps() + step)
			_ = d.sweep(t.Context(), time.Now())
		}
		disk.FailAt(0)
		if err := d.sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		same(t, "dead events", filesIn(disk, "inbox/dead"), eventName(expired))
		same(t, "dead units", filesIn(disk, "pipeline/message_queue/dead"), unit.FileName(u.ID))
		reasons := map[string]string{}
		for _, q := range []*spool.Spool{inbox, units} {
			entries, err := q.List(spool.Dead)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				reasons[e.Name] = e.Note.Reason
			}
		}
		if !strings.HasPrefix(reasons[eventName(expired)], "expired at ") || !strings.HasPrefix(reasons[unit.FileName(u.ID)], "waited 3h2m") {
			t.Errorf("reasons %q", reasons)
		}
		// One event says so, and says how many.
		reports := func(folder string) (count int64, files int) {
			for _, name := range filesIn(disk, "inbox/"+folder) {
				data, _ := disk.ReadFile("/k/inbox/" + folder + "/" + name)
				var f amp.Fault
				if e, err := amp.Parse(data); err == nil && isReport(e) && json.Unmarshal(e.Payload.Data, &f) == nil {
					files++
					count += f.Count
				}
			}
			return count, files
		}
		if count, files := reports("pending"); count != 2 || files == 0 {
			t.Errorf("%d reports of %d files", files, count)
		}
		// The reports grow old too, and are set aside without a word.
		_, files := reports("pending")
		time.Sleep(3 * time.Hour)
		for range 3 {
			if err := d.sweep(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Hour)
		}
		if _, buried := reports("dead"); buried < files {
			t.Errorf("%d of %d reports were set aside", buried, files)
		}
		// What was young is old by now: that is one more report, and no others.
		if count, _ := reports("dead"); count != 3 {
			t.Errorf("reports of %d files", count)
		}
		if _, left := reports("pending"); left != 0 {
			t.Errorf("%d reports still come", left)
		}
	})
}

func TestWhatWaitsBehindATurnThatNeverEndsIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wakeAs(t, disk, usual(), sweepTopology)
		w.turn = func(ctx context.Context, u *unit.Unit) error {
			if u.Session == "stuck" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		w.put(said(1, "stuck", "/a"), said(2, "stuck", "/b"), said(3, "other", "/c"))
		pass(time.Hour)
		disk.LoseAt(disk.Steps() + 1) // a sweep that fails is no reason to stop
		pass(90 * time.Minute)
		same(t, "dead while the disk fails", w.in("pipeline/internalized/dead"))
		disk.LoseAt(0)
		pass(time.Minute)
		same(t, "dead", w.in("pipeline/internalized/dead"), unit.MarkerName(unit.ID(said(2, "", ""), time.Time{})))
		same(t, "turns", w.texts(), "/c")
		if st := w.Status()[3]; st.State != "idle" || st.LastError == "" {
			t.Errorf("status %+v", st)
		}
		w.stop()
		var report *unit.Unit
		for _, u := range w.units() {
			if isReport(u.Events[0]) {
				report = u
			}
		}
		if report == nil || report.Wake || report.Text != "[mcp.error] 1 file waited too long and was set aside." {
			t.Errorf("report %+v", report)
		}
	})
}
