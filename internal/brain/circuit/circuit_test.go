package circuit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stage is a circuit under test: every event in the inbox becomes a unit of its
// own, and a worker gets the units.
type stage struct {
	t    *testing.T
	disk *spooltest.Disk
	bus  *bus.Bus
	*Circuit
	log  *strings.Builder
	stop func()
}

// worker is what the test does with a unit.
type worker func(ctx context.Context, j *Job) error

func (w worker) Handle(ctx context.Context, j *Job) error { return w(ctx, j) }

// living is a node with a life of its own.
type living struct {
	worker
	run func(ctx context.Context) error
}

func (l living) Run(ctx context.Context) error { return l.run(ctx) }

type workSettings struct{ Schedule }

// gate puts every event into the next queue.
type gate struct{ out *spool.Spool }

func (g gate) Handle(_ context.Context, j *Job) error {
	e, err := amp.Parse(j.Data)
	if err != nil {
		return Permanent(err)
	}
	u := unit.Of([]*amp.Envelope{e}, func(*amp.Envelope) bool { return true }, time.Now())
	data, err := u.Encode()
	if err != nil {
		return err
	}
	_, err = g.out.Put(spool.Item{Name: unit.FileName(u.ID), Data: data, Place: u.Place()})
	return err
}

const plainTopology = `
nodes:
  - {id: gate, type: gate}
  - {id: work, type: worker, config: {%s}}
`

// play runs a circuit whose worker is node until the test stops it.
func play(t *testing.T, disk *spooltest.Disk, config string, node Node) *stage {
	t.Helper()
	s := &stage{t: t, disk: disk, bus: bus.New(bus.Options{Dir: "/k", Files: disk}), log: new(strings.Builder)}
	holds := 0
	if strings.Contains(config, "attempts: 77") { // a sign from the test
		holds = 3
	}
	known := Registry{
		"gate": {Takes: bus.Events, Gives: bus.Units, Watch: []string{"inbox"}, Emit: []string{"pipeline/q"}, New: func(c *Config) (Node, error) {
			queues, err := c.Queues()
			if err != nil {
				return nil, err
			}
			return gate{queues[0]}, nil
		}},
		"worker": {Takes: bus.Units, Watch: []string{"pipeline/q"}, State: true, Holds: holds, New: func(*Config) (Node, error) { return node, nil },
			Settings: func() any { return &workSettings{Schedule{1, 5}} }},
	}
	top, err := Parse("topology.yaml", fmt.Appendf(nil, plainTopology, config), known)
	if err != nil {
		t.Fatal(err)
	}
	s.Circuit, err = New(Options{Topology: top, Bus: s.bus, Redact: redact.New("hunter2hunter2"),
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(ctx) })
	s.stop = func() { stop(); wg.Wait() }
	return s
}

func (s *stage) say(session string, numbers ...int) {
	s.t.Helper()
	inbox, err := s.bus.Queue("inbox", bus.Events)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range numbers {
		e := event(session, n)
		data, _ := e.MarshalJSON()
		if _, err := inbox.Put(spool.Item{Name: e.FileName(true), Data: data, Place: spool.Place{Seq: uint64(n)}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func event(session string, n int) *amp.Envelope {
	return &amp.Envelope{
		Header: amp.Header{Method: amp.MethodEvent, MessageID: fmt.Sprintf("%s-%d", session, n), Timestamp: time.Now(),
			Source: amp.Source{App: "a.b"}, Aurora: &amp.Aurora{Seq: uint64(n)}},
		Payload: amp.Payload{Type: amp.TypeMessageReceived, SessionID: session},
	}
}

// names returns the message ids of the units in a state of the worker's queue.
func (s *stage) names(state spool.State) []string {
	s.t.Helper()
	var ids []string
	for _, name := range s.disk.Names() {
		if rest, ok := strings.CutPrefix(name, "/k/pipeline/q/"+string(state)+"/"); ok {
			data, _ := s.disk.ReadFile("/k/pipeline/q/" + string(state) + "/" + rest)
			ids = append(ids, idOf(data))
		}
	}
	slices.Sort(ids)
	return ids
}

func idOf(data []byte) string {
	u, err := unit.Parse(data)
	if err != nil {
		return err.Error()
	}
	return u.Events[0].Header.MessageID
}

func (s *stage) worker() Status { return s.Status()[1] }

func want(t *testing.T, what string, got []string, ids ...string) {
	t.Helper()
	if !slices.Equal(got, ids) {
		t.Errorf("%s: %v, want %v", what, got, ids)
	}
}

// A record is what the nodes of a test did, in order.
type record[T any] struct {
	mu    sync.Mutex // guards items
	items []T
}

func (r *record[T]) add(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, item)
}

func (r *record[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.items)
}

// pass lets time go by, and everything happen that happens in it.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestFault1_ANodeThatFailedRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Bool
		var got record[string]
		s := play(t, spooltest.New(), "attempts: 2", worker(func(_ context.Context, j *Job) error {
			if fail.Load() {
				return errors.New("model is away")
			}
			got.add(idOf(j.Data))
			return nil
		}))
		fail.Store(true)
		s.say("a", 1)
		synctest.Wait()
		if st := s.worker(); st.State != Failing || st.Retrying != 1 || st.LastError != "model is away" {
			t.Errorf("status %+v", st)
		}
		pass(time.Minute)
		want(t, "dead", s.names(spool.Dead), "a-1")
		fail.Store(false)
		s.say("a", 2)
		synctest.Wait()
		want(t, "worked on", got.all(), "a-2")
		if st := s.worker(); st.State != Idle || st.Done != 1 || st.Dead != 1 || st.Failed != 2 {
			t.Errorf("status %+v", st)
		}
		s.stop()
	})
}

func TestFault2_WhatArrivesWhileANodeRunsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got record[string]
		s := play(t, spooltest.New(), "", worker(func(_ context.Context, j *Job) error {
			time.Sleep(time.Minute)
			got.add(idOf(j.Data))
			return nil
		}))
		s.say("a", 1)
		pass(time.Second)
		s.say("a", 2, 3) // it runs
		pass(time.Hour)
		want(t, "worked on", got.all(), "a-1", "a-2", "a-3") // and no further event was needed
		s.stop()
	})
}

func TestFault3_AFileIsDoneWhenItsEffectIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		working := make(chan struct{})
		s := play(t, disk, "", worker(func(ctx context.Context, _ *Job) error {
			working <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}))
		s.say("a", 1)
		<-working
		synctest.Wait()
		want(t, "done while the model thinks", s.names(spool.Done))
		want(t, "processing", s.names(spool.Processing), "a-1")
		killed := disk.Kill()
		s.stop()
		want(t, "pending after a stop", s.names(spool.Pending), "a-1")

		var attempts record[int]
		s = play(t, killed, "", worker(func(_ context.Context, j *Job) error {
			attempts.add(j.Attempts)
			return nil
		}))
		synctest.Wait()
		if !slices.Equal(attempts.all(), []int{1}) {
			t.Errorf("after the kill, tried with attempts %v", attempts.all())
		}
		want(t, "done", s.names(spool.Done), "a-1")
		s.stop()
	})
}

func TestFault5_AStartNeedsNoNewEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		for n := range 3 {
			e := event("a", n+1)
			data, _ := e.MarshalJSON()
			disk.Write("/k/inbox/pending/"+e.FileName(true), data)
		}
		var got record[string]
		s := play(t, disk, "", worker(func(_ context.Context, j *Job) error {
			got.add(idOf(j.Data))
			return nil
		}))
		began := time.Now()
		synctest.Wait()
		want(t, "worked on", got.all(), "a-1", "a-2", "a-3")
		if time.Since(began) != 0 {
			t.Error("it waited for a clock")
		}
		s.stop()
	})
}

func TestFault15_NobodyPollsSoAnEventIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at record[time.Time]
		s := play(t, spooltest.New(), "", worker(func(context.Context, *Job) error { at.add(time.Now()); return nil }))
		pass(12345 * time.Millisecond)
		said := time.Now()
		s.say("a", 1)
		synctest.Wait()
		if all := at.all(); len(all) != 1 || !all[0].Equal(said) {
			t.Errorf("said at %v, taken at %v", said, all)
		}
		s.stop()
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		s := play(t, spooltest.New(), "", worker(func(context.Context, *Job) error {
			if tries.Add(1) < 3 {
				panic("the key is hunter2hunter2 " + strings.Repeat("x", 1000))
			}
			return nil
		}))
		s.say("a", 1)
		pass(time.Minute)
		want(t, "done", s.names(spool.Done), "a-1")
		st := s.worker()
		if st.State != Idle || tries.Load() != 3 || st.Done != 1 || st.Failed != 2 || !strings.HasPrefix(st.LastError, "panic: the key is ••• xx") || len(st.LastError) > 400 {
			t.Errorf("after %d tries: %+v", tries.Load(), st)
		}
		s.stop()
		if strings.Contains(s.log.String(), "hunter2") || !strings.Contains(s.log.String(), "panicked") {
			t.Errorf("log: %s", s.log)
		}
	})
}

func TestAttemptsComeSlowerAndSlowerThenTheFileIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		s := play(t, spooltest.New(), "attempts: 8", worker(func(context.Context, *Job) error {
			at = append(at, time.Since(began))
			return fmt.Errorf("hunter2hunter2 is refused")
		}))
		s.say("a", 1)
		pass(time.Hour)
		s.stop()
		var seconds []int
		for _, d := range at {
			seconds = append(seconds, int(d.Seconds()))
		}
		if !slices.Equal(seconds, []int{0, 1, 3, 7, 15, 31, 61, 91}) {
			t.Errorf("tried at %v", seconds)
		}
		entries, err := mustQueue(t, s).List(spool.Dead)
		if err != nil || len(entries) != 1 || entries[0].Note.Reason != "failed 8 times: ••• is refused" {
			t.Errorf("dead: %+v, %v", entries, err)
		}
	})
}

func TestAFailureOfTheDiskKillsNoFile(t *testing.T) {
	for name, failure := range map[string]error{
		"a path":       &fs.PathError{Op: "write", Path: "/k/x", Err: errors.New("no space left on device")},
		"a full queue": fmt.Errorf("emit: %w", spool.ErrFull),
		"marked":       fmt.Errorf("turn: %w", Temporary(errors.New("over budget"))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var over atomic.Bool
				s := play(t, spooltest.New(), "attempts: 1", worker(func(context.Context, *Job) error {
					if over.Load() {
						return nil
					}
					return failure
				}))
				s.say("a", 1)
				pass(24 * time.Hour)
				if st := s.worker(); st.State != Failing || st.Dead != 0 {
					t.Errorf("status %+v", st)
				}
				over.Store(true)
				pass(time.Minute)
				want(t, "done", s.names(spool.Done), "a-1")
				s.stop()
			})
		})
	}
}

func mustQueue(t *testing.T, s *stage) *spool.Spool {
	t.Helper()
	q, err := s.bus.Queue("pipeline/q", bus.Units)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestWhatCannotBeCuredIsDeadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		s := play(t, spooltest.New(), "", worker(func(context.Context, *Job) error {
			tries.Add(1)
			return fmt.Errorf("unit: %w", Permanent(errors.New("it makes no sense")))
		}))
		s.say("a", 1)
		synctest.Wait()
		s.stop()
		entries, err := mustQueue(t, s).List(spool.Dead)
		if err != nil || tries.Load() != 1 || len(entries) != 1 || entries[0].Note.Reason != "unit: it makes no sense" {
			t.Errorf("%d tries, dead: %+v, %v", tries.Load(), entries, err)
		}
	})
}

func TestASessionThatFailsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got record[string]
		s := play(t, spooltest.New(), "concurrency: 1", worker(func(_ context.Context, j *Job) error {
			if id := idOf(j.Data); id != "bad-1" {
				got.add(id)
				return nil
			}
			return errors.New("no")
		}))
		s.say("bad", 1, 2)
		s.say("good", 3, 4)
		synctest.Wait()
		want(t, "while bad is tried again", got.all(), "good-3", "good-4")
		pass(time.Hour)
		want(t, "in the end", got.all(), "good-3", "good-4", "bad-2")
		want(t, "dead", s.names(spool.Dead), "bad-1")
		s.stop()
	})
}

func TestOneFileOfASessionAtATimeAndSoManyInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inHand, most := map[string]int{}, 0
		order := map[string][]int{}
		s := play(t, spooltest.New(), "concurrency: 4", worker(func(_ context.Context, j *Job) error {
			u, _ := unit.Parse(j.Data)
			mu.Lock()
			inHand[u.Session]++
			total := 0
			for _, n := range inHand {
				total += n
				if n > 1 {
					t.Errorf("%d files of %s at once", n, u.Session)
				}
			}
			most = max(most, total)
			order[u.Session] = append(order[u.Session], int(u.Seq))
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			inHand[u.Session]--
			mu.Unlock()
			return nil
		}))
		for n := range 5 {
			for session := range 10 {
				s.say(fmt.Sprint("s", session), 1+n*10+session)
			}
		}
		pass(time.Hour)
		s.stop()
		if most != 4 {
			t.Errorf("%d at once", most)
		}
		for session, seqs := range order {
			if len(seqs) != 5 || !slices.IsSorted(seqs) {
				t.Errorf("%s: %v", session, seqs)
			}
		}
	})
}

func TestAFileTheProcessDiesOfIsDeadInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		for run := 0; ; run++ {
			tried := make(chan struct{}, 1)
			s := play(t, disk, "", worker(func(ctx context.Context, _ *Job) error {
				tried <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}))
			if run == 0 {
				s.say("a", 1)
			}
			synctest.Wait()
			next := disk.Kill()
			select {
			case <-tried:
				s.stop()
			default:
				s.stop()
				if run != maxCrashes {
					t.Errorf("dead after %d deaths", run)
				}
				want(t, "dead", s.names(spool.Dead), "a-1")
				return
			}
			disk = next
		}
	})
}

func TestHeldJobsEndWhenTheNodeSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		var given record[*Job]
		s := play(t, disk, "attempts: 77", worker(func(_ context.Context, j *Job) error {
			if j.Data = nil; len(given.all()) == 5 {
				return errors.New("enough")
			}
			given.add(j)
			return ErrHeld
		}))
		for n := range 6 {
			s.say(fmt.Sprint("s", n), n+1)
		}
		synctest.Wait()
		jobs := given.all()
		if st := s.worker(); len(jobs) != 3 || st.Held != 3 || st.Waiting != 3 || st.State != Running {
			t.Errorf("%d given, status %+v", len(jobs), st)
		}
		jobs[0].Done("said before")
		jobs[0].Dead("twice") // has ended; nothing more happens
		jobs[1].Dead("nobody wants it")
		synctest.Wait()
		want(t, "done", s.names(spool.Done), "s0-1")
		want(t, "dead", s.names(spool.Dead), "s1-2")
		if st := s.worker(); len(given.all()) != 5 || st.Held != 3 || st.Done != 1 || st.Dead != 1 {
			t.Errorf("%d given, status %+v", len(given.all()), st)
		}
		jobs[2].Return()
		synctest.Wait()
		s.stop()
		want(t, "pending after the stop", s.names(spool.Pending), "s2-3", "s3-4", "s4-5", "s5-6")
		for _, name := range disk.Names() {
			if strings.Contains(name, "/notes/") && !strings.Contains(name, "unit_") {
				t.Errorf("left behind: %s", name)
			}
		}
	})
}

func TestAnEndTheDiskRefusesIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		s := play(t, disk, "", worker(func(context.Context, *Job) error {
			disk.LoseAt(disk.Steps() + 1)
			return nil
		}))
		s.say("a", 1)
		pass(100 * time.Millisecond)
		if st := s.worker(); st.LastError == "" {
			t.Error("nobody knows of the disk")
		}
		disk.LoseAt(0)
		pass(time.Minute)
		want(t, "done", s.names(spool.Done), "a-1")
		s.stop()
	})
}

func TestALifeThatFailsBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lives atomic.Int64
		node := living{worker(func(context.Context, *Job) error { return nil }), func(ctx context.Context) error {
			switch lives.Add(1) {
			case 1:
				return errors.New("tired")
			case 2:
				panic("very tired")
			}
			<-ctx.Done()
			return nil
		}}
		s := play(t, spooltest.New(), "", node)
		synctest.Wait()
		if st := s.worker(); st.State != Failing || st.LastError != "tired" {
			t.Errorf("status %+v", st)
		}
		pass(time.Minute)
		if st := s.worker(); lives.Load() != 3 || st.State != Idle || st.LastError != "panic: very tired" {
			t.Errorf("%d lives, status %+v", lives.Load(), st)
		}
		s.stop()
		if st := s.worker(); st.State != Stopped {
			t.Errorf("status %+v", st)
		}
	})
}

func TestAStateFileWakesItsWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		b := bus.New(bus.Options{Dir: "/k", Files: disk})
		var got record[string]
		var fail atomic.Bool
		known := types()
		known["follower"] = Kind{State: true, Watch: []string{"heartbeat/*.json"}, New: func(*Config) (Node, error) {
			return worker(func(_ context.Context, j *Job) error {
				if fail.CompareAndSwap(true, false) {
					return errors.New("no")
				}
				got.add(j.Path + " " + string(j.Data))
				return nil
			}), nil
		}}
		top, err := Parse("t.yaml", []byte(`
nodes:
  - {id: intake, type: preprocessor}
  - {id: feel, type: internalizer, emit: []}
  - {id: pulse, type: heartbeat_generator}
  - {id: follow, type: follower}
  - {id: off, type: externalizer, enabled: false}
`), known)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(Options{Topology: top, Bus: b})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(ctx) })
		_ = b.WriteState("heartbeat/tick.json", []byte("1"))
		synctest.Wait()
		fail.Store(true)
		_ = b.WriteState("heartbeat/tick.json", []byte("2"))
		pass(time.Minute)
		want(t, "told of", got.all(), "heartbeat/tick.json 1", "heartbeat/tick.json 2")
		drawing := c.Mermaid()
		for _, line := range []string{"world -->|inbox| n_intake", "n_pulse -->|heartbeat/tick.json| n_follow", "off<br/>externalizer<br/>disabled: 0 waiting"} {
			if !strings.Contains(drawing, line) {
				t.Errorf("no %q in\n%s", line, drawing)
			}
		}
		stop()
		wg.Wait()
	})
}

func TestStatusMayBeAskedAtAnyTime(t *testing.T) {
	s := play(t, spooltest.New(), "concurrency: 3", worker(func(context.Context, *Job) error { return nil }))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 100 {
				s.Status()
				_ = s.Mermaid()
			}
		})
	}
	s.say("a", 1, 2, 3)
	wg.Wait()
	s.stop()
}
