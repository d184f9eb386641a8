package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func named(id string) host.Signal {
	s := emit(qq, fmt.Sprintf(`{"type":"message.received","message_id":%q,"data":{"text":"hello"}}`, id))
	s.At = time.Date(2026, 6, 17, 14, 30, 0, 0, time.UTC)
	return s
}

// send delivers events in one batch and waits for the acknowledgements. The
// house is not running.
func (h *house) send(ids ...string) {
	var batch []held
	for _, id := range ids {
		batch = append(batch, hold(named(id)))
	}
	h.deliver(batch)
	h.acks.wait()
}

// unacked returns those of ids that the app would send again.
func (h *house) unacked(ids ...string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(h.acked, id) })
}

// ids returns how often each id lies in the inbox, in whatever state.
func (h *house) ids() map[string]int {
	h.t.Helper()
	n := map[string]int{}
	for _, e := range h.events() {
		n[e.Header.MessageID]++
	}
	return n
}

// Wherever the disk fails, and whether or not the process or the power goes with
// it: what was acknowledged lies there once, and so does in the end what the app
// sends again until it is.
func TestAnAcknowledgedEventIsThereOnceWhereverTheDiskFails(t *testing.T) {
	ids := []string{"1", "2", "3", "4"}
	// The first life: a batch, a consumer that works on one event, and the app
	// sends again what was not acknowledged, with more.
	life := func(h *house) {
		h.send("1", "2")
		if c, err := h.inbox.TryNext(); err == nil && c != nil {
			_ = c.Done() // it may fail, and the file stays in hand
		}
		h.send(h.unacked("1", "2", "3")...)
		h.send(h.unacked(ids...)...)
	}
	// The record of ids is a file, or it is lost with the process.
	open := func(t *testing.T, record string, disk *spooltest.Disk) *house {
		return buildOn(t, "/house", disk, func(o *Options) { o.SeenFile = record })
	}
	dry := spooltest.New()
	life(open(t, "", dry))
	first := spooltest.New()
	open(t, "", first) // the steps of opening are those of package spool
	cases := 0
	for step := first.Steps() + 1; step <= dry.Steps()+1; step++ {
		for _, fault := range []string{"one failure", "gone for good"} {
			for _, end := range []string{"killed", "power loss"} {
				for _, record := range []string{"kept", "lost"} {
					cases++
					t.Run(fmt.Sprintf("step %d %s, %s, record %s", step, fault, end, record), func(t *testing.T) {
						file := ""
						if record == "kept" {
							file = filepath.Join(t.TempDir(), "seen")
						}
						disk := spooltest.New()
						h := open(t, file, disk)
						if fault == "one failure" {
							disk.FailAt(step)
						} else {
							disk.LoseAt(step)
						}
						life(h)
						if err := h.seen.close(); err != nil {
							t.Error(err)
						}
						acked := slices.Clone(h.acked)
						if end == "killed" {
							disk = disk.Kill()
						} else {
							disk = disk.PowerLoss(false)
						}
						again := open(t, file, disk)
						for _, id := range acked {
							if again.ids()[id] != 1 {
								t.Errorf("%s was acknowledged and is there %d times", id, again.ids()[id])
							}
						}
						// Acknowledgements may have been lost, too: all are sent again.
						again.send(ids...)
						if left := again.unacked(ids...); len(left) > 0 {
							t.Errorf("not acknowledged in the end: %v", left)
						}
						for _, id := range ids {
							if again.ids()[id] != 1 {
								t.Errorf("%s is there %d times", id, again.ids()[id])
							}
						}
						if err := again.seen.close(); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

// One consumer's full spool costs another consumer nothing, and doubles nothing.
func TestWhatOneSpoolRefusesIsNotDoubledInAnother(t *testing.T) {
	dir := t.TempDir()
	small, err := spool.Open(filepath.Join(dir, "small"), spool.Options{MaxFiles: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, dir, func(o *Options) {
		o.Outlets = append(o.Outlets, Outlet{Name: "small", Spool: small, Include: []string{"message.*"}})
	})
	h.send("1", "2")
	if !slices.Equal(h.acked, []string{"1"}) {
		t.Fatalf("acknowledged %v", h.acked)
	}
	// The inbox's consumer is done with the second event before it comes again.
	for range 2 {
		c, err := h.inbox.TryNext()
		if err != nil || c == nil || c.Done() != nil {
			t.Fatal("cannot work on the event", err)
		}
	}
	h.send("2")
	if st := h.Status(); st.Apps[qq.Package].Dropped != 2 || st.Spools["small"].Dropped != 2 || st.Spools["inbox"].Dropped != 0 || !st.Spools["small"].Full {
		t.Errorf("status %+v", st)
	}
	c, err := small.TryNext()
	if err != nil || c == nil || c.Done() != nil {
		t.Fatal("cannot make room", err)
	}
	h.send("2")
	if !slices.Equal(h.acked, []string{"1", "2"}) {
		t.Errorf("acknowledged %v", h.acked)
	}
	if got := h.ids(); got["1"] != 1 || got["2"] != 1 {
		t.Errorf("in the inbox: %v", got)
	}
	if st := h.Status(); st.Spools["small"].Full || st.Spools["small"].Fault != "" {
		t.Errorf("status %+v", st)
	}
	h.run()
}

func TestManyDoubtsDoubleNothing(t *testing.T) {
	disk := spooltest.New()
	h := buildOn(t, t.TempDir(), disk, nil)
	h.routes[0].doubtAll = true // as after ten thousand of them
	disk.FailAt(disk.Steps() + 6)
	h.send("1")
	h.send("1", "2")
	if got := h.ids(); got["1"] != 1 || got["2"] != 1 || len(h.acked) != 2 {
		t.Errorf("in the inbox: %v, acknowledged %v", got, h.acked)
	}
	h.run()
}

func TestWhoWantsNoAcknowledgementsIsLeftAlone(t *testing.T) {
	var asked atomic.Int32
	h := build(t, t.TempDir(), func(o *Options) {
		o.Ack = func(context.Context, *config.App, uint64, []byte) error {
			asked.Add(1)
			return fmt.Errorf("app %q: %w", "x", ErrNotWanted)
		}
	})
	h.send("1")
	h.send("2")
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	reloaded := *qq // its session lives on under another configuration
	same := named("3")
	same.App = &reloaded
	h.deliver([]held{hold(same)})
	h.acks.wait()
	if n := asked.Load(); n != 1 || len(h.acks.unwanted) != 1 {
		t.Errorf("after a reload it was asked %d times, and %d sessions are remembered", n, len(h.acks.unwanted))
	}
	next := named("4")
	next.Epoch++ // another session may want them
	h.run(next)
	if n := asked.Load(); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}

// A follower's curiosity must not change what the brain gets.
func TestAMessageOfNoWeightIsForFollowersOnly(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	f := h.Follow()
	defer f.Close()
	h.run(host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/message", Params: []byte(`{"level":"info","data":"hello"}`)})
	if s := <-f.C; s.Envelope.Payload.Type != "mcp.notification.message" || s.Spools != nil {
		t.Errorf("seen: %+v", s)
	}
	if events := h.events(); len(events) != 0 {
		t.Errorf("in the inbox: %s", types(events))
	}
	if n := h.Status().Apps[weather.Package].Delivered; n != 0 {
		t.Errorf("%d delivered", n)
	}
}

func TestAFollowerIsToldWhereAnEventWent(t *testing.T) {
	dir := t.TempDir()
	small, err := spool.Open(filepath.Join(dir, "small"), spool.Options{MaxFiles: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, dir, func(o *Options) {
		o.Outlets = append(o.Outlets, Outlet{Name: "small", Spool: small, Include: []string{"message.*"}})
	})
	f := h.Follow()
	defer f.Close()
	h.run(named("1"), named("2"))
	first, second := <-f.C, <-f.C
	if !slices.Equal(first.Spools, []string{"inbox", "small"}) || first.Refused != nil {
		t.Errorf("first: %+v", first)
	}
	if !slices.Equal(second.Spools, []string{"inbox"}) || !slices.Equal(second.Refused, []string{"small"}) {
		t.Errorf("second: %+v", second)
	}
	if _, state, err := h.inbox.Find(second.File); err != nil || state != spool.Pending {
		t.Errorf("its file: %s, %v", state, err)
	}
}

// A follower that is not read, such as one behind a pager, holds little.
func TestAFollowerIsBoundedInBytes(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	f := h.Follow()
	defer f.Close()
	data, err := json.Marshal(strings.Repeat("x", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	tell := func(n int) {
		for range n {
			h.tell(&event{envelope: &amp.Envelope{Payload: amp.Payload{Data: data}}})
		}
	}
	tell(100)
	if n := len(f.C); n != 15 {
		t.Errorf("%d MiB wait", n)
	}
	for range 10 {
		<-f.C
	}
	tell(1) // there is room again
	for range 5 {
		if s := <-f.C; s.Lost != 0 {
			t.Errorf("%d were lost before that", s.Lost)
		}
	}
	if s := <-f.C; s.Lost != 85 {
		t.Errorf("%d were lost, want 85", s.Lost)
	}
}

func TestFollowingEndsWithTheBridge(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	f := h.Follow()
	h.run(named("1"))
	if _, open := <-f.C; !open {
		t.Error("the last event was not told")
	}
	if _, open := <-f.C; open {
		t.Error("still open")
	}
	if _, open := <-h.Follow().C; open {
		t.Error("who comes late waits for ever")
	}
	f.Close()
}

func TestHugeParamsAreToldByTheirSize(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	huge := fmt.Appendf(nil, `{"x":%q}`, strings.Repeat("x", amp.MaxData))
	h.run(
		host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/acme/huge", Params: huge},
		host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/message", Params: fmt.Appendf(nil, `{"level":"error","data":%s}`, huge)},
		emit(qq, fmt.Sprintf(`{"type":"message.received","message_id":"1","extra":[%s,%[1]s]}`, huge)),
	)
	events := h.events()
	if types(events) != "mcp.notification.acme.huge mcp.notification.message" {
		t.Fatalf("events: %s", types(events))
	}
	for _, e := range events {
		var n amp.Notification
		if err := json.Unmarshal(e.Payload.Data, &n); err != nil || n.Omitted < amp.MaxData || n.Params != nil {
			t.Errorf("%s: %+v, %v", e.Payload.Type, n, err)
		}
	}
	if c := h.Status().Apps[qq.Package]; c.Refused != 1 || !slices.Equal(h.acked, []string{"1"}) {
		t.Errorf("counts %+v, acknowledged %v", c, h.acked)
	}
}

func TestTheQueueIsBoundedInBytesToo(t *testing.T) {
	h := build(t, t.TempDir(), func(o *Options) { o.QueueBytes = 1 << 20 })
	params := fmt.Appendf(nil, `{"x":%q}`, strings.Repeat("x", 100<<10))
	for range 100 {
		h.Observe(host.Signal{Kind: host.SignalNotified, App: weather, Method: "notifications/acme/tick", Params: params})
	}
	waiting, size := h.queue.total, h.queue.bytes
	if size > 1<<20 || waiting != 5 { // half of the room
		t.Errorf("%d signals of %d bytes wait", waiting, size)
	}
	h.run()
	if h.queue.bytes != 0 {
		t.Errorf("%d bytes are still counted", h.queue.bytes)
	}
	if c := h.Status().Apps[weather.Package]; c.Dropped != 95 || c.Delivered != 5 {
		t.Errorf("counts %+v", c)
	}
}

// What is not told of a call is not kept until its event is written.
func TestAHeldCallIsSmall(t *testing.T) {
	large := json.RawMessage(make([]byte, 1<<20))
	h := hold(host.Signal{
		Kind: host.SignalCalled, App: weather, Call: &call.Call{ID: "7", Args: large},
		Result: &call.Result{Tool: "a", Outcome: call.ProtocolError, Err: &call.Error{Code: call.ProtocolFault, Message: "no", Data: large}},
	})
	if h.Call.ID != "7" || h.Result.Tool != "a" || h.Result.Err.Message != "no" {
		t.Errorf("it lost what is told: %+v, %+v", h.Call, h.Result)
	}
	if n := len(h.Call.Args) + len(h.Result.Err.Data); n > 0 {
		t.Errorf("%d bytes are kept for nobody, and count as %d", n, weight(&h.Signal))
	}
}

// One app's flood costs another app nothing: neither its events nor its turn.
func TestAFloodOfOneAppLeavesRoomAndTurnsToOthers(t *testing.T) {
	h := build(t, t.TempDir(), func(o *Options) { o.QueueSignals = 100 })
	tick := func(app *config.App) host.Signal {
		return host.Signal{Kind: host.SignalNotified, App: app, Method: "notifications/acme/tick", At: time.Now()}
	}
	loud := &config.App{Key: "loud", Package: "loud"}
	for range 1000 {
		h.Observe(tick(loud))
	}
	for range 10 {
		h.Observe(tick(weather))
	}
	other := &config.App{Key: "other", Package: "other"}
	for range 1000 { // a second flood gets its share, no more
		h.Observe(tick(other))
	}
	h.Observe(host.Signal{Kind: host.SignalStopped, App: loud, At: time.Now()})
	h.Observe(tick(qq))
	h.run()
	st := h.Status().Apps
	if st["loud"].Delivered != 51 || st[weather.Package].Dropped != 0 || st[qq.Package].Dropped != 0 || st["other"].Delivered != 20 {
		t.Errorf("counts %+v", st)
	}
	for i, e := range h.events()[:40] {
		if e.Header.Source.App == weather.Package && i > 30 {
			t.Errorf("event %d is one of the quiet app: it waited for its turn", i)
		}
	}
	var order []string
	for _, e := range h.events() {
		if e.Header.Source.App == "loud" {
			order = append(order, e.Payload.Type)
		}
	}
	if order[len(order)-1] != "lifecycle.stopped" {
		t.Error("the order within an app is lost")
	}
}

func TestARecordThatCannotBeWrittenStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		wall := filepath.Join(dir, "wall")
		if err := os.WriteFile(wall, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		record := filepath.Join(wall, "seen")
		h := build(t, dir, func(o *Options) { o.SeenFile = record })
		h.send("1", "1")
		if st := h.Status(); st.Fault == "" || len(h.acked) != 1 {
			t.Errorf("status %+v, acknowledged %v", st, h.acked)
		}
		if err := os.Remove(wall); err != nil {
			t.Fatal(err)
		}
		time.Sleep(seenRetry)
		h.send("2")
		if st := h.Status(); st.Fault != "" {
			t.Errorf("status %+v", st)
		}
		h.send("3")
		h.run()
		for _, id := range []string{"1", "2", "3"} { // what came before is written, too
			if again := openSeen(record, h.log); !again.confirmed(qq.Package, id) || again.close() != nil {
				t.Errorf("%s is not in the record", id)
			}
		}
	})
}

// The buffer before the record may be full at any line, also at the one that
// says how far the numbers are.
func TestARecordMayFailAtItsLastLine(t *testing.T) {
	s := openSeen(filepath.Join(t.TempDir(), "seen"), slog.New(slog.DiscardHandler))
	s.drop()
	full, err := os.Open(s.path) // it takes nothing
	if err != nil {
		t.Fatal(err)
	}
	s.file, s.out = full, bufio.NewWriter(full)
	if _, err := s.out.WriteString(strings.Repeat("\n", s.out.Available()-1)); err != nil {
		t.Fatal(err)
	}
	s.flush(7)
	if s.trouble() == "" {
		t.Error("nobody knows that nothing can be written")
	}
	s.mend(time.Now())
	if again := openSeen(s.path, s.log); again.seq != 7 || again.close() != nil || s.close() != nil {
		t.Errorf("the numbers go on at %d", again.seq)
	}
}

// A spool that fails is told once, not with every event.
func TestAFailingSpoolIsToldOnce(t *testing.T) {
	var log strings.Builder
	disk := spooltest.New()
	h := buildOn(t, t.TempDir(), disk, func(o *Options) { o.Logger = logTo(&log) })
	disk.LoseAt(disk.Steps() + 1)
	for i := range 5 {
		h.send(fmt.Sprint(i))
	}
	if st := h.Status().Spools["inbox"]; st.Full || !strings.Contains(st.Fault, spooltest.ErrDisk.Error()) || st.Dropped != 5 {
		t.Errorf("status %+v", st)
	}
	disk.LoseAt(0)
	h.send("5")
	if got := log.String(); strings.Count(got, "ERROR") != 1 || strings.Count(got, "takes events again") != 1 || !strings.Contains(got, "missed=5") {
		t.Errorf("log:\n%s", got)
	}
	h.run()
}

func TestAReadOfAPersonSaysWho(t *testing.T) {
	h := build(t, t.TempDir(), func(o *Options) { o.Outlets[0].Exclude = nil })
	h.run(host.Signal{Kind: host.SignalRead, App: weather, Caller: fromCLI, Result: &call.Result{Tool: "a://b", Outcome: call.OK, Raw: []byte(`{"contents":[]}`)}})
	e := h.one()
	if e.Header.Method != amp.MethodResource || e.Payload.SessionID != "s1" || e.Header.Aurora.Sender != "im.polaris.qq:7" || string(e.Payload.Data) != `{"uri":"a://b","result":{"contents":[]}}` {
		t.Errorf("event %+v %s", e, e.Payload.Data)
	}
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

var errSome = errors.New("some error")

func TestAnUndeliveredAcknowledgementHarmsNobody(t *testing.T) {
	h := build(t, t.TempDir(), func(o *Options) {
		o.Ack = func(context.Context, *config.App, uint64, []byte) error { return errSome }
	})
	h.run(named("1"), named("1"))
	h.one()
}
