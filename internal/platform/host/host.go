package host

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/policy"
	"github.com/aurorabot/aurora/internal/redact"
)

// A Policy judges calls. Its methods are called from any number of goroutines.
type Policy interface {
	// Risk returns the risk of a tool when it is listed. It must not block.
	Risk(app *config.App, canonical string, hints policy.Hints) policy.Risk
	// Decide judges one call. It may block until ctx ends.
	Decide(ctx context.Context, r policy.Request) policy.Decision
}

// An Audit keeps what happened. Append is called once for every request that
// came in, from any number of goroutines, and must not block.
type Audit interface {
	Append(audit.Record)
}

// Options are the settings of a Host.
type Options struct {
	// Apps are the apps, in the order in which their tools are listed. Keys
	// must be unique.
	Apps []*config.App
	// Faults holds, by key, apps that must not be started and why: a full
	// sentence. They are Unavailable from the beginning.
	Faults map[string]string
	// Dialer opens links. Required if any app is enabled.
	Dialer Dialer
	// Policy judges calls. Default: policy.Plain.
	Policy Policy
	// Audit, if set, is told of every request.
	Audit Audit
	// Observe, if set, is told of every signal, on the goroutine where it
	// arose: a session's reader, an app's supervisor, a caller. It must not
	// block. If it is nil no signal is built.
	Observe func(Signal)
	// Client is how we name ourselves to servers. Default: aurora.
	Client mcp.Implementation
	// Logger gets the life cycle of apps at INFO. Default: none.
	Logger *slog.Logger
	// Redact masks secrets in reasons and errors. Nil masks only what looks
	// like a secret.
	Redact *redact.Redactor
	// Concurrency is how many apps may be spawning at once. A start counts
	// until its first byte of output, or for a second. Default: 2 × cores.
	Concurrency int
	// HealthFile, if set, is kept up to date with the status of all apps.
	HealthFile string
	// House, if set, is what the rest of the house says of itself in the health
	// file, one JSON value. It is called by one goroutine at a time and must
	// not block; see HouseChanged.
	House func() json.RawMessage
	// DrainTime is how long Close lets calls in flight go on. Default: 5 s.
	// Negative: not at all.
	DrainTime time.Duration
}

// A Host holds the sessions of all apps, the catalog of what they offer, and
// the one path of a call. All methods may be called from any number of
// goroutines.
type Host struct {
	opt    Options
	logger *slog.Logger
	redact *redact.Redactor
	policy Policy

	roster atomic.Pointer[roster]
	slots  chan struct{} // one element per start that is spawning

	catalog atomic.Pointer[Catalog]
	// mu guards parts and the order in which catalogs and rosters are
	// published. It is held while a catalog is put together, never during I/O.
	mu    sync.Mutex
	parts map[*app]*part // of those apps that were listed

	// reload guards what follows and the making of rosters. It is never held
	// while anybody waits.
	reload  sync.Mutex
	reloads int64           // so far
	leaving map[string]*app // by key: the last one that left
	ended   bool            // no supervisor is started any more

	supervisors sync.WaitGroup

	closing  atomic.Bool   // no new calls
	inflight atomic.Int64  // requests inside the host
	drained  chan struct{} // cap 1: inflight came to 0 while closing
	refusing chan struct{} // closed when closing begins: waiting callers give up
	quit     chan struct{} // closed when supervisors must end
	hurry    context.Context
	rush     context.CancelFunc // ends hurry: processes are killed, not asked

	health    *healthFile // nil: none
	startOnce sync.Once
	started   atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

// New makes a host. Nothing runs before Start.
func New(o Options) *Host {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Policy == nil {
		o.Policy = policy.Plain{}
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 2 * runtime.GOMAXPROCS(0)
	}
	if o.DrainTime == 0 {
		o.DrainTime = drainCalls
	}
	if o.Client.Name == "" {
		o.Client.Name = "aurora"
	}
	h := &Host{
		opt:      o,
		logger:   o.Logger,
		redact:   o.Redact,
		policy:   o.Policy,
		slots:    make(chan struct{}, o.Concurrency),
		parts:    make(map[*app]*part),
		leaving:  make(map[string]*app),
		drained:  make(chan struct{}, 1),
		refusing: make(chan struct{}),
		quit:     make(chan struct{}),
	}
	h.hurry, h.rush = context.WithCancel(context.Background())
	apps := make([]*app, len(o.Apps))
	for i, conf := range o.Apps {
		apps[i] = newApp(h, conf, o.Faults[conf.Key])
	}
	h.enroll(apps)
	if o.HealthFile != "" {
		h.health = newHealthFile(h, o.HealthFile)
	}
	return h
}

// Start starts all apps that are enabled and returns at once. They live until
// Close, whatever becomes of ctx. A second Start does nothing.
func (h *Host) Start(context.Context) {
	h.startOnce.Do(func() {
		h.reload.Lock()
		defer h.reload.Unlock()
		h.started.Store(true)
		for _, a := range h.apps() {
			a.announce()
		}
		for _, a := range h.apps() {
			h.supervisors.Go(a.run)
		}
		if h.health != nil {
			go h.health.run()
		}
	})
}

// Settled waits until each of the named apps (keys or packages; all apps if
// none is named) has left Starting. It says nothing about how they are then.
// The error is that of ctx, or APP_UNKNOWN.
func (h *Host) Settled(ctx context.Context, names ...string) error {
	apps := h.apps()
	if len(names) > 0 {
		apps = make([]*app, len(names))
		for i, name := range names {
			if apps[i] = h.app(name); apps[i] == nil {
				return h.appUnknown(name)
			}
		}
	}
	for _, a := range apps {
		for s := a.snap.Load(); s.state == Starting; s = a.snap.Load() {
			select {
			case <-s.next:
			case <-ctx.Done():
				return fmt.Errorf("waiting for app %q: %w", a.key, context.Cause(ctx))
			}
		}
	}
	return nil
}

// Catalog returns the current catalog. It never waits. See Fresh.
func (h *Host) Catalog() *Catalog { return h.catalog.Load() }

// Fresh waits until no list is being refreshed, for at most two seconds or
// until ctx ends. Whoever wants the catalog as it is after a call that changed
// an app's tools calls it first.
func (h *Host) Fresh(ctx context.Context) {
	var limit <-chan time.Time
	for _, a := range h.apps() {
		opened := a.fresh.wait()
		if opened == nil {
			continue
		}
		if limit == nil {
			t := time.NewTimer(freshTimeout)
			defer t.Stop()
			limit = t.C
		}
		select {
		case <-opened:
		case <-limit:
			return
		case <-ctx.Done():
			return
		}
	}
}

// app returns the app with a key, or else with a package; nil if there is none.
func (h *Host) app(name string) *app {
	r := h.roster.Load()
	if a := r.byKey[name]; a != nil {
		return a
	}
	for _, a := range r.apps {
		if a.config().Package == name {
			return a
		}
	}
	return nil
}

// A roster is who the apps are at one moment, in the order of the
// configuration. Rosters never change.
type roster struct {
	apps  []*app
	byKey map[string]*app
}

// apps returns the apps of this moment. The slice must not be changed.
func (h *Host) apps() []*app { return h.roster.Load().apps }

// enroll makes these the apps of the host, in this order.
func (h *Host) enroll(apps []*app) {
	r := &roster{apps: apps, byKey: make(map[string]*app, len(apps))}
	for _, a := range apps {
		r.byKey[a.key] = a
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.roster.Store(r)
	h.join()
}

// publish replaces what an app contributes to the catalog; nil: nothing.
func (h *Host) publish(a *app, p *part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p == nil {
		delete(h.parts, a)
	} else {
		h.parts[a] = p
	}
	h.join()
}

// join puts the catalog together. h.mu is held.
func (h *Host) join() {
	var parts []*part
	for _, a := range h.apps() {
		if p := h.parts[a]; p != nil {
			parts = append(parts, p)
		}
	}
	h.catalog.Store(join(parts))
}

// observe sends a signal whose time and app are filled in.
func (h *Host) observe(s Signal) {
	if h.opt.Observe != nil {
		s.At = time.Now()
		h.opt.Observe(s)
	}
}

// enter counts a request in; false: the host is closing and refuses it.
func (h *Host) enter() bool {
	h.inflight.Add(1)
	if h.closing.Load() {
		h.leave()
		return false
	}
	return true
}

// leave counts a request out.
func (h *Host) leave() {
	if h.inflight.Add(-1) == 0 && h.closing.Load() {
		select {
		case h.drained <- struct{}{}:
		default:
		}
	}
}

var _ Policy = policy.Plain{}
var _ Audit = (*audit.Log)(nil)
