package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// A watch is what the supervisor does while an app runs: pings and refreshes.
// Their I/O is done by goroutines that end before the phase does.
type watch struct {
	app  *app
	live *live
	ctx  context.Context
	work sync.WaitGroup

	pings   *time.Ticker
	pinging bool
	pinged  chan error // cap 1

	refresh refresher
}

// serve is the phase in which an app answers.
func (a *app) serve() phase {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{app: a, live: a.now.live, ctx: ctx, pings: time.NewTicker(pingEvery), pinged: make(chan error, 1)}
	w.refresh.init(w)
	end := func() { // before the phase ends nothing of it runs
		cancel()
		w.pings.Stop()
		w.refresh.timer.Stop()
		w.work.Wait()
	}
	defer end()
	processDone := w.live.link.processDone()
	for {
		select {
		case <-w.live.session.Done():
			end()
			return a.ended(w.live)
		case <-processDone:
			select { // its last output may hold answers
			case <-w.live.session.Done():
			case <-time.After(drainTime):
			}
			end()
			return a.ended(w.live)
		case <-w.pings.C:
			w.ping()
		case err := <-w.pinged:
			if a.countPing(w, err); a.misses >= pingMisses {
				end()
				return a.crashed(fmt.Sprintf("It did not answer %d pings in a row.", a.misses), nil)
			}
		case <-a.dirty:
			w.refresh.noted()
		case <-w.live.link.Renewed:
			w.renewed()
		case <-a.doubted:
			w.verify()
		case <-w.live.link.Doubted:
			w.verify()
		case <-w.refresh.timer.C:
			w.refresh.due()
		case r := <-w.refresh.fetched:
			w.refresh.took(r)
		case <-a.host.quit:
			end()
			a.halt()
			a.enter(Stopped, closedReason)
			return nil
		case <-a.poked:
			if next := a.heed(func() { end(); a.halt() }); next != nil {
				return next
			}
		case c := <-a.commands:
			switch c.op {
			case opStart:
				c.done <- nil
			case opStop:
				end()
				a.halt()
				return a.stopped(c)
			case opRestart:
				end()
				a.halt()
				return a.again(c)
			}
		}
	}
}

// ended explains the end of a session that nobody asked to end.
func (a *app) ended(l *live) phase {
	err := l.session.Err()
	if wantsCredentials(err) {
		return a.lockedOut(remoteReason(a.config(), err, a.redacted))
	}
	var exit *Exit
	if err == nil || errors.Is(err, io.EOF) { // else it was us, and the process may well live
		exit = l.link.exit(exitTime)
	}
	why := remoteReason(a.config(), err, a.redacted)
	switch {
	case why != "":
	case err != nil && l.link.Process == nil:
		why = sentence(a.redacted(err))
	case exit != nil:
		why = fmt.Sprintf("It %s.%s", exit.phrase(), l.link.lastWords())
	case errors.Is(err, io.EOF):
		why = "It closed its stdout and ran on." + l.link.lastWords()
	case err != nil:
		why = fmt.Sprintf("The connection ended: %s.%s", a.host.redact.String(err.Error()), l.link.lastWords())
	default:
		why = "It closed the connection." + l.link.lastWords()
	}
	return a.crashed(why, exit)
}

// ping asks an idle app whether it is there. A busy one is left alone: some
// servers do one thing at a time, and being busy is not being dead.
func (w *watch) ping() {
	if w.pinging || w.app.calls.Load() > 0 {
		return
	}
	w.verify()
}

// verify pings whether the app is busy or not.
func (w *watch) verify() {
	if w.pinging {
		return
	}
	w.pinging = true
	w.work.Go(func() {
		w.pinged <- w.live.session.Ping(w.ctx, &mcp.RequestOptions{Whole: pingTimeout})
	})
}

// renewed looks after what a server may have forgotten, or said in vain.
func (w *watch) renewed() {
	a := w.app
	a.changed.Or(uint32(allLists))
	a.fresh.shut(w.live.epoch)
	w.refresh.noted()
	w.work.Go(func() {
		ctx, stop := context.WithTimeout(w.ctx, listTimeout)
		defer stop()
		a.subs.renew(ctx, w.live.session, a.log)
	})
}

// countPing counts an answer, or the lack of one.
func (a *app) countPing(w *watch, err error) {
	w.pinging = false
	var refused *mcp.RPCError
	switch {
	case err == nil, errors.As(err, &refused), busy(err): // a refusal is an answer, too
		if a.misses > 0 {
			a.misses, a.healthy = 0, time.Now()
			a.settle()
		}
	case wantsCredentials(err):
		w.live.session.Close(err)
	case closed(w.live.session), a.calls.Load() > 0:
		// The end of the session says more; a call that came meanwhile excuses.
	case broken(err):
		w.live.session.Close(err)
	default:
		a.creditHealth()
		if a.misses++; a.misses < pingMisses {
			a.settle()
		}
	}
}
