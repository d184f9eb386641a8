package circuit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/spool"
)

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
	// maxCrashes is how often the process may die over one file. It is generous:
	// a file that is only at hand when somebody pulls the plug is not to blame.
	maxCrashes = 100
	// maxWaiters is how many files of a node may wait for their next attempt
	// without taking the place of others.
	maxWaiters = 256
)

// A crew is a node and the goroutines that give it its files.
type crew struct {
	spec     *Spec
	schedule Schedule
	node     Node
	watches  []*bus.Watch
	queues   []*spool.Spool // those that the node takes from
	log      *slog.Logger
	redact   *redact.Redactor

	running chan struct{} // a place for each call of Handle
	claimed chan struct{} // a place for each claim
	work    sync.WaitGroup
	ctx     context.Context // of Run, for what ends late; set before work begins

	mu       sync.Mutex // guards what follows
	held     map[*Job]struct{}
	state    State
	busy     int  // calls of Handle
	failing  int  // files that wait for their next attempt
	stumbled bool // the node's own life failed and has not begun again
	count    counts
}

func newCrew(s *Spec, o Options) *crew {
	k := &crew{
		spec: s, schedule: scheduleOf(s.config.Settings), redact: o.Redact,
		log:  o.Logger.With("node", s.ID),
		held: make(map[*Job]struct{}), state: Idle,
	}
	if k.schedule.Concurrency == 0 {
		k.schedule.Concurrency = schedule.Concurrency
	}
	if k.schedule.Attempts == 0 {
		k.schedule.Attempts = schedule.Attempts
	}
	places := k.schedule.Concurrency + maxWaiters
	if s.kind.Holds > 0 {
		places = s.kind.Holds
	}
	k.running = make(chan struct{}, k.schedule.Concurrency)
	k.claimed = make(chan struct{}, places)
	return k
}

// run gives the node its files, and lets it live, until ctx ends.
func (k *crew) run(ctx context.Context) {
	k.ctx = ctx
	if r, ok := k.node.(Runner); ok {
		k.work.Go(func() { k.live(ctx, r) })
	}
	for _, w := range k.watches {
		k.work.Go(func() { k.take(ctx, w) })
	}
	k.work.Wait()
	// What the node has not ended by now, nobody will.
	k.mu.Lock()
	left := make([]*Job, 0, len(k.held))
	for j := range k.held {
		left = append(left, j)
	}
	clear(k.held)
	k.mu.Unlock()
	for _, j := range left {
		k.giveBack(j)
	}
	k.work.Wait()
	k.mu.Lock()
	k.state = Stopped
	k.mu.Unlock()
}

func (k *crew) close() {
	for _, w := range k.watches {
		w.Close()
	}
}

// take brings the files of one watch to the node.
func (k *crew) take(ctx context.Context, w *bus.Watch) {
	pause := firstPause
	for {
		if !enter(ctx, k.claimed) {
			return
		}
		ev, err := w.Next(ctx)
		if err != nil {
			<-k.claimed
			if ctx.Err() != nil {
				return
			}
			k.failed("cannot be given a file", "", err)
			if !sleep(ctx, pause) {
				return
			}
			pause = longer(pause)
			continue
		}
		pause = firstPause
		j := &Job{Path: ev.Path, Data: ev.Data, claim: ev.Claim, crew: k}
		if c := ev.Claim; c != nil {
			j.Name, j.Place, j.Attempts, j.Requeued = c.Name, c.Place, c.Attempts, c.Requeued
			c.Data = nil // the job has it, and may let go of it
		}
		// The place to run is taken here, so that files begin in the order in which
		// they were claimed, and no more than one is claimed before its time.
		if !enter(ctx, k.running) {
			k.giveBack(j)
			return
		}
		if k.spec.kind.Holds > 0 {
			k.attempt(ctx, j)
		} else {
			k.work.Go(func() { k.attempt(ctx, j) })
		}
	}
}

// attempt tries a job until it ends. It comes with a place to run.
func (k *crew) attempt(ctx context.Context, j *Job) {
	if j.Attempts >= maxCrashes {
		<-k.running
		k.dead(j, "the process died "+brain.Count(j.Attempts, "time")+" while it was worked on")
		return
	}
	pause := firstPause
	for tries := 0; ; {
		err := k.handle(ctx, j)
		<-k.running
		var final permanent
		switch {
		case err == nil:
			k.done(j, "")
			return
		case errors.Is(err, ErrHeld):
			return
		case errors.As(err, &final):
			k.failed("cannot handle a file", j.Name, err)
			k.dead(j, err.Error())
			return
		case ctx.Err() != nil:
			k.giveBack(j)
			return
		}
		k.failed("failed", j.Name, err)
		if !passes(err) {
			tries++
		}
		if tries >= k.schedule.Attempts {
			k.dead(j, fmt.Sprintf("failed %s: %v", brain.Count(tries, "time"), err))
			return
		}
		k.waits(1)
		awake := sleep(ctx, pause) && enter(ctx, k.running)
		k.waits(-1)
		if !awake {
			k.giveBack(j)
			return
		}
		pause = longer(pause)
	}
}

// handle calls the node once.
func (k *crew) handle(ctx context.Context, j *Job) (err error) {
	k.mu.Lock()
	k.busy++
	if k.spec.kind.Holds > 0 && j.claim != nil {
		k.held[j] = struct{}{} // the node may end it before Handle returns
	}
	k.mu.Unlock()
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			err = k.panicked(p)
		}
		if !errors.Is(err, ErrHeld) {
			k.letGo(j)
		}
		k.mu.Lock()
		k.busy--
		k.count.took(time.Since(began), err == nil || errors.Is(err, ErrHeld))
		k.mu.Unlock()
	}()
	return k.node.Handle(ctx, j)
}

// live runs a node's own life, and again after a failure.
func (k *crew) live(ctx context.Context, r Runner) {
	pause := firstPause
	for {
		began := time.Now()
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = k.panicked(p)
				}
			}()
			return r.Run(ctx)
		}()
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began) > 2*maxPause {
			pause = firstPause
		}
		k.stumble(true)
		k.failed("failed, and begins again", "", err)
		if !sleep(ctx, pause) {
			return
		}
		k.stumble(false)
		pause = longer(pause)
	}
}

func (k *crew) panicked(p any) error {
	err := fmt.Errorf("panic: %v", p)
	k.log.Error("a node panicked", "error", k.plain(err), "stack", string(debug.Stack()))
	return err
}

// plain returns an error as it may be shown.
func (k *crew) plain(err error) string {
	const most = 300
	text := []rune(k.redact.String(err.Error()))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// failed notes and logs a failure.
func (k *crew) failed(what, file string, err error) {
	text := k.plain(err)
	k.tally(func(c *counts) {
		c.failed++
		c.lastError, c.lastErrorAt = text, time.Now()
	})
	if file == "" {
		k.log.Error(what, "error", text)
		return
	}
	k.log.Error(what, "file", file, "error", text)
}

func (k *crew) waits(n int) {
	k.mu.Lock()
	k.failing += n
	k.mu.Unlock()
}

func (k *crew) stumble(down bool) {
	k.mu.Lock()
	k.stumbled = down
	k.mu.Unlock()
}

// letGo says that a job is not held any more.
func (k *crew) letGo(j *Job) {
	k.mu.Lock()
	delete(k.held, j)
	k.mu.Unlock()
}

// done ends a job well.
func (k *crew) done(j *Job, note string) {
	k.end(j, func() {
		k.tally(func(c *counts) { c.done++ })
	}, func(c *spool.Claim) error {
		if note == "" {
			return c.Done()
		}
		return c.DoneBecause(note)
	})
}

// dead ends a job for good.
func (k *crew) dead(j *Job, reason string) {
	reason = k.plain(errors.New(reason))
	k.end(j, func() {
		k.tally(func(c *counts) { c.dead++ })
		k.log.Error("a file is dead", "file", j.Name, "reason", reason)
	}, func(c *spool.Claim) error { return c.Dead(reason) })
}

// giveBack ends a job as if it had not been claimed.
func (k *crew) giveBack(j *Job) { k.end(j, func() {}, (*spool.Claim).Return) }

func (k *crew) tally(change func(*counts)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.count)
}

// end moves the file of a job to where it belongs, once. While the disk refuses,
// it is tried again; what is still refused when the circuit stops is pending
// again after the next start.
func (k *crew) end(j *Job, tell func(), move func(*spool.Claim) error) {
	j.ended.Do(func() {
		tell()
		err := j.moved(move)
		if err == nil {
			<-k.claimed
			return
		}
		k.failed("a file could not be moved", j.Name, err)
		k.work.Go(func() {
			defer func() { <-k.claimed }()
			for pause := firstPause; sleep(k.ctx, pause); pause = longer(pause) {
				if j.moved(move) == nil {
					return
				}
			}
		})
	})
}

// moved moves the file of a job, if it has one and nobody else has moved it.
func (j *Job) moved(move func(*spool.Claim) error) error {
	if j.claim == nil {
		return nil
	}
	if err := move(j.claim); err != nil && !errors.Is(err, spool.ErrGone) {
		return err
	}
	return nil
}

// enter takes a place; false when ctx ended first.
func enter(ctx context.Context, places chan<- struct{}) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func longer(pause time.Duration) time.Duration { return min(2*pause, maxPause) }
