package cli

import (
	"context"
	"time"

	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// withMind asks the daemon of the home, or else runs the whole house in this
// process for as long as do takes.
func (p *program) withMind(ctx context.Context, do func(ctx context.Context, h control.House) error) error {
	return p.farOrNear(ctx, func(c *control.Client) error { return do(ctx, c) }, func(dir string) error {
		o := p.daemonOptions(dir, nil)
		o.OneShot, o.ForCommand = false, true
		house, err := daemon.Open(ctx, o)
		if err != nil {
			return err
		}
		return p.inWholeHouse(ctx, house, do)
	})
}

// settlePatience is how long the first words wait for apps that start.
const settlePatience = 3 * time.Second

// inWholeHouse opens the door of a house in this process, asks it and closes it.
func (p *program) inWholeHouse(ctx context.Context, house *daemon.Daemon, do func(ctx context.Context, h control.House) error) error {
	p.signals.onKill(house.Kill)
	err := house.Serve()
	if err == nil {
		settle, cancel := context.WithTimeout(ctx, settlePatience)
		_ = house.Settled(settle) // an app that hangs keeps nobody from talking
		cancel()
		err = do(ctx, house)
	}
	// Others may have found this house and asked it.
	house.Farewell(ctx)
	// The first Ctrl-C has ended ctx; stopping takes the time it needs, and a
	// second one ends it.
	if e := house.Close(context.WithoutCancel(ctx)); e != nil {
		p.out.note("aurora: stopping the house: %v", e)
	}
	return err
}
