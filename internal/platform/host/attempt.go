package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// defaultHealthTimeout serves apps whose configuration was made by hand.
const defaultHealthTimeout = 10 * time.Second

// errProcessEnded cancels an attempt whose process has ended.
var errProcessEnded = errors.New("the process has ended")

// An attempt is one try to start an app: slot, process, handshake, first
// lists. It runs on a goroutine of its own, so that its supervisor hears
// commands, and owns nothing after it has ended.
type attempt struct {
	app    *app
	conf   *config.App
	epoch  uint64
	old    *part // what is known of the app from before, under conf
	dialed chan *Link
	ended  chan attemptResult // cap 1, gets exactly one
	stage  atomic.Pointer[string]
}

// An attemptResult is how an attempt ended: with a session and a part, or with
// a failure. The link, if any, goes to the supervisor in either case.
type attemptResult struct {
	link *Link
	live *live
	part *part
	// stale says why some lists could not be had; empty: all are there.
	stale      string
	staleLists lists
	failure    *failure
}

// A failure is why a start failed.
type failure struct {
	reason string // a full sentence
	final  bool   // trying again is of no use
	state  State  // if final
	exit   *Exit  // of the process, if it ended by itself
}

func newAttempt(a *app) *attempt {
	conf := a.config()
	old := &part{app: conf}
	if p := a.part(); p != nil {
		old = a.under(conf, p, nil).with(offered)
	}
	return &attempt{app: a, conf: conf, epoch: a.epoch, old: old, dialed: make(chan *Link), ended: make(chan attemptResult, 1)}
}

func (at *attempt) run(ctx context.Context) {
	r := at.try(ctx)
	if r.failure != nil {
		at.app.wire.end(at.epoch)
	}
	at.ended <- r
}

func (at *attempt) try(ctx context.Context) attemptResult {
	a := at.app
	release, err := a.host.slot(ctx)
	if err != nil {
		return attemptResult{failure: &failure{reason: "The start was cancelled."}}
	}
	var r attemptResult
	limit := startLimit(at.conf)
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	at.at("start")
	if r.link, err = a.host.opt.Dialer.Dial(ctx, at.conf); err != nil {
		release()
		r.failure = at.dialFailure(err, limit)
		return r
	}
	ctx, ended := context.WithCancelCause(ctx)
	var guard sync.WaitGroup
	guard.Go(func() { guardStart(ctx, r.link, release, ended) })
	defer guard.Wait()
	defer ended(nil)
	select {
	case at.dialed <- r.link:
	case <-ctx.Done():
	}
	at.at("initialize")
	session, err := mcp.Connect(ctx, r.link.Transport, a.sessionOptions(at.conf, at.epoch))
	if err != nil {
		r.failure = at.failure(ctx, r.link, err, limit)
		return r
	}
	at.app.wire.connect(at.epoch, session)
	r.live = &live{session: session, link: r.link, epoch: at.epoch}
	a.changed.Store(0) // the lists are about to be read anyway
	var missed lists
	if r.part, missed, err = a.fetch(ctx, session, allLists, at.old, at.at); err != nil {
		if ctx.Err() != nil || timeout(err) || closed(session) {
			r.failure = at.failure(ctx, r.link, err, limit)
			return r
		}
		r.stale, r.staleLists = a.staleReason(r.part, missed, err), missed
	}
	a.subs.renew(ctx, session, a.log)
	return r
}

// startLimit is how long a start of the app may take, lists and all.
func startLimit(c *config.App) time.Duration {
	if c.MCP.HealthTimeout > 0 {
		return c.MCP.HealthTimeout
	}
	return defaultHealthTimeout
}

// at notes how far the attempt has come, for the reason of its failure.
func (at *attempt) at(stage string) { at.stage.Store(&stage) }

// guardStart gives the slot back at the peer's first byte or after a second,
// and ends the attempt soon after its process has ended, even if a child of
// the process holds its output open.
func guardStart(ctx context.Context, link *Link, release func(), ended context.CancelCauseFunc) {
	defer release()
	slow := time.NewTimer(slotTime)
	defer slow.Stop()
	firstByte := link.FirstByte
	for {
		select {
		case <-firstByte:
			release()
			firstByte = nil
		case <-slow.C:
			release()
		case <-link.processDone():
			select {
			case <-time.After(drainTime):
				ended(errProcessEnded)
			case <-ctx.Done():
			}
			return
		case <-ctx.Done():
			return
		}
	}
}

// slot waits for leave to spawn. The returned function gives it back and may be
// called more than once.
func (h *Host) slot(ctx context.Context) (release func(), err error) {
	select {
	case h.slots <- struct{}{}:
		return sync.OnceFunc(func() { <-h.slots }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sessionOptions says what a session of the app may do and whom it tells.
func (a *app) sessionOptions(c *config.App, epoch uint64) mcp.Options {
	return mcp.Options{
		Name:     c.Key,
		Protocol: c.MCP.Protocol,
		Client:   a.host.opt.Client,
		Grants:   mcp.Grants{Roots: roots(c.Capabilities.Roots)},
		OnNotification: func(method string, params []byte) {
			a.notified(epoch, method, params)
		},
		Logger:      a.host.logger,
		SoftTimeout: c.MCP.CallTimeout,
		HardTimeout: c.MCP.CallMax,
		ListTimeout: startLimit(c) + listTimeout, // never the first to end: starts and refreshes have their own
	}
}

// roots turns the granted folders into what servers are told; nil if none is.
func roots(paths []string) []mcp.Root {
	var list []mcp.Root
	for _, p := range paths {
		slashed := filepath.ToSlash(p)
		if !strings.HasPrefix(slashed, "/") {
			slashed = "/" + slashed // C:/x on Windows
		}
		u := url.URL{Scheme: "file", Path: slashed}
		list = append(list, mcp.Root{URI: u.String(), Name: filepath.Base(p)})
	}
	return list
}

// dialFailure explains why no link could be opened.
func (at *attempt) dialFailure(err error, limit time.Duration) *failure {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return &failure{reason: at.app.host.redact.String(refusal.Reason), final: true, state: orElse(refusal.State, Unavailable)}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{reason: fmt.Sprintf("The start timed out after %v.", limit)}
	}
	return &failure{reason: "It could not be started: " + at.app.host.redact.String(err.Error()) + "."}
}

// failure explains why a link did not become a session.
func (at *attempt) failure(ctx context.Context, link *Link, err error, limit time.Duration) *failure {
	stage := *at.stage.Load()
	timedOut := errors.Is(context.Cause(ctx), context.DeadlineExceeded) || timeout(err)
	f := &failure{}
	if !timedOut && (closedBy(err) || broken(err) || errors.Is(context.Cause(ctx), errProcessEnded)) {
		f.exit = link.exit(exitTime)
	}
	var version *mcp.VersionError
	var refused *mcp.RPCError
	far := ""
	if link.Process == nil && !timedOut {
		far = remoteReason(at.conf, err, at.app.redacted)
	}
	switch {
	case far != "":
		f.reason = far
		if wantsCredentials(err) {
			f.final, f.state = true, AuthRequired
		}
	case errors.As(err, &version):
		f.final, f.state = true, Unavailable
		f.reason = versionReason(version)
	case errors.As(err, &refused):
		f.reason = fmt.Sprintf("It refused %s: %s (JSON-RPC error %d).", stage, clip(at.app.host.redact.String(refused.Message)), refused.Code)
	case f.exit != nil:
		f.reason = fmt.Sprintf("It %s before it answered %s.%s", f.exit.phrase(), stage, link.lastWords())
	case timedOut:
		why := "the app does not answer"
		if errors.Is(err, mcp.ErrNoEndpoint) {
			why = mcp.ErrNoEndpoint.Error()
		}
		f.reason = fmt.Sprintf("The request %s timed out after %v: %s.%s%s", stage, limit, why, cmp.Or(link.lastWords(), link.unended()), silentHint(at.conf))
	case closedBy(err):
		f.reason = fmt.Sprintf("It closed the connection before it answered %s.%s", stage, link.lastWords())
	default:
		said := strings.TrimPrefix(at.app.host.redact.String(err.Error()), stage+": ")
		f.reason = fmt.Sprintf("It failed at %s: %s.%s", stage, said, link.lastWords())
	}
	return f
}

// timeout reports whether a request of a start ran out of time.
func timeout(err error) bool {
	var e *mcp.CallError
	return errors.As(err, &e) && e.Kind == mcp.Timeout
}

func closed(s *mcp.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
