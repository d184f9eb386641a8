package node

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// arrivals notes when each turn begins.
type arrivals struct {
	mu    sync.Mutex // guards what follows
	at    map[string]time.Time
	want  int
	whole chan struct{}
}

func (a *arrivals) Run(_ context.Context, u *unit.Unit) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for _, e := range u.Events {
		a.at[e.Header.MessageID] = now
	}
	if len(a.at) == a.want {
		close(a.whole)
	}
	return nil
}

// BenchmarkTwoHundredSessions brings what 200 sessions say at once, five messages
// each, from the inbox to their turns, on a real disk and with nothing waiting
// for quiet. Turns cost nothing here: what is measured is the way.
//
// With units=one every message is a unit of its own, as a command is; with
// units=session what a session says is one.
func BenchmarkTwoHundredSessions(b *testing.B) {
	for _, kind := range []string{"one", "session"} {
		b.Run("units="+kind, func(b *testing.B) {
			const sessions, each = 200, 5
			var waits []time.Duration
			var peak uint64
			for b.Loop() {
				b.StopTimer()
				o := usual()
				o.Debounce, o.MaxWait = 0, 0
				text := "/%d"
				if kind == "session" {
					o.Debounce, o.MaxWait, text = 50*time.Millisecond, time.Second, "%d"
				}
				all := &arrivals{at: map[string]time.Time{}, want: sessions * each, whole: make(chan struct{})}
				o.Turner = all
				bu := bus.New(bus.Options{Dir: b.TempDir()})
				top, err := circuit.Parse("topology.yaml", []byte(plainTopologyHead), Registry(o))
				if err != nil {
					b.Fatal(err)
				}
				c, err := circuit.New(circuit.Options{Topology: top, Bus: bu, Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				inbox, err := bu.Queue(bus.Inbox, bus.Events)
				if err != nil {
					b.Fatal(err)
				}
				ctx, stop := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				wg.Go(func() { c.Run(ctx) })
				b.StartTimer()
				put := map[string]time.Time{}
				for round := range each {
					var items []spool.Item
					for s := range sessions {
						e := said(1+round*sessions+s, fmt.Sprint("s", s), fmt.Sprintf(text, round))
						data, _ := e.MarshalJSON()
						items = append(items, spool.Item{Name: eventName(e), Data: data, Place: unit.EventPlace(e)})
						put[e.Header.MessageID] = time.Now()
					}
					if _, err := inbox.Put(items...); err != nil {
						b.Fatal(err)
					}
				}
				<-all.whole
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
				b.StopTimer()
				stop()
				wg.Wait()
				for id, at := range all.at {
					waits = append(waits, at.Sub(put[id]))
				}
				b.StartTimer()
			}
			slices.Sort(waits)
			b.ReportMetric(float64(len(waits))/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(waits[len(waits)/2].Milliseconds()), "p50-ms")
			b.ReportMetric(float64(waits[len(waits)*99/100].Milliseconds()), "p99-ms")
			b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
		})
	}
}
