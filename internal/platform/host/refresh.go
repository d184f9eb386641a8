package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// lists is a set of an app's lists. A notification names one of them.
type lists uint32

const (
	listTools     lists = 1 << iota
	listResources       // resources and templates
	listPrompts
	allLists = listTools | listResources | listPrompts
)

// The notifications that say that a list has changed (MCP 2025-11-25, schema).
var listChanged = map[string]lists{
	"notifications/tools/list_changed":     listTools,
	"notifications/resources/list_changed": listResources,
	"notifications/prompts/list_changed":   listPrompts,
}

// methods names the notifications of the lists in l, in a fixed order.
func (l lists) methods() []string {
	var m []string
	for name, bit := range listChanged {
		if l&bit != 0 {
			m = append(m, name)
		}
	}
	slices.Sort(m)
	return m
}

// A refresher decides when lists are read again: soon after the last of a
// burst of notifications, never two at once, and the less often the more often
// nothing had changed. It belongs to the supervisor.
type refresher struct {
	w       *watch
	timer   *time.Timer
	pending lists     // to be read
	first   time.Time // first notification of the burst; zero: no burst
	running bool
	fetched chan fetchResult // cap 1
	last    time.Time        // end of the last refresh
	gap     time.Duration    // least time between last and the next
	retry   time.Duration    // wait after the last failure; 0: it did not fail
}

type fetchResult struct {
	part   *part
	failed lists
	err    error
}

// init prepares r; what was said to have changed since the first lists were
// read is due.
func (r *refresher) init(w *watch) {
	*r = refresher{w: w, timer: time.NewTimer(time.Hour), fetched: make(chan fetchResult, 1)}
	r.timer.Stop()
	a := w.app
	if a.stale != "" {
		r.stumbled(a.staleLists)
		r.plan(time.Now(), r.retry)
	}
	if a.changed.Load() != 0 {
		r.noted()
		return
	}
	a.settleFresh(w.live.epoch)
}

// noted takes note of a notification.
func (r *refresher) noted() {
	now := time.Now()
	r.pending |= lists(r.w.app.changed.Swap(0))
	if r.pending == 0 {
		return
	}
	if r.first.IsZero() {
		r.first = now
	}
	r.plan(now, debounce)
}

// plan sets the timer for what is pending.
func (r *refresher) plan(now time.Time, wait time.Duration) {
	if r.running || r.pending == 0 {
		return // the end of the running one plans the next
	}
	at := now.Add(wait)
	if last := r.first.Add(debounceCap); !r.first.IsZero() && at.After(last) {
		at = last
	}
	if earliest := r.last.Add(r.gap); at.Before(earliest) {
		at = earliest
	}
	r.timer.Reset(at.Sub(now))
	if at.Sub(now) > freshTimeout {
		r.w.app.fresh.open() // nobody shall wait for that
	}
}

// due begins a refresh.
func (r *refresher) due() {
	if r.running || r.pending == 0 {
		return
	}
	which := r.pending
	r.pending, r.first, r.running = 0, time.Time{}, true
	a, w := r.w.app, r.w
	old := a.part()
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, listTimeout)
		defer cancel()
		p, failed, err := a.fetch(ctx, w.live.session, which, old, func(string) {})
		r.fetched <- fetchResult{p, failed, err}
	})
}

// took takes over the result of a refresh.
func (r *refresher) took(f fetchResult) {
	a, now := r.w.app, time.Now()
	r.running, r.last = false, now
	if closed(r.w.live.session) {
		return
	}
	news := lists(a.changed.Swap(0))
	r.pending |= news
	old := a.part()
	f.part = a.under(a.config(), f.part, old)
	changed := old.differs(f.part)
	if changed != 0 || !slices.Equal(old.warned.all(), f.part.warned.all()) {
		a.warn(f.part)
		a.host.publish(a, f.part)
	}
	if changed != 0 {
		r.gap = refreshGap
	} else {
		r.gap = min(max(2*r.gap, refreshGap), refreshGapCap)
	}
	a.signalChanges(old, f.part, changed)
	wait := debounce
	if f.err != nil {
		r.stumbled(f.failed)
		if news == 0 && r.first.IsZero() {
			wait = r.retry
		}
		a.stale = a.staleReason(f.part, f.failed, f.err)
	} else if a.stale != "" && r.pending&a.staleLists == 0 {
		a.stale, a.staleLists, r.retry = "", 0, 0
	}
	a.settle()
	r.plan(now, wait)
	if r.pending == 0 {
		a.settleFresh(r.w.live.epoch)
	}
}

// stumbled notes which lists could not be read; they stay due.
func (r *refresher) stumbled(which lists) {
	r.retry = min(max(2*r.retry, retryStale), backoffCap)
	r.pending |= which
	r.w.app.staleLists |= which
}

// settleFresh opens the gate for those who wait for fresh lists, unless
// another notification has come in.
func (a *app) settleFresh(epoch uint64) {
	a.fresh.open()
	if a.changed.Load() != 0 {
		a.fresh.shut(epoch)
	}
}

// notified is told of every notification, on the session's reader.
func (a *app) notified(epoch uint64, method string, params []byte) {
	if which, ok := listChanged[method]; ok {
		a.changed.Or(uint32(which))
		a.fresh.shut(epoch)
		select {
		case a.dirty <- struct{}{}:
		default:
		}
		return
	}
	if method == "notifications/progress" {
		return
	}
	if method == "notifications/message" && a.log.Enabled(context.Background(), slog.LevelDebug) {
		a.log.Debug("The app logged a message.", "params", clipTo(string(a.host.redact.Bytes(params)), 1000))
	}
	a.host.observe(Signal{Kind: SignalNotified, App: a.config(), Epoch: epoch, Method: method, Params: params})
}

// fetch reads the lists in which and returns old with those replaced. A list
// that the server did not declare, or does not know after all, is empty. A list
// that cannot be read stays as it is in old; failed names those. at is told
// what is asked for. What is read is under the configuration that old is under.
func (a *app) fetch(ctx context.Context, s *mcp.Session, which lists, old *part, at func(string)) (p *part, failed lists, err error) {
	conf := old.app
	next := *old
	var errs []error
	read := func(list lists, what string, ask func(context.Context) (mcp.List, error), decode func([]json.RawMessage) []string, warned *[]string) {
		switch {
		case which&list == 0:
			return
		case ctx.Err() != nil: // the first one that took too long is to blame
			failed |= list
			if errs == nil {
				errs = append(errs, context.Cause(ctx))
			}
			return
		}
		if errs == nil {
			at(what)
		}
		l, err := ask(ctx)
		if err != nil {
			var cut *mcp.CallError
			if !errors.As(err, &cut) { // which names what was asked
				err = fmt.Errorf("%s: %w", what, err)
			}
			errs = append(errs, err)
			failed |= list
			return
		}
		warnings := decode(l.Items)
		*warned = slices.Concat(l.Warnings, warnings)
	}
	read(listTools, "tools/list", s.ListTools, func(items []json.RawMessage) (warned []string) {
		next.tools, warned = a.decodeTools(conf, items, old.tools)
		next.warned.unlisted = unlisted(conf, next.tools)
		return warned
	}, &next.warned.tools)
	read(listResources, "resources/list", s.ListResources, func(items []json.RawMessage) (warned []string) {
		next.resources, warned = a.decodeResources(conf, items, old.resources)
		return warned
	}, &next.warned.resources)
	read(listResources, "resources/templates/list", s.ListResourceTemplates, func(items []json.RawMessage) (warned []string) {
		next.templates, warned = a.decodeTemplates(conf, items, old.templates)
		return warned
	}, &next.warned.templates)
	read(listPrompts, "prompts/list", s.ListPrompts, func(items []json.RawMessage) (warned []string) {
		next.prompts, warned = a.decodePrompts(conf, items, old.prompts)
		return warned
	}, &next.warned.prompts)
	return &next, failed, errors.Join(errs...)
}

// differs says which lists of q are not those of p. Items that did not change
// are the same pointers, because decodeList keeps them.
func (p *part) differs(q *part) (changed lists) {
	if !slices.Equal(p.tools, q.tools) {
		changed |= listTools
	}
	if !slices.Equal(p.resources, q.resources) || !slices.Equal(p.templates, q.templates) {
		changed |= listResources
	}
	if !slices.Equal(p.prompts, q.prompts) {
		changed |= listPrompts
	}
	return changed
}

// holds reports whether there is anything in one of those lists.
func (p *part) holds(which lists) bool {
	return which&listTools != 0 && len(p.tools) > 0 ||
		which&listResources != 0 && len(p.resources)+len(p.templates) > 0 ||
		which&listPrompts != 0 && len(p.prompts) > 0
}

// staleReason is the reason of an app whose lists could not be read; p is what
// is offered of it all the same.
func (a *app) staleReason(p *part, which lists, err error) string {
	var names []string
	for _, m := range which.methods() {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(m, "notifications/"), "/list_changed"))
	}
	then := "Reading it is tried again."
	if p.holds(which) {
		then = "The last good list is used and reading it is tried again."
	}
	return fmt.Sprintf("It answers, but its list of %s could not be read (%s). %s",
		strings.Join(names, ", "), clip(a.host.redact.String(strings.ReplaceAll(err.Error(), "\n", "; "))), then)
}
