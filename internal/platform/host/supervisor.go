package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aurorabot/aurora/internal/config"
)

// A phase is a part of an app's life. It runs on the supervisor, hears every
// command, and returns the phase that follows; nil ends the supervisor.
type phase func(*app) phase

// run is the supervisor of one app. It ends when the host closes.
func (a *app) run() {
	defer close(a.done)
	if a.after != nil {
		select {
		case <-a.after.done:
			a.epoch, a.after = a.after.epoch, nil
		case <-a.host.quit:
			a.enter(Stopped, closedReason)
			return
		}
	}
	next := (*app).idle
	if a.now.state == Starting {
		next = (*app).start
	}
	for next != nil {
		next = next(a)
	}
}

// errStopped is why sessions end that we end.
var errStopped = errors.New("the app was stopped")

// idle is the phase in which nothing runs and nothing is tried.
func (a *app) idle() phase {
	for {
		select {
		case <-a.host.quit:
			return nil
		case <-a.poked:
			if next := a.heed(nil); next != nil {
				return next
			}
		case c := <-a.commands:
			switch {
			case c.op == opStop:
				if a.now.state != Disabled {
					a.retire()
					a.enter(Stopped, stoppedReason(a.key))
				}
				c.done <- nil
			case a.now.state == Disabled:
				c.done <- notStartable(a.now.reason)
			case a.fault != "":
				c.done <- notStartable(a.fault)
			default:
				return a.again(c)
			}
		}
	}
}

// again starts afresh because of a command: former failures do not count.
func (a *app) again(c command) phase {
	next := a.afresh("It is waiting for its turn to start.")
	c.done <- nil
	return next
}

// start is the phase from the wish to have the app to the end of one attempt.
func (a *app) start() phase {
	if a.epoch++; a.now.starts > 0 {
		a.now.restarts++
	}
	a.enter(Starting, a.startingReason())
	a.fresh.begin(a.epoch)
	a.wire.begin(a.epoch)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := newAttempt(a)
	go at.run(ctx)
	for {
		select {
		case link := <-at.dialed:
			a.now.link = link
			a.enter(Starting, a.startingReason())
		case r := <-at.ended:
			a.now.starts++
			if r.failure != nil {
				return a.failed(r)
			}
			return a.started(r)
		case <-a.host.quit:
			cancel()
			a.abandon(<-at.ended)
			a.enter(Stopped, closedReason)
			return nil
		case <-a.poked:
			if next := a.heed(func() { cancel(); a.abandon(<-at.ended) }); next != nil {
				return next
			}
		case c := <-a.commands:
			if c.op == opStart {
				c.done <- nil
				continue
			}
			cancel()
			a.abandon(<-at.ended)
			if c.op == opRestart {
				return a.again(c)
			}
			return a.stopped(c)
		}
	}
}

// abandon throws away what an attempt made that is not wanted any more.
func (a *app) abandon(r attemptResult) {
	a.now.starts++
	a.now.link = r.link
	a.release(r.live)
}

// stopped is how a stop that was asked for ends.
func (a *app) stopped(c command) phase {
	a.retire()
	a.enter(Stopped, stoppedReason(a.key))
	c.done <- nil
	return (*app).idle
}

// started takes over the session of a good attempt.
func (a *app) started(r attemptResult) phase {
	info := r.live.session.Info()
	a.now.link, a.now.live = r.link, r.live
	a.now.version, a.now.era = info.ProtocolVersion, info.Era
	a.now.server = serverName(info.Server)
	a.misses, a.healthy = 0, time.Now()
	a.stale, a.staleLists = r.stale, r.staleLists
	a.warn(r.part)
	a.host.publish(a, a.under(a.config(), r.part, nil))
	a.signal(Signal{Kind: SignalStarted, Reason: readyReason(a.now.server, a.now.version), Protocol: info.ProtocolVersion, Server: serverInfo(info.Raw)}) // before any call can be
	a.settle()
	return (*app).serve
}

// warn logs what is wrong with lists that are about to be published, unless it
// was so before.
func (a *app) warn(p *part) {
	var before []string
	if old := a.part(); old != nil {
		before = old.warned.all()
	}
	for _, w := range p.warned.all() {
		if !slices.Contains(before, w) {
			a.log.Warn("A list of the app has a fault.", "fault", w)
		}
	}
}

// settle shows Ready or Degraded, whichever is true of a running app.
func (a *app) settle() {
	switch {
	case a.misses > 0:
		a.enter(Degraded, missedReason(a.misses))
	case a.stale != "":
		a.enter(Degraded, a.stale)
	default:
		a.enter(Ready, readyReason(a.now.server, a.now.version))
	}
}

// failed decides what follows an attempt that failed.
func (a *app) failed(r attemptResult) phase {
	f := r.failure
	a.now.link = r.link
	a.now.exit = orElse(f.exit, a.now.exit)
	a.signal(Signal{Kind: SignalFault, Reason: f.reason, Exit: f.exit, Stderr: r.link.stderr()})
	if f.final {
		return a.giveUp(f.state, f.reason, r.live)
	}
	return a.lost(f.reason, r.live)
}

// crashed is what follows when a session ended that nobody asked to end.
func (a *app) crashed(why string, exit *Exit) phase {
	l := a.now.live
	a.creditHealth()
	a.now.live = nil
	a.now.exit = orElse(exit, a.now.exit)
	a.signal(Signal{Kind: SignalCrashed, Reason: why, Exit: exit, Stderr: a.now.link.stderr()})
	a.woken = false
	return a.lost(why, l)
}

// lockedOut is what follows when a server wants other credentials than ours.
func (a *app) lockedOut(why string) phase {
	l := a.now.live
	a.creditHealth()
	a.now.live = nil
	a.signal(Signal{Kind: SignalFault, Reason: why})
	return a.giveUp(AuthRequired, why, l)
}

// lost counts a failure and decides between another start and giving up.
// l is the session that was lost, if there was one.
func (a *app) lost(why string, l *live) phase {
	policy := a.config().MCP.Restart
	remote := a.config().MCP.Transport != config.Stdio
	if !remote || !a.woken { // a remote app's waits do not grow because calls look after it
		a.now.failures++
	}
	switch {
	case remote:
	case !policy.Enabled:
		return a.giveUp(Unavailable, why+" It is not restarted, because restart.enabled is false."+restartHint(a.key), l)
	case a.now.failures > policy.MaxAttempts:
		return a.giveUp(Unavailable, why+gaveUp(a.now.failures)+restartHint(a.key), l)
	}
	a.delay = backoff(policy.Backoff, a.now.failures)
	a.enter(Restarting, why+nextStart(a.delay, a.now.failures, policy.MaxAttempts, remote))
	a.release(l)
	a.publish()
	return (*app).backoff
}

// giveUp ends the attempts to have the app.
func (a *app) giveUp(s State, why string, l *live) phase {
	a.withdraw()
	a.enter(s, why)
	a.release(l)
	a.publish()
	return (*app).idle
}

// backoff is the phase between a failure and the next start.
func (a *app) backoff() phase {
	t := time.NewTimer(a.delay)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.woken = false
			return (*app).start
		case <-a.wake:
			if a.wanted.Load() > a.now.starts {
				a.woken = true
				return (*app).start
			}
		case <-a.host.quit:
			a.enter(Stopped, closedReason)
			return nil
		case <-a.poked:
			if next := a.heed(func() {}); next != nil {
				return next
			}
		case c := <-a.commands:
			if c.op == opStop {
				return a.stopped(c)
			}
			return a.again(c)
		}
	}
}

// halt ends a running app because somebody wants it.
func (a *app) halt() {
	a.signal(Signal{Kind: SignalStopping, Reason: "Aurora stopped it."})
	a.creditHealth()
	l := a.now.live
	a.now.live = nil
	a.publish() // calls find no session from here on
	a.release(l)
	a.signal(Signal{Kind: SignalStopped, Reason: "Aurora stopped it."})
}

// release ends the session, if there is one, and the process, if there is one,
// and returns when nothing of them is left.
func (a *app) release(l *live) {
	a.wire.end(a.epoch)
	link := a.now.link
	if link == nil {
		return
	}
	if l != nil {
		l.session.Close(errStopped) // cancels what is in flight
	} else {
		link.Transport.Close()
	}
	if p := link.Process; p != nil {
		exit := p.Stop(a.host.hurry)
		a.now.exit, a.now.stderr = exitOf(exit), p.StderrTail(stderrLines)
		if l != nil && !exit.Stuck {
			l.session.Wait() // the output has ended, so its reader is about to
		}
	}
	link.wait()
	a.now.noise += link.noise()
	a.now.link = nil
	a.fresh.begin(0)
}

// retire takes a stopped app's offers out of the catalog.
func (a *app) retire() { a.stand(retired) }

// withdraw takes the offers of an app that is given up off the lists.
func (a *app) withdraw() { a.stand(withdrawn) }

func (a *app) stand(s standing) {
	if p := a.part(); p != nil && p.standing != s {
		a.host.publish(a, p.with(s))
	}
}

// part returns what the app contributes to the catalog; nil: nothing yet.
// Only the app's own goroutines replace it.
func (a *app) part() *part {
	a.host.mu.Lock()
	defer a.host.mu.Unlock()
	return a.host.parts[a]
}

// creditHealth ends a time of health. If it was long, former failures are
// forgiven.
func (a *app) creditHealth() {
	if !a.healthy.IsZero() && time.Since(a.healthy) >= healthyAfter {
		a.now.failures = 0
	}
	a.healthy = time.Time{}
}

// signal sends a signal of this app's current session.
func (a *app) signal(s Signal) {
	s.App, s.Epoch = a.config(), a.epoch
	a.host.observe(s)
}
