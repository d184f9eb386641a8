package host

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/aurorabot/aurora/internal/config"
)

// An Effect is what a reload did to one app.
type Effect string

// The effects of a reload.
const (
	EffectNone      Effect = "unchanged"
	EffectAdded     Effect = "added"     // it was not there before
	EffectRemoved   Effect = "removed"   // it is there no more, and nothing of it is left
	EffectRestarted Effect = "restarted" // what its process or session depends on has changed
	EffectAdjusted  Effect = "adjusted"  // it runs on under its new configuration
	EffectStarted   Effect = "started"   // it was switched off or given up
	EffectStopped   Effect = "stopped"   // it is switched off now
	EffectKept      Effect = "kept"      // its new configuration is faulty: it runs on under the old one
	EffectFaulty    Effect = "faulty"    // its configuration is faulty and it does not run
	EffectPending   Effect = "pending"   // it has not come to it yet
)

// A Diff is what a reload did to all apps, in the order of the new
// configuration. Those that left come last.
type Diff struct{ Apps []AppDiff }

// An AppDiff is what a reload did to one app.
type AppDiff struct {
	Key    string
	Effect Effect
}

// Reload gives the host another configuration. faults holds, by key, apps that
// must not be started and why, as [Options.Faults] does.
//
// Apps are told apart by key. One whose configuration is as before is not
// touched: process, session and calls in flight live on. One of which only
// changed what Aurora itself looks at (permissions, trust, time limits, restart
// policy and the like) runs on under the new configuration. Any other that
// changed is stopped and started. One that runs and is faulty now runs on as
// before, with a warning: a slip of the pen ends nothing. One that was given up
// is tried again, changed or not; one that somebody stopped stays stopped.
//
// Lists and Status have the new apps, in the new order, when Reload has begun.
// It returns when every app has come to it: what left or changed has stopped, what
// came or changed is starting. That is bounded by the time processes have to
// end. When ctx ends it returns at once and the rest goes on.
//
// Reload may be called at any time and from several goroutines; the last one to
// begin counts. A host that is closing ignores it.
func (h *Host) Reload(ctx context.Context, apps []*config.App, faults map[string]string) Diff {
	number, now, left := h.reform(apps, faults)
	if number == 0 {
		return Diff{}
	}
	var d Diff
	for _, a := range slices.Concat(now, left) {
		d.Apps = append(d.Apps, AppDiff{Key: a.key, Effect: a.heeded(ctx, number)})
	}
	return d
}

// reform makes the new roster and tells everybody what is wished of them. It
// returns the number of the reload, 0 if there is none, and the apps that are
// and those that were.
func (h *Host) reform(confs []*config.App, faults map[string]string) (number int64, now, left []*app) {
	h.reload.Lock()
	defer h.reload.Unlock()
	if h.closing.Load() || h.ended {
		return 0, nil, nil
	}
	h.reloads++
	old := h.roster.Load()
	keep := make(map[*app]bool)
	var fresh []*app
	for _, conf := range confs {
		a := old.byKey[conf.Key]
		if a == nil || !h.started.Load() {
			a = newApp(h, conf, faults[conf.Key])
			a.after = h.leaving[conf.Key]
			a.now.effect = EffectAdded
			if a.now.state == Unavailable {
				a.now.effect = EffectFaulty
			}
			fresh = append(fresh, a)
		}
		keep[a] = true
		a.wish.Store(&wish{number: h.reloads, conf: conf, fault: faults[conf.Key]})
		now = append(now, a)
	}
	for _, a := range old.apps {
		if !keep[a] && h.started.Load() {
			a.wish.Store(&wish{number: h.reloads, leave: true})
			h.leaving[a.key] = a
			left = append(left, a)
		}
	}
	for _, a := range fresh {
		a.now.heeded = h.reloads
		if h.started.Load() {
			a.announce()
		}
		a.publish()
	}
	h.enroll(now)
	if h.started.Load() {
		for _, a := range fresh {
			h.supervisors.Go(a.run)
		}
	}
	for _, a := range slices.Concat(now, left) {
		a.poke()
	}
	return h.reloads, now, left
}

// A wish is what the configuration wants of an app.
type wish struct {
	number int64 // of the reload that brought it; 0: the host began with it
	conf   *config.App
	fault  string
	leave  bool // it is in the configuration no more
}

// poke tells the supervisor that there may be a new wish.
func (a *app) poke() {
	select {
	case a.poked <- struct{}{}:
	default:
	}
}

// heeded waits until the app has come to a reload, and returns what that did.
func (a *app) heeded(ctx context.Context, number int64) Effect {
	for {
		s := a.snap.Load()
		if s.heeded >= number {
			return s.effect
		}
		select {
		case <-s.next:
		case <-a.done:
			if s := a.snap.Load(); s.heeded >= number {
				return s.effect
			}
			return EffectPending // the host was closed
		case <-ctx.Done():
			return EffectPending
		}
	}
}

// heed does what the configuration wants of the app now. halt ends what the
// present phase has going on; nil: nothing is. heed returns the phase that
// follows; nil: the present one goes on.
func (a *app) heed(halt func()) phase {
	w := a.wish.Load()
	if w.number == a.now.heeded {
		return nil
	}
	active := halt != nil
	if !active {
		halt = func() {}
	}
	heeded := func(e Effect) { a.now.heeded, a.now.effect = w.number, e }
	switch {
	case w.leave:
		halt()
		a.host.publish(a, nil)
		heeded(EffectRemoved)
		a.enter(Stopped, leftReason)
		return (*app).end
	case off(w.conf) != "":
		effect := EffectStopped
		if a.now.state == Disabled {
			effect = a.differs(w)
		}
		halt()
		a.adopt(w)
		a.retire()
		heeded(effect)
		a.enter(Disabled, disabledReason(a.key, off(w.conf)))
		return (*app).idle
	case w.fault != "" && active:
		a.now.kept = keptReason(w.fault)
		heeded(EffectKept)
		a.log.Error("App runs on under its old configuration, because the new one is faulty.", "fault", w.fault)
		a.publish()
		return nil
	case w.fault != "":
		a.adopt(w)
		a.withdraw()
		heeded(EffectFaulty)
		a.enter(Unavailable, w.fault)
		return nil
	case active && needsRestart(a.config(), w.conf):
		halt()
		a.adopt(w)
		heeded(EffectRestarted)
		return a.afresh("Its configuration has changed.")
	case active, a.now.state == Stopped:
		heeded(a.differs(w))
		a.adopt(w)
		a.publish()
		return nil
	}
	a.adopt(w)
	heeded(EffectStarted)
	return a.afresh("It is tried again, because the configuration was read again.")
}

// end is the last phase.
func (a *app) end() phase { return nil }

// afresh begins a start at which former failures do not count.
func (a *app) afresh(why string) phase {
	a.now.failures, a.woken = 0, false
	a.enter(Starting, why)
	return (*app).start
}

// differs tells whether a wish brings another configuration.
func (a *app) differs(w *wish) Effect {
	if reflect.DeepEqual(a.config(), w.conf) {
		return EffectNone
	}
	return EffectAdjusted
}

// adopt takes over the configuration of a wish, also for what the app has
// listed. A configuration that says the same leaves everything as it is.
func (a *app) adopt(w *wish) {
	a.fault, a.now.kept = w.fault, ""
	if a.differs(w) == EffectNone {
		return
	}
	a.conf.Store(w.conf)
	if p := a.part(); p != nil {
		a.host.publish(a, a.under(w.conf, p, nil))
	}
	a.log.Info("App has a new configuration.")
}

// needsRestart tells whether two configurations of one app need two processes
// or sessions. What is not known here to be harmless needs them.
func needsRestart(x, y *config.App) bool {
	plain := func(c *config.App) config.MCP {
		m := c.MCP
		m.HealthTimeout, m.CallTimeout, m.CallMax = 0, 0, 0 // asked for when they are needed
		m.Restart = config.Restart{}
		return m
	}
	return x.Package != y.Package || // its identity; processes are told it
		!reflect.DeepEqual(x.Capabilities, y.Capabilities) || // declared in the handshake
		!reflect.DeepEqual(plain(x), plain(y))
}

// under returns a part as it is under this configuration of its app. Items
// that known holds with the same definition are those of known.
func (a *app) under(conf *config.App, p, known *part) *part {
	if p.app == conf {
		return p
	}
	if known == nil || known.app != conf {
		known = &part{}
	}
	q := *p
	q.app = conf
	// What could be decoded once can be decoded again, so nothing is warned of.
	q.tools, _ = a.decodeTools(conf, definitions(p.tools, func(t *Tool) []byte { return t.Definition }), known.tools)
	q.warned.unlisted = unlisted(conf, q.tools)
	q.resources, _ = a.decodeResources(conf, definitions(p.resources, func(r *Resource) []byte { return r.Definition }), known.resources)
	q.templates, _ = a.decodeTemplates(conf, definitions(p.templates, func(t *Template) []byte { return t.Definition }), known.templates)
	q.prompts, _ = a.decodePrompts(conf, definitions(p.prompts, func(p *Prompt) []byte { return p.Definition }), known.prompts)
	return &q
}

func definitions[T any](items []*T, of func(*T) []byte) []json.RawMessage {
	raw := make([]json.RawMessage, len(items))
	for i, t := range items {
		raw[i] = of(t)
	}
	return raw
}
