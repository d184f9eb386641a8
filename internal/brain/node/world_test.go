package node

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

// shanghai is the zone of the tests. Time begins at 08:00 there.
var shanghai = time.FixedZone("CST", 8*3600)

// A world is a brain at work on a disk in memory.
type world struct {
	t    *testing.T
	disk *spooltest.Disk
	bus  *bus.Bus
	*circuit.Circuit
	log  strings.Builder
	stop func()

	mu    sync.Mutex // guards turns
	turns []*unit.Unit
	turn  func(ctx context.Context, u *unit.Unit) error // nil: every turn ends well
}

const plainTopology = `
nodes:
  - {id: intake, type: preprocessor, config: {%s}}
  - {id: feel, type: internalizer, config: {%s}}
  - {id: act, type: externalizer}
`

func usual() Options {
	return Options{Zone: shanghai, Debounce: 2 * time.Second, MaxWait: 10 * time.Second}
}

// wake lets a brain of preprocessor, internalizer and externalizer live.
func wake(t *testing.T, disk *spooltest.Disk, o Options, intake, feel string) *world {
	t.Helper()
	return wakeAs(t, disk, o, fmt.Sprintf(plainTopology, intake, feel))
}

func wakeAs(t *testing.T, disk *spooltest.Disk, o Options, topology string) *world {
	t.Helper()
	w := &world{t: t, disk: disk}
	if err := w.begin(o, topology); err != nil {
		t.Fatal(err)
	}
	return w
}

// begin makes the circuit and lets it run; the disk may make it fail.
func (w *world) begin(o Options, topology string) error {
	if o.Turner == nil {
		o.Turner = w
	}
	w.bus = bus.New(bus.Options{Dir: "/k", Files: w.disk})
	top, err := circuit.Parse("topology.yaml", []byte(topology), Registry(o))
	if err != nil {
		w.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if w.Circuit, err = circuit.New(circuit.Options{Topology: top, Bus: w.bus, Logger: log}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { w.Circuit.Run(ctx) })
	w.stop = func() { stop(); wg.Wait() }
	return nil
}

// Run is the turn of the tests.
func (w *world) Run(ctx context.Context, u *unit.Unit) error {
	w.mu.Lock()
	turn := w.turn
	w.mu.Unlock()
	if turn != nil {
		if err := turn(ctx, u); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turns = append(w.turns, u)
	return nil
}

// texts returns what each turn was about.
func (w *world) texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, u := range w.turns {
		all = append(all, u.Text)
	}
	return all
}

// pass lets time go by, and everything happen that happens in it.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// An envelope of the tests. Numbers are also ids.
func envelope(n int, typ, session, data string) *amp.Envelope {
	e := &amp.Envelope{
		Header: amp.Header{
			Method: amp.MethodEvent, MessageID: fmt.Sprint("m", n), Timestamp: time.Now(),
			Source: amp.Source{App: "im.polaris.qq", Instance: "qq"},
			Aurora: &amp.Aurora{Seq: uint64(n), ReceivedAt: time.Now(), TraceID: fmt.Sprint("t", n), Trust: amp.TrustNormal},
		},
		Payload: amp.Payload{Type: typ, SessionID: session},
	}
	if data != "" {
		e.Payload.Data = json.RawMessage(data)
	}
	return e
}

// said is somebody's message in a private session.
func said(n int, session, text string) *amp.Envelope {
	data, _ := json.Marshal(amp.Message{Text: text, UserID: "7"})
	e := envelope(n, amp.TypeMessageReceived, session, string(data))
	e.Header.Aurora.Sender = "im.polaris.qq:7"
	return e
}

// saidIn is a message in a group.
func saidIn(n int, group, user, name, text string) *amp.Envelope {
	data, _ := json.Marshal(amp.Message{Text: text, UserID: user, UserName: name, GroupID: group, IsGroup: true})
	e := envelope(n, amp.TypeMessageReceived, group, string(data))
	e.Header.Aurora.Sender = "im.polaris.qq:" + user
	return e
}

// put puts events into the inbox, as the bridge does.
func (w *world) put(events ...*amp.Envelope) {
	w.t.Helper()
	inbox, err := w.bus.Queue(bus.Inbox, bus.Events)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		data, err := e.MarshalJSON()
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := inbox.Put(spool.Item{Name: e.FileName(false), Data: data, Place: spool.Place{Seq: e.Header.Aurora.Seq}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func eventName(e *amp.Envelope) string { return e.FileName(false) }

// in returns the names of the files in a folder of the kernel, without it.
func (w *world) in(folder string) []string { return filesIn(w.disk, folder) }

func filesIn(disk *spooltest.Disk, folder string) []string {
	var names []string
	for _, name := range disk.Names() {
		if path.Dir(name) == "/k/"+folder {
			names = append(names, path.Base(name))
		}
	}
	return names
}

// units returns the units of all states, by id.
func unitsOn(t *testing.T, disk *spooltest.Disk) map[string]*unit.Unit {
	t.Helper()
	units := make(map[string]*unit.Unit)
	for _, state := range spool.States() {
		folder := "pipeline/message_queue/" + string(state)
		for _, name := range filesIn(disk, folder) {
			if name[0] == '.' {
				continue
			}
			data, err := disk.ReadFile("/k/" + folder + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			u, err := unit.Parse(data)
			if err != nil {
				t.Fatalf("%s/%s: %v", folder, name, err)
			}
			if units[u.ID] != nil {
				t.Errorf("unit %s is in two folders", u.ID)
			}
			units[u.ID] = u
		}
	}
	return units
}

func (w *world) units() map[string]*unit.Unit { return unitsOn(w.t, w.disk) }

// holding returns the text of the one unit that holds an event.
func (w *world) holding(e *amp.Envelope) *unit.Unit {
	w.t.Helper()
	var found *unit.Unit
	for _, u := range w.units() {
		if u.Has(e) {
			if found != nil {
				w.t.Errorf("%s is in two units", e.Header.MessageID)
			}
			found = u
		}
	}
	if found == nil {
		w.t.Fatalf("%s is in no unit", e.Header.MessageID)
	}
	return found
}

var passage = regexp.MustCompile(`(?m)^<!-- unit (\S+) -->\n(?s:.*?)^<!-- end (\S+) -->$`)

// passagesOn returns how often each unit is in the stream and its archive.
func passagesOn(t *testing.T, disk *spooltest.Disk) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, folder := range []string{"self/stream", "self/stream/archive"} {
		for _, name := range filesIn(disk, folder) {
			data, _ := disk.ReadFile("/k/" + folder + "/" + name)
			rest := passage.ReplaceAllStringFunc(string(data), func(p string) string {
				m := passage.FindStringSubmatch(p)
				if m[1] != m[2] || strings.Count(p, beginMark) != 1 {
					t.Errorf("%s has a broken passage: %s", name, p)
				}
				counts[m[1]]++
				return ""
			})
			if strings.TrimSpace(rest) != "" {
				t.Errorf("%s/%s has this beside passages: %q", folder, name, rest)
			}
		}
	}
	return counts
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
