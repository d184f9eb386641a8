package host

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// An app is one app of the host and everything that concerns it alone.
//
// Its life belongs to one goroutine, its supervisor. Others read the snapshot,
// which the supervisor replaces as a whole, and leave word in the channels.
type app struct {
	host *Host
	key  string
	log  *slog.Logger

	conf     atomic.Pointer[config.App] // replaced by the supervisor only
	snap     atomic.Pointer[snapshot]   // replaced by the supervisor only
	wish     atomic.Pointer[wish]       // replaced by Reload only; never nil
	poked    chan struct{}              // cap 1: there may be a new wish
	calls    atomic.Int64               // requests of callers in flight
	commands chan command               // unbuffered: taken when acted upon
	wake     chan struct{}              // cap 1: wanted was raised
	// wanted is how many starts must have ended before a waiting call is
	// content; the supervisor cuts a backoff short while it is higher than
	// the number that have.
	wanted atomic.Int64
	// changed holds the lists that the server said have changed; dirty (cap 1)
	// tells the supervisor to look.
	changed atomic.Uint32
	dirty   chan struct{}
	// doubted (cap 1) tells the supervisor that a call met a server that wants
	// other credentials.
	doubted chan struct{}
	fresh   gate // shut while a refresh is due or running
	subs    subscriptions
	wire    wire          // to the session of the current epoch
	done    chan struct{} // closed when the supervisor has ended

	// after, if set, is an app of this key that left. It must be gone before
	// this one starts, which goes on counting where it ended.
	after *app

	// What follows belongs to the supervisor.

	fault      string        // why the configuration forbids to start it; empty: it does not
	now        snapshot      // what is published next
	epoch      uint64        // starts so far
	delay      time.Duration // the next backoff
	woken      bool          // the current start was brought forward by a call
	healthy    time.Time     // since when it has been healthy; zero: it is not
	misses     int           // pings in a row without an answer
	stale      string        // why lists are stale; empty: none is
	staleLists lists
}

// A snapshot is how an app is at one moment. Published snapshots never change.
type snapshot struct {
	state    State
	reason   string
	since    time.Time
	live     *live // takes calls; nil unless Ready or Degraded
	link     *Link // of the current process or connection; nil: none
	starts   int64 // starts that have ended, well or not
	failures int   // in a row
	restarts int
	exit     *Exit
	stderr   []string // last lines of the last process that ended
	noise    int64    // without that of link
	warnings []string
	kept     string // why the last configuration was not taken over; empty: it was
	heeded   int64  // number of the last wish that was carried out
	effect   Effect // what that did
	version  string
	era      string
	server   string
	next     chan struct{} // closed when there is a newer snapshot
}

// A live is a session that takes calls.
type live struct {
	session *mcp.Session
	link    *Link
	epoch   uint64
}

func newApp(h *Host, conf *config.App, fault string) *app {
	a := &app{
		host:     h,
		key:      conf.Key,
		fault:    fault,
		log:      h.logger.With("app", conf.Key),
		poked:    make(chan struct{}, 1),
		commands: make(chan command),
		wake:     make(chan struct{}, 1),
		dirty:    make(chan struct{}, 1),
		doubted:  make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	a.conf.Store(conf)
	a.wish.Store(&wish{conf: conf, fault: fault})
	a.now = snapshot{state: Stopped, reason: "It has not been started yet.", since: time.Now()}
	switch {
	case off(conf) != "":
		a.now.state, a.now.reason = Disabled, disabledReason(conf.Key, off(conf))
	case fault != "":
		a.now.state, a.now.reason = Unavailable, fault
	}
	s := a.now
	s.next = make(chan struct{})
	a.snap.Store(&s)
	return a
}

// off says what switches an app off; empty: nothing does.
func off(conf *config.App) string {
	if conf.Disabled == "" && !conf.Enabled {
		return "enabled: false"
	}
	return conf.Disabled
}

// config returns the configuration that the app runs under.
func (a *app) config() *config.App { return a.conf.Load() }

// announce says that the app is about to start, if it is. It is called before
// the supervisor runs, so that whoever looks after Start sees Starting.
func (a *app) announce() {
	if a.now.state == Stopped {
		a.enter(Starting, "It is waiting for its turn to start.")
	}
}

// enter takes a new state and publishes it.
func (a *app) enter(s State, reason string) {
	if s != a.now.state {
		a.now.since = time.Now()
		level := slog.LevelInfo
		if s == Unavailable || s == Restarting {
			level = slog.LevelError
		}
		a.log.Log(context.Background(), level, "App is "+string(s)+".", "state", string(s), "reason", reason, "epoch", a.epoch)
	}
	a.now.state, a.now.reason = s, reason
	a.publish()
}

// publish makes the supervisor's view the one that others see.
func (a *app) publish() {
	s := a.now
	s.next = make(chan struct{})
	old := a.snap.Swap(&s)
	close(old.next)
	a.host.health.poke()
}

// A command is an order to a supervisor.
type command struct {
	op   op
	done chan error // cap 1: answered when the order has been carried out
}

type op int

const (
	opStart op = iota
	opStop
	opRestart
)

// StartApp starts an app that is stopped or given up and returns when the
// start has begun; Settled tells when it is decided. An app that runs or is
// about to start is left alone, but an app that waits for its next start is
// started now, with all attempts before it.
//
// name is a key or a package. The error is a [*call.Error]: APP_UNKNOWN,
// CONFIG_INVALID for an app that is disabled or whose configuration is faulty,
// SHUTTING_DOWN, CALL_CANCELLED when ctx ended first.
func (h *Host) StartApp(ctx context.Context, name string) error {
	return h.command(ctx, name, opStart)
}

// StopApp stops an app and returns when nothing of it is left. Its calls in
// flight are cancelled upstream. A stopped app is started only by StartApp,
// RestartApp or a new host; its tools are not listed. Errors: see StartApp.
func (h *Host) StopApp(ctx context.Context, name string) error {
	return h.command(ctx, name, opStop)
}

// RestartApp stops an app if it runs, and starts it. It returns when the new
// start has begun. Errors: see StartApp.
func (h *Host) RestartApp(ctx context.Context, name string) error {
	return h.command(ctx, name, opRestart)
}

func (h *Host) command(ctx context.Context, name string, o op) error {
	a := h.app(name)
	if a == nil {
		return h.appUnknown(name)
	}
	if !h.started.Load() {
		return &call.Error{Code: call.AppUnavailable, Message: "The host has not been started.", Retryable: true}
	}
	c := command{op: o, done: make(chan error, 1)}
	select {
	case a.commands <- c:
	case <-a.done:
		if !h.closing.Load() {
			return h.appUnknown(name)
		}
		return shuttingDown()
	case <-ctx.Done():
		return &call.Error{Code: call.CallCancelled, Message: fmt.Sprintf("The app %q is busy starting or stopping; the order was given up.", a.key), Retryable: true}
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return &call.Error{Code: call.CallCancelled, Message: fmt.Sprintf("The app %q goes on with the order, but nobody waits for it any more.", a.key)}
	}
}

// A gate can be waited for until it is open. It begins open. Only the session
// of its epoch can shut it, so that the last words of an old one keep nobody
// waiting.
type gate struct {
	mu     sync.Mutex    // guards epoch and opened
	epoch  uint64        // 0: nobody can shut it
	opened chan struct{} // closed when the gate opens; nil: it is open
}

// begin lets the session of an epoch, and no other, shut the gate.
func (g *gate) begin(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epoch = epoch
	g.release()
}

func (g *gate) shut(epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil && g.epoch == epoch {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.release()
}

func (g *gate) release() {
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

// wait returns nil if the gate is open, else a channel that is closed when it
// opens.
func (g *gate) wait() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}
