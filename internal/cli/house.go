package cli

import (
	"context"
	"errors"
	"time"

	"github.com/aurorabot/aurora/apps"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

const (
	lockPatience = 5 * time.Second        // how long a command waits for a home that is in use
	lockRetry    = 100 * time.Millisecond // between two looks whether a daemon answers by now
	// leavePatience is how long a command waits for a house that is leaving, which
	// stops all its apps first.
	leavePatience = 15 * time.Second
)

// withHouse asks the daemon of the home, or else starts the apps that the
// names need (keys, packages, tool names; none: all), asks them, and stops
// them. What do has printed is out before the apps are stopped.
func (p *program) withHouse(ctx context.Context, names []string, do func(ctx context.Context, h control.House) error) error {
	return p.farOrNear(ctx, func(c *control.Client) error { return do(ctx, c) }, func(dir string) error {
		house, err := daemon.Open(ctx, p.daemonOptions(dir, names))
		if err != nil {
			return err
		}
		return p.inHouse(ctx, house, do)
	})
}

// farOrNear asks the daemon of the home, or else does the work in this process.
// The error of near is HOME_LOCKED if somebody else has the home; then both are
// tried again for a while, and so they are when a house that is leaving takes
// nothing more: the next command may have opened its own.
func (p *program) farOrNear(ctx context.Context, far func(c *control.Client) error, near func(dir string) error) error {
	dir, err := p.home()
	if err != nil {
		return err
	}
	runDir := config.Home{Dir: dir}.RunDir()
	for began, since := time.Now(), time.Now(); ; {
		client, dialErr := control.Dial(ctx, runDir)
		if dialErr == nil {
			err := far(client)
			client.Close()
			if !turnedAway(err) || time.Since(began) > leavePatience {
				return err
			}
			since = time.Now()
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		}
		err := near(dir)
		var held *call.Error
		if !errors.As(err, &held) || held.Code != call.HomeLocked {
			return err
		}
		// Somebody has the home: a daemon that has not opened its endpoint yet,
		// another command, or a daemon we cannot speak with.
		if !errors.Is(dialErr, control.ErrNoDaemon) {
			return withOwner(dialErr, held)
		}
		if time.Since(since) > lockPatience {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits between two tries.
func pause(ctx context.Context) error {
	select {
	case <-time.After(lockRetry):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// turnedAway reports whether a house that is leaving, or has left, took nothing of
// what it was asked.
func turnedAway(err error) bool {
	var e *call.Error
	return errors.As(err, &e) && e.Retryable && (e.Code == call.ShuttingDown || e.Code == call.DaemonUnreachable)
}

// withOwner adds who has the home to what went wrong with asking the daemon.
func withOwner(err error, held *call.Error) error {
	var e *call.Error
	if !errors.As(err, &e) || e.Code != call.DaemonUnreachable || held.Data == nil {
		return err
	}
	said := *e
	said.Message += "; " + held.Message
	said.Data = held.Data
	return &said
}

// inHouse asks a house in this process and closes it.
func (p *program) inHouse(ctx context.Context, house *daemon.Daemon, do func(ctx context.Context, h control.House) error) error {
	p.signals.onKill(house.Kill)
	err := house.Settled(ctx)
	if err == nil {
		err = do(ctx, house)
	}
	// The first Ctrl-C has ended ctx; stopping takes the time it needs, and a
	// second one ends it.
	if e := house.Close(context.WithoutCancel(ctx)); e != nil {
		p.out.note("aurora: stopping the apps: %v", e)
	}
	return err
}

func (p *program) daemonOptions(dir string, names []string) daemon.Options {
	return daemon.Options{
		Home:      dir,
		Env:       p.env,
		Bundled:   bundled(),
		Version:   programVersion().Version,
		KeepGoing: p.keepGoing,
		Names:     names,
		OneShot:   true,
		LockWait:  -1,
	}
}

// bundled returns the apps within this binary as the configuration wants them.
func bundled() []config.Bundled {
	var all []config.Bundled
	for _, a := range apps.All() {
		all = append(all, config.Bundled{Key: a.Key, Manifest: a.Manifest})
	}
	return all
}
