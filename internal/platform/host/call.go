package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/policy"
)

const methodCall = "tools/call"

// Call calls a tool. It is the only way to do so, for everybody: the name is
// resolved, the arguments are checked (not for the gateway, whose servers judge
// themselves), policy decides on the canonical name, the call is sent, and its
// end is recorded and signalled.
//
// The result always has an outcome. An app that waits for a restart is woken;
// the wait and the call end at c.Timeout if it is set, else at the limits of
// the app, and in any case when ctx ends. Cancelling ctx cancels the call
// upstream. A call is sent a second time only if the first one surely did not
// reach the app.
//
// It runs on the caller's goroutine and hands nothing over to another.
func (h *Host) Call(ctx context.Context, c call.Call) call.Result {
	began := time.Now()
	if !h.enter() {
		r := ended(shuttingDown())
		h.finish(&c, nil, 0, began, &r)
		return r
	}
	defer h.leave()
	t, epoch, r := h.call(ctx, &c, began)
	h.finish(&c, t, epoch, began, &r)
	return r
}

// call does the work of Call. It returns the tool, if there is one, and the
// epoch of the session that answered.
func (h *Host) call(ctx context.Context, c *call.Call, began time.Time) (*Tool, uint64, call.Result) {
	t, e := h.find(ctx, c, began)
	if e != nil {
		return nil, 0, ended(e)
	}
	args := c.Args
	if s := bytes.TrimSpace(args); len(s) == 0 || string(s) == "null" {
		args = emptyObject
	}
	if t.Enabled && !t.Held { // what is switched off says so, whatever the arguments
		if t.TaskRequired {
			return t, 0, ended(taskRequired(t))
		}
		if c.Caller.Kind != call.Gateway {
			if err := t.Check(args); err != nil {
				return t, 0, ended(badArguments(t, err))
			}
		}
	}
	if d := h.judge(ctx, c, t, args); !d.Allowed {
		return t, 0, denied(d)
	}
	var changed *overtaken
	epoch, r := t.owner.ask(ctx, c.Timeout, began, func(l *live, left time.Duration) (mcp.Result, error) {
		if changed = h.overtaken(ctx, c, t, args); changed != nil {
			return mcp.Result{}, changed
		}
		o := t.owner.limits()
		o.Whole, o.OnProgress = left, c.OnProgress
		return l.session.CallTool(ctx, t.Upstream, args, &o)
	})
	if changed != nil {
		r = changed.result
	}
	if r.Outcome == call.ToolError {
		r.Err = h.toolError(t, r.Raw)
	}
	return t, epoch, r
}

// overtaken is the end of a call whose tool became another one, or forbidden,
// while it waited for its app.
type overtaken struct{ result call.Result }

func (o *overtaken) Error() string { return o.result.Err.Error() }

// overtaken looks once more, right before a call is sent: what was decided about
// t may not hold any more if the app was reloaded or its lists read again.
func (h *Host) overtaken(ctx context.Context, c *call.Call, t *Tool, args []byte) *overtaken {
	now := h.catalog.Load().byName[t.Name]
	switch {
	case now == t:
		return nil
	case now != nil && now.owner == t.owner:
		d := h.judge(ctx, c, now, args)
		if d.Allowed {
			return nil
		}
		return &overtaken{denied(d)}
	case t.owner.config() == t.App:
		return nil // not listed at the moment; the server will say
	}
	return &overtaken{ended(&call.Error{
		Code:      call.AppUnavailable,
		Message:   fmt.Sprintf("The app %q got another configuration while the call waited, so nothing was done.", t.owner.key),
		Retryable: true,
	})}
}

// judge asks the policy about a call.
func (h *Host) judge(ctx context.Context, c *call.Call, t *Tool, args []byte) policy.Decision {
	return h.policy.Decide(ctx, policy.Request{Caller: c.Caller, Tool: t.Name, App: t.App, Risk: t.Risk, Enabled: t.Enabled, Held: t.Held, Args: args})
}

// limits are the time limits of a request to the app, which may have changed
// since its session began.
func (a *app) limits() mcp.RequestOptions {
	m := &a.config().MCP
	return mcp.RequestOptions{Soft: m.CallTimeout, Hard: m.CallMax}
}

var emptyObject = json.RawMessage("{}")

// find resolves the name of a call. A name that nobody has may be on its way:
// it waits for lists that are being refreshed, and for an app with a fitting
// package that is not up. The tables alone say where a name leads.
func (h *Host) find(ctx context.Context, c *call.Call, began time.Time) (*Tool, *call.Error) {
	t, e := h.catalog.Load().resolve(c.Name)
	if e == nil || e.Code != call.ToolUnknown {
		return t, e
	}
	if c.Timeout > 0 {
		within, cancel := context.WithDeadline(ctx, began.Add(c.Timeout))
		defer cancel()
		ctx = within
	}
	h.Fresh(ctx)
	var reason *call.Error
	longest := 0
	for _, a := range h.apps() {
		rest, ok := strings.CutPrefix(c.Name, a.config().Package)
		if !ok || !strings.HasPrefix(rest, ".") || a.snap.Load().state.live() {
			continue
		}
		if _, e := a.session(ctx, nil, a.patience(c.Timeout)); e != nil && len(a.config().Package) > longest {
			reason, longest = e, len(a.config().Package)
		}
	}
	if t, e = h.catalog.Load().resolve(c.Name); e != nil && e.Code == call.ToolUnknown && reason != nil {
		return nil, reason
	}
	return t, e
}

// patience is how long a call waits for its app to come up.
func (a *app) patience(whole time.Duration) time.Duration {
	switch {
	case whole > 0:
		return whole
	case a.config().MCP.CallTimeout > 0:
		return a.config().MCP.CallTimeout
	}
	return mcp.DefaultSoftTimeout
}

// ask has one request sent to an app, which it wakes if need be. whole is the
// time for all of it; 0: the app's own limits. send is told what is left of it.
func (a *app) ask(ctx context.Context, whole time.Duration, began time.Time, send func(l *live, left time.Duration) (mcp.Result, error)) (epoch uint64, r call.Result) {
	var gone *live
	for {
		left := whole
		if whole > 0 {
			if left -= time.Since(began); left <= 0 {
				return epoch, ended(a.outOfTime())
			}
		}
		l, e := a.session(ctx, gone, a.patience(left))
		if e != nil {
			return epoch, ended(e)
		}
		if whole > 0 {
			left = max(whole-time.Since(began), time.Nanosecond)
		}
		epoch = l.epoch
		a.calls.Add(1)
		result, err := send(l, left)
		a.calls.Add(-1)
		switch {
		case err == nil && result.IsError:
			return epoch, call.Result{Outcome: call.ToolError, Raw: result.Raw}
		case err == nil:
			return epoch, call.Result{Outcome: call.OK, Raw: result.Raw}
		}
		if wantsCredentials(err) {
			a.doubt()
		}
		if broken(err) && !l.part(err) {
			return epoch, a.failedCall(l, err, began)
		}
		if gone != nil || !undelivered(err) {
			return epoch, a.failedCall(l, err, began)
		}
		gone = l // one more try, with another session
	}
}

// part gives up a session that takes no requests any more; false: others wait
// for answers that may still come, so it is left to them. A pipe that takes
// nothing will not mend; a connection that cannot be opened is not yet the end
// of those that are open.
func (l *live) part(err error) bool {
	if l.link.Process == nil && l.session.Inflight() > 0 {
		return false
	}
	l.session.Close(err)
	return true
}

// doubt asks the supervisor to find out whether our credentials are still good.
func (a *app) doubt() {
	select {
	case a.doubted <- struct{}{}:
	default:
	}
}

// undelivered reports whether a request surely did not reach a peer that is gone.
func undelivered(err error) bool {
	var e *mcp.CallError
	return errors.As(err, &e) && !e.Delivered && (e.Kind == mcp.Closed || e.Kind == mcp.WriteFailed)
}

// broken reports whether the way to a peer takes no requests any more. Such a
// peer may well be alive and seem fine to all who only listen to it.
func broken(err error) bool {
	var e *mcp.CallError
	return errors.As(err, &e) && e.Kind == mcp.WriteFailed
}

// session returns a session that takes calls and is not gone, a session the
// caller found dead. It waits, at most for patience, for an app that starts or
// waits for a restart, which it brings forward; all callers wait for one start.
func (a *app) session(ctx context.Context, gone *live, patience time.Duration) (*live, *call.Error) {
	s := a.snap.Load()
	if s.live != nil && s.live != gone {
		return s.live, nil
	}
	seen := s.starts
	t := time.NewTimer(patience)
	defer t.Stop()
	for {
		switch {
		case s.live != nil && s.live != gone:
			return s.live, nil
		case s.state == Starting, s.state.live():
		case s.state == Restarting && s.starts == seen:
			a.rouse(seen + 1)
		default:
			return nil, a.unavailable(s)
		}
		select {
		case <-s.next:
		case <-t.C:
			return nil, a.outOfTime()
		case <-a.host.refusing:
			return nil, shuttingDown()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, &call.Error{Code: call.CallCancelled, Message: fmt.Sprintf("The caller gave up while the app %q was starting.", a.key)}
			}
			return nil, a.outOfTime()
		}
		s = a.snap.Load()
	}
}

// rouse asks the supervisor not to wait any longer until n starts have ended.
func (a *app) rouse(n int64) {
	for {
		wanted := a.wanted.Load()
		if wanted >= n || a.wanted.CompareAndSwap(wanted, n) {
			break
		}
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// finish completes the result of a call, records and signals it.
func (h *Host) finish(c *call.Call, t *Tool, epoch uint64, began time.Time, r *call.Result) {
	r.Tool = c.Name
	rec := audit.Record{Time: began, Caller: c.Caller, Method: methodCall, Args: c.Args}
	s := Signal{Kind: SignalCalled, Epoch: epoch, Method: methodCall, Caller: c.Caller}
	if t != nil {
		r.Tool, r.App = t.Name, t.App.Key
		rec.Package, rec.Risk = t.App.Package, string(t.Risk)
		s.App = t.App
	}
	r.Duration = time.Since(began)
	h.record(&rec, r)
	if h.opt.Observe != nil {
		asked, result := *c, *r // copies, so that only observed calls cost memory
		s.Call, s.Result = &asked, &result
		h.observe(s)
	}
}

// record completes a record with a result and hands it to the audit.
func (h *Host) record(rec *audit.Record, r *call.Result) {
	if h.opt.Audit == nil {
		return
	}
	rec.Name, rec.App, rec.Outcome, rec.Took = r.Tool, r.App, r.Outcome, r.Duration
	if r.Err != nil {
		rec.Code, rec.RPC = r.Err.Code, r.Err.RPC
	}
	h.opt.Audit.Append(*rec)
}
