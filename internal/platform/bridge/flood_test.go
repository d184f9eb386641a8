package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
	"github.com/aurorabot/aurora/internal/testkit"
)

// A memoryDialer plays a script in memory.
type memoryDialer struct {
	t      *testing.T
	script *testkit.Script
}

func (d memoryDialer) Dial(context.Context, *config.App) (*host.Link, error) {
	peer := testkit.StartPeer(d.t, d.script)
	return &host.Link{Transport: mcp.NewStdio(peer.Out, peer.In, mcp.StdioOptions{})}, nil
}

// E07: a server sends 20 000 notifications during one call, and the disk takes a
// hundred files a second. The call answers at once; what finds no room is
// counted, told in one event and shown; the memory is that of the queue.
func TestE07AFloodDuringACallOnASlowDisk(t *testing.T) {
	const flood = 20_000
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		disk.Slow(func() { time.Sleep(10 * time.Millisecond) })
		h := buildOn(t, t.TempDir(), disk, nil)
		script, err := testkit.Parse("demo", `
tool flood
on tools/call flood
  repeat 20000
    notify notifications/acme/tick {"n": ${i}, "text": "`+strings.Repeat("x", 2000)+`"}
  reply text done
`)
		if err != nil {
			t.Fatal(err)
		}
		app := &config.App{Key: "demo", Package: "demo", Enabled: true, Trust: config.TrustNormal}
		app.MCP.Transport, app.MCP.CallTimeout = config.Stdio, 30*time.Second
		apps := host.New(host.Options{Apps: []*config.App{app}, Dialer: memoryDialer{t, script}, Observe: h.Observe})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		apps.Start(t.Context())
		if err := apps.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}

		before := heap()
		r := apps.Call(t.Context(), call.Call{Caller: call.Caller{Kind: call.CLI}, Name: "demo.flood"})
		waiting := h.queue.depth()
		after := heap()
		if r.Outcome != call.OK || !strings.Contains(string(r.Raw), "done") {
			t.Fatalf("the call ended as %s: %v", r.Outcome, r.Err)
		}
		if waiting == 0 {
			t.Error("the disk was not slow: nothing waits when the call has ended")
		}
		if waiting > h.queue.maxSignals {
			t.Errorf("%d signals wait, more than there is room for", waiting)
		}
		st := h.Status()
		if st.Waiting != waiting || st.Apps["demo"].Dropped == 0 {
			t.Errorf("what is dropped is not shown while it happens: %+v", st)
		}

		if err := apps.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		ticks, told := 0, int64(0)
		for _, e := range h.events() {
			switch e.Payload.Type {
			case "mcp.notification.acme.tick":
				ticks++
			case amp.TypeError:
				told += faultOf(t, e).Count
			}
		}
		dropped := h.Status().Apps["demo"].Dropped
		if int64(ticks)+dropped < flood {
			t.Errorf("%d written and %d dropped are fewer than %d", ticks, dropped, flood)
		}
		if told != dropped {
			t.Errorf("%d were dropped and %d told", dropped, told)
		}
		t.Logf("%d written, %d dropped; %d waited when the call had answered; the heap grew by %d MiB", ticks, dropped, waiting, int64(after-before)>>20)
		if grown := int64(after) - int64(before); grown > 2*int64(h.queue.maxBytes) {
			t.Errorf("the heap grew by %d bytes, the queue holds at most %d", grown, h.queue.maxBytes)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func faultOf(t *testing.T, e *amp.Envelope) (f amp.Fault) {
	t.Helper()
	if err := json.Unmarshal(e.Payload.Data, &f); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(f.Count); !strings.Contains(f.Message, want) || f.Apps["demo"] != f.Count {
		t.Errorf("fault %+v", f)
	}
	return f
}
