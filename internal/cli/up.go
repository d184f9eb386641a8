package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// An upReport is what `aurora up --json` prints once every app has left
// starting. Aurora runs on after it.
type upReport struct {
	OK   bool          `json:"ok"`
	PID  int           `json:"pid"`
	Home string        `json:"home"`
	Apps []control.App `json:"apps"`
}

func (p *program) upCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Run everything until Ctrl-C",
		Long: `Start the apps of the home and keep them alive until Ctrl-C or SIGTERM. Other
commands in the same home then ask this one.

If the configuration is wrong all problems are listed and nothing is started;
with --keep-going only the faulty apps are left out. A second Ctrl-C ends it at
once.

Its files are watched: what you change in them is taken over while it runs, an app
at a time. SIGHUP and "aurora reload" have them read at once.`,
		Example: `  aurora up
  aurora up --home my-bot --keep-going
  aurora up --json                      one JSON document when all apps are decided`,
		Args: arguments(0, 0, ""),
		RunE: p.up,
	}
}

func (p *program) up(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	dir, err := p.home()
	if err != nil {
		return err
	}
	if err := p.alreadyUp(ctx, dir); err != nil {
		return err
	}
	v := p.newUpView()
	o := p.daemonOptions(dir, nil)
	o.OneShot, o.LockWait, o.Terminal = false, 0, v.terminal()
	house, err := daemon.Open(ctx, o)
	if err != nil {
		return err
	}
	p.signals.onKill(house.Kill)
	p.signals.onHangup(house.Hangup)
	err = p.runUp(ctx, house, v)
	// ctx has ended by Ctrl-C; to stop takes the time it needs.
	if e := v.stop(context.WithoutCancel(ctx), house); err == nil {
		err = e
	}
	if err == nil {
		p.out.print("stopped\n")
	}
	return err
}

// alreadyUp returns an error if a daemon runs in the home.
func (p *program) alreadyUp(ctx context.Context, dir string) error {
	client, err := control.Dial(ctx, config.Home{Dir: dir}.RunDir())
	if err != nil {
		return nil // whoever holds the home without an answer is found by the lock
	}
	defer client.Close()
	v, err := client.Version(ctx)
	if err != nil {
		return err
	}
	if v.ForCommand {
		return nil // it is about to leave: the lock waits for that
	}
	data, err := control.Marshal(map[string]int{"pid": v.PID})
	if err != nil {
		return err
	}
	return &call.Error{
		Code: call.HomeLocked,
		Message: fmt.Sprintf("aurora is up in this home already (pid %d, since %s); `aurora apps` shows how it is",
			v.PID, v.Started.Local().Format("2006-01-02 15:04:05")),
		Data: data,
	}
}

// runUp opens the door and waits until ctx ends.
func (p *program) runUp(ctx context.Context, house *daemon.Daemon, v *upView) error {
	if err := house.Serve(); err != nil {
		return err
	}
	if err := v.watch(ctx, house); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	all, err := house.Tools(ctx, control.Filter{})
	if err != nil {
		return err
	}
	p.remember(all)
	if err := p.out.document(upReport{OK: true, PID: os.Getpid(), Home: house.Config().Home.Dir, Apps: all.Apps}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
