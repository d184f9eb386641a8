package host

import (
	"context"
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

	apps  []*app          // order of the configuration; never changes
	byKey map[string]*app // never changes
	slots chan struct{}   // one element per start that is spawning

	catalog atomic.Pointer[Catalog]
	// mu guards parts and the order in which catalogs are published. It is
	// held while a catalog is put together, never during I/O.
	mu    sync.Mutex
	parts []*part // by index of the app; nil: never listed

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
		byKey:    make(map[string]*app, len(o.Apps)),
		slots:    make(chan struct{}, o.Concurrency),
		parts:    make([]*part, len(o.Apps)),
		drained:  make(chan struct{}, 1),
		refusing: make(chan struct{}),
		quit:     make(chan struct{}),
	}
	h.hurry, h.rush = context.WithCancel(context.Background())
	for i, conf := range o.Apps {
		a := newApp(h, i, conf, o.Faults[conf.Key])
		h.apps = append(h.apps, a)
		h.byKey[conf.Key] = a
	}
	h.catalog.Store(join(h.parts))
	if o.HealthFile != "" {
		h.health = newHealthFile(h, o.HealthFile)
	}
	return h
}

// Start starts all apps that are enabled and returns at once. They live until
// Close, whatever becomes of ctx. A second Start does nothing.
func (h *Host) Start(context.Context) {
	h.startOnce.Do(func() {
		h.started.Store(true)
		for _, a := range h.apps {
			a.announce()
		}
		for _, a := range h.apps {
			go a.run()
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
	apps := h.apps
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
				return fmt.Errorf("waiting for app %q: %w", a.conf.Key, context.Cause(ctx))
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
	for _, a := range h.apps {
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
	if a := h.byKey[name]; a != nil {
		return a
	}
	for _, a := range h.apps {
		if a.conf.Package == name {
			return a
		}
	}
	return nil
}

// publish replaces what app i contributes to the catalog.
func (h *Host) publish(i int, p *part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[i] = p
	h.catalog.Store(join(h.parts))
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
