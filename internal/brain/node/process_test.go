package node

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// victimEnv names the kernel folder of a brain that lives to be killed.
const victimEnv = "AURORA_TEST_BRAIN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimEnv); dir != "" {
		if err := live(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// live is a brain in a process of its own. It ends when its input does.
func live(dir string) error {
	o := usual()
	o.Debounce, o.MaxWait = 50*time.Millisecond, 200*time.Millisecond
	o.Turner = noted(filepath.Join(dir, "turns.log"))
	b := bus.New(bus.Options{Dir: dir})
	top, err := circuit.Parse("topology.yaml", []byte(plainTopologyHead), Registry(o))
	if err != nil {
		return err
	}
	c, err := circuit.New(circuit.Options{Topology: top, Bus: b, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		stop()
	}()
	fmt.Println("ready")
	c.Run(ctx)
	return nil
}

// noted is a file in which each turn is noted.
type noted string

func (n noted) Run(_ context.Context, u *unit.Unit) error {
	f, err := os.OpenFile(string(n), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = fmt.Fprintln(f, u.ID); err != nil {
		return err
	}
	return f.Sync()
}

// A brain is killed with kill -9 at random moments while 50 sessions talk. In the
// end every event is in exactly one unit, every unit in the stream exactly once,
// and every unit that wakes had its turn.
func TestAKilledBrainLosesAndDoublesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const kills, sessions = 20, 50
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	inbox, err := spool.Open(filepath.Join(dir, "inbox"), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []*amp.Envelope
	say := func(n int) {
		var items []spool.Item
		for range n {
			number := len(events) + 1
			e := said(number, fmt.Sprint("s", random.IntN(sessions)), fmt.Sprint("text ", number))
			switch random.IntN(4) {
			case 0:
				e = said(number, e.Payload.SessionID, fmt.Sprint("/", number))
			case 1:
				e = envelope(number, "x.y", "", "")
			}
			data, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
			items = append(items, spool.Item{Name: eventName(e), Data: data})
		}
		if _, err := inbox.Put(items...); err != nil {
			t.Fatal(err)
		}
	}
	for range kills {
		say(1 + random.IntN(20))
		brain := begin(t, dir)
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		if err := brain.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = brain.cmd.Wait() // it was killed
	}
	say(5)
	brain := begin(t, dir)
	units := brain.untilDone(t, dir, len(events))
	brain.stop(t)

	in := map[string]int{}
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
	stream, err := os.ReadFile(filepath.Join(dir, "self", "stream", "now.md"))
	if err != nil {
		t.Fatal(err)
	}
	archive, _ := filepath.Glob(filepath.Join(dir, "self", "stream", "archive", "*.md"))
	for _, name := range archive {
		data, _ := os.ReadFile(name)
		stream = append(stream, data...)
	}
	turns, _ := os.ReadFile(filepath.Join(dir, "turns.log"))
	for id, u := range units {
		if n := strings.Count(string(stream), beginMark+id+" "); n != 1 {
			t.Errorf("unit %s is %d times in the stream", id, n)
		}
		if had := strings.Contains(string(turns), id); had != u.Wake {
			t.Errorf("unit %s wakes: %v, had a turn: %v", id, u.Wake, had)
		}
	}
	t.Logf("%d events, %d units, %d turns, %d kills", len(events), len(units), strings.Count(string(turns), "\n"), kills)
}

type victim struct {
	cmd *exec.Cmd
	in  interface{ Close() error }
}

// begin starts a brain, and returns when it is ready.
func begin(t *testing.T, dir string) *victim {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimEnv+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the brain said %q, %v", line, err)
	}
	return &victim{cmd, in}
}

func (v *victim) stop(t *testing.T) {
	t.Helper()
	if err := v.in.Close(); err != nil {
		t.Error(err)
	}
	if err := v.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// untilDone waits until every file has come to its end, and returns the units.
func (v *victim) untilDone(t *testing.T, dir string, events int) map[string]*unit.Unit {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		waiting, done := 0, 0
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				switch folder := filepath.Dir(path); filepath.Base(folder) {
				case "pending", "processing":
					waiting++
				case "done":
					if strings.Contains(folder, "inbox") {
						done++
					}
				case "dead":
					t.Errorf("dead: %s", path)
				}
			}
			return nil // it may have moved meanwhile
		})
		if waiting == 0 && done == events {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d files still wait, %d of %d events are done", waiting, done, events)
		}
	}
	units := make(map[string]*unit.Unit)
	names, _ := filepath.Glob(filepath.Join(dir, "pipeline", "message_queue", "done", "*.json"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		u, err := unit.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		units[u.ID] = u
	}
	return units
}
