package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/bridge"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/spool"
)

const (
	flowEvery = 2 * time.Second // between two looks at how the flow is, for the health file
	// flowHurry is what a house that is killed gives a slow disk to take what is
	// queued.
	flowHurry = 2 * time.Second
)

// A flow is the way of events from the sessions into the spools. It owns the
// bridge, the spools, and their goroutines.
type flow struct {
	conf    *config.Config                // that the spools were opened with
	current atomic.Pointer[config.Config] // after reloads
	log     *slog.Logger
	outlets []bridge.Outlet
	bridge  *bridge.Bridge

	host    *host.Host         // whose signals they are; nil before start
	stop    context.CancelFunc // ends the bridge, which then writes what is queued
	ended   chan struct{}      // closed when it has
	err     error              // of the bridge; valid after ended
	quiet   context.CancelFunc // ends the rest
	helpers sync.WaitGroup     // the rest
}

// openFlow opens the spools and makes the bridge. Nothing runs before start.
func openFlow(c *config.Config, log *slog.Logger) (*flow, error) {
	f := &flow{conf: c, log: log, ended: make(chan struct{})}
	f.current.Store(c)
	var err error
	if f.outlets, err = openOutlets(c, log); err != nil {
		return nil, err
	}
	f.bridge, err = bridge.New(bridge.Options{
		Outlets:  f.outlets,
		SeenFile: c.Home.Data("platform", "delivered.jsonl"),
		Ack:      f.acknowledge,
		Redact:   c.Redact,
		Logger:   log,
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// start begins to write what the bridge observes of a host, which is not started
// yet.
func (f *flow) start(h *host.Host) {
	f.host = h
	run, stop := context.WithCancel(context.Background())
	f.stop = stop
	go func() {
		defer close(f.ended)
		f.err = f.bridge.Run(run)
	}()
	rest, quiet := context.WithCancel(context.Background())
	f.quiet = quiet
	for _, o := range f.outlets {
		f.helpers.Go(func() { o.Spool.Run(rest) })
	}
	f.helpers.Go(func() { f.watch(rest) })
}

// acknowledge tells an app which of its events are durable, if it declared that
// it wants to know (DESIGN 7).
func (f *flow) acknowledge(ctx context.Context, app *config.App, epoch uint64, params []byte) error {
	declared, err := f.host.Experimental(ctx, app.Key, epoch, "aurora/event")
	if err != nil {
		return err
	}
	var event struct {
		Ack bool `json:"ack"`
	}
	if json.Unmarshal(declared, &event) != nil || !event.Ack {
		return bridge.ErrNotWanted
	}
	return f.host.Notify(ctx, app.Key, epoch, "notifications/aurora/ack", params)
}

// watch has the health file written when the flow has changed.
func (f *flow) watch(ctx context.Context) {
	tick := time.NewTicker(flowEvery)
	defer tick.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// What waits in a spool changes all the time and says little.
		now := f.glance()
		if said := fmt.Sprint(now.State, now.Problems, now.Warnings); said != last {
			last = said
			f.host.HouseChanged()
		}
	}
}

// close ends the flow when everything that was observed is written. The host is
// closed before, so that nothing more comes. When ctx ends, a disk that takes
// nothing is waited for a little longer, and then left alone.
func (f *flow) close(ctx context.Context) error {
	if f.host == nil { // it was never started, and has nothing but open files
		ctx, stop := context.WithCancel(ctx)
		stop()
		return f.bridge.Run(ctx)
	}
	f.stop()
	var err error
	select {
	case <-f.ended:
	case <-ctx.Done():
		select {
		case <-f.ended:
		case <-time.After(flowHurry):
			err = fmt.Errorf("not written, for the disk is too slow: %s", brain.Count(f.bridge.Glance().Waiting, "signal"))
		}
	}
	f.quiet()
	f.helpers.Wait()
	if err == nil {
		err = f.err
	}
	return err
}

// spool returns the spool of a name, or nil.
func (f *flow) spool(name string) *spool.Spool {
	for _, o := range f.outlets {
		if o.Name == name {
			return o.Spool
		}
	}
	return nil
}

// status says how the flow is. It looks at the folders.
func (f *flow) status() control.Flow { return f.flowOf(f.bridge.Status()) }

// glance is status without a look at the disk.
func (f *flow) glance() control.Flow { return f.flowOf(f.bridge.Glance()) }

func (f *flow) flowOf(st bridge.Status) control.Flow {
	out := control.Flow{Running: true, State: control.FlowReady, Problems: []string{}, Warnings: []string{}, Waiting: st.Waiting, Spools: []control.SpoolFlow{}, Apps: []control.AppFlow{}}
	for _, o := range f.outlets {
		s := st.Spools[o.Name]
		sf := control.SpoolFlow{
			Name: o.Name, Dir: o.Spool.Dir(), Pending: s.Pending, Processing: s.Processing, Done: s.Done, Dead: s.Dead,
			MaxFiles: s.MaxFiles, Dropped: s.Dropped, Full: s.Full, Fault: s.Fault,
		}
		out.Spools = append(out.Spools, sf)
		if said := spoolProblem(sf); said != "" {
			out.Problems = append(out.Problems, said)
		}
		if s.Dropped > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s for the spool %q since Aurora started.", dropped(s.Dropped, "event"), o.Name))
		}
	}
	if st.Fault != "" {
		out.Problems = append(out.Problems, fmt.Sprintf("Which events were delivered cannot be written down (%s); after a restart an event that an app sends again might be doubled.", st.Fault))
	}
	if len(out.Problems) > 0 {
		out.State = control.FlowDegraded
	}
	for _, pkg := range slices.SortedFunc(maps.Keys(st.Apps), f.byOrder) {
		c := st.Apps[pkg]
		a := control.AppFlow{Key: f.key(pkg), Package: pkg, EventCounts: control.EventCounts(c)}
		out.Apps = append(out.Apps, a)
		who := cmp.Or(a.Key, pkg)
		for _, said := range countWarnings(a.EventCounts) {
			out.Warnings = append(out.Warnings, who+": "+said)
		}
	}
	return out
}

// spoolProblem says in a sentence why a spool takes no events; empty: it does.
func spoolProblem(s control.SpoolFlow) string {
	switch {
	case s.Full:
		return fmt.Sprintf("The spool %q is full (%d files wait), so new events for it are dropped: its consumer does not run or does not keep up.", s.Name, s.MaxFiles)
	case s.Fault != "":
		return fmt.Sprintf("Events cannot be written into the spool %q and are dropped: %s.", s.Name, s.Fault)
	}
	return ""
}

// countWarnings says what went wrong with the events of one app.
func countWarnings(c control.EventCounts) []string {
	var all []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(c.Dropped, "%s: there was no room, or the disk failed.", dropped(c.Dropped, "signal"))
	add(c.Refused, "%s not valid and were refused; the log says why.", of(c.Refused))
	add(c.Undeclared, "%s of a type that events: in its configuration does not allow; they came in as mcp.notification.aurora.event.", of(c.Undeclared))
	add(c.Forged, "%s in the name of another app; its own was set.", of(c.Forged))
	return all
}

func dropped(n int64, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s was dropped", what)
	}
	return fmt.Sprintf("%d %ss were dropped", n, what)
}

func of(n int64) string {
	if n == 1 {
		return "1 of its events was"
	}
	return fmt.Sprintf("%d of its events were", n)
}

// key returns the key of the app with this package; empty if there is none.
func (f *flow) key(pkg string) string {
	for _, a := range f.current.Load().Apps {
		if a.Package == pkg {
			return a.Key
		}
	}
	return ""
}

// byOrder compares packages by the order of their apps in the configuration;
// those of no app come last.
func (f *flow) byOrder(x, y string) int {
	rank := func(pkg string) int {
		apps := f.current.Load().Apps
		i := slices.IndexFunc(apps, func(a *config.App) bool { return a.Package == pkg })
		if i < 0 {
			return len(apps)
		}
		return i
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x, y))
}

// follow tells of events as they come.
func (f *flow) follow(ctx context.Context, r control.FollowRequest, tell func(control.EventNews) error) error {
	follower := f.bridge.Follow()
	defer follower.Close()
	if err := tell(control.EventNews{}); err != nil {
		return err
	}
	for {
		select {
		case s, open := <-follower.C:
			if !open {
				return &call.Error{Code: call.ShuttingDown, Message: "Aurora is stopping", Retryable: true}
			}
			if err := f.tell(r, s, tell); err != nil {
				return err
			}
		case <-ctx.Done():
			return control.AsError(ctx.Err())
		}
	}
}

// tell passes one sighting on, once for each place it lies in.
func (f *flow) tell(r control.FollowRequest, s bridge.Sighting, tell func(control.EventNews) error) error {
	if s.Lost > 0 {
		if err := tell(control.EventNews{Missed: s.Lost}); err != nil {
			return err
		}
	}
	if !r.Wants(s.Envelope) {
		return nil
	}
	spools := slices.DeleteFunc(slices.Clone(s.Spools), func(name string) bool { return !r.InSpool(name) })
	refused := slices.DeleteFunc(slices.Clone(s.Refused), func(name string) bool { return !r.InSpool(name) })
	routed := len(s.Spools)+len(s.Refused) > 0
	if len(spools)+len(refused) == 0 && (routed || !r.All || len(r.Spools) > 0) {
		return nil
	}
	raw, err := s.Envelope.MarshalJSON()
	if err != nil {
		return err
	}
	if len(spools) == 0 {
		return tell(control.EventNews{Event: &control.EventFile{Envelope: raw}, Dropped: refused})
	}
	for i, name := range spools {
		n := control.EventNews{Event: &control.EventFile{Spool: name, State: string(spool.Pending), File: s.File, Envelope: raw}}
		if i == 0 {
			n.Dropped = refused
		}
		if err := tell(n); err != nil {
			return err
		}
	}
	return nil
}

// Flow implements [control.House].
func (d *Daemon) Flow(context.Context) (control.Flow, error) {
	if d.flow == nil {
		return control.Flow{}, errNoFlow
	}
	return d.flow.status(), nil
}

// FollowEvents implements [control.House].
func (d *Daemon) FollowEvents(ctx context.Context, r control.FollowRequest, tell func(control.EventNews) error) error {
	if d.flow == nil {
		return errNoFlow
	}
	return d.flow.follow(ctx, r, tell)
}

// EventAction implements [control.House].
func (d *Daemon) EventAction(_ context.Context, r control.EventActionRequest) (control.EventDone, error) {
	if d.flow == nil {
		return control.EventDone{}, errNoFlow
	}
	s := d.flow.spool(r.Spool)
	if s == nil {
		return control.EventDone{}, eventUnknown(r.File)
	}
	return actOnEvent(s, r)
}

// errNoFlow is the answer of a house that is open for one command only.
var errNoFlow = errors.New("this house makes no events")
