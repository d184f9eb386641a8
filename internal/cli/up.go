package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

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
once.`,
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
	p.signals.onHangup(func() { house.Debug("SIGHUP is ignored.") })
	err = p.runUp(ctx, house, v)
	if ctx.Err() != nil {
		p.out.printf("stopping %s; Ctrl-C again ends them at once\n", count(len(house.Config().Apps), "app"))
	}
	// ctx has ended by Ctrl-C; to stop takes the time it needs.
	if e := house.Close(context.WithoutCancel(ctx)); err == nil {
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

// An upView shows how apps start: a live table on a terminal, else a line per
// app. Log lines come between, never into the table.
type upView struct {
	out    *output
	screen *screen // nil: no terminal
	level  slog.LevelVar
	begin  time.Time
}

func (p *program) newUpView() *upView {
	v := &upView{out: p.out, begin: time.Now()}
	if p.out.terminal && !p.out.json {
		v.screen = &screen{out: p.out.stdout, log: p.out.stderr}
	}
	return v
}

// terminal is where the daemon's log lines go.
func (v *upView) terminal() *daemon.Terminal {
	t := &daemon.Terminal{Writer: v.out.stderr, Color: v.out.errTerminal && !v.out.noColor}
	if v.screen != nil && v.out.errTerminal {
		// While the table lives it says all that INFO would.
		v.level.Set(slog.LevelWarn)
		t.Writer, t.Level = v.screen, &v.level
	}
	return t
}

// watch returns when every app has left starting, or ctx has ended.
func (v *upView) watch(ctx context.Context, house *daemon.Daemon) error {
	defer v.level.Set(slog.LevelDebug) // from here on the configured level counts
	show := v.lines
	if v.screen != nil {
		show = v.live
	}
	if err := show(ctx, house); err != nil {
		return err
	}
	apps, err := house.Apps(ctx)
	if err != nil {
		return err
	}
	v.out.print(v.summary(apps))
	return nil
}

func (v *upView) summary(apps []control.App) string {
	ready, enabled := 0, 0
	for _, a := range apps {
		switch a.State {
		case control.StateReady, control.StateDegraded:
			ready++
			enabled++
		case control.StateDisabled:
		default:
			enabled++
		}
	}
	s := v.out.style()
	text := fmt.Sprintf("aurora is up (pid %d): %d of %s ready", os.Getpid(), ready, count(enabled, "app"))
	if ready < enabled {
		return s.yellow(text) + "; `aurora doctor` says what is wrong. Ctrl-C stops.\n"
	}
	return s.bold(text) + ". Ctrl-C stops.\n"
}

// lines prints a line for each app as soon as it has left starting.
func (v *upView) lines(ctx context.Context, house *daemon.Daemon) error {
	apps, err := house.Apps(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards the output and errs
	var errs []error
	var all sync.WaitGroup
	for i := range apps {
		all.Go(func() {
			err := house.Settled(ctx, apps[i].Key)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				err = v.line(ctx, house, i)
			}
			errs = append(errs, err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (v *upView) line(ctx context.Context, house *daemon.Daemon, i int) error {
	apps, err := house.Apps(ctx)
	if err != nil {
		return err
	}
	a := apps[i]
	text := fmt.Sprintf("%s: %s", visible(a.Key), a.State)
	if a.State == control.StateReady || a.State == control.StateDegraded {
		text += ", " + count(a.Tools, "tool")
	}
	text += fmt.Sprintf(", %d ms", v.took(a).Milliseconds())
	if a.Reason != "" && a.State != control.StateReady {
		text += ": " + oneLine(a.Reason)
	}
	v.out.print(text + "\n")
	return nil
}

// took returns how long an app took from our start to its present state.
func (v *upView) took(a control.App) time.Duration {
	if a.State == control.StateStarting {
		return time.Since(v.begin)
	}
	return max(a.Since.Sub(v.begin), 0)
}

const (
	redrawEvery = 100 * time.Millisecond
	spinner     = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
)

// live draws a table again and again until no app is starting.
func (v *upView) live(ctx context.Context, house *daemon.Daemon) error {
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	settled := make(chan error, 1)
	go func() { settled <- house.Settled(ctx) }()
	for frame := 0; ; frame++ {
		apps, err := house.Apps(ctx)
		if err != nil {
			return errors.Join(err, <-settled)
		}
		v.screen.draw(v.table(apps, frame))
		select {
		case <-tick.C:
		case err := <-settled:
			if err != nil {
				v.screen.leave()
				return err
			}
			if apps, err = house.Apps(ctx); err != nil {
				return err
			}
			v.screen.draw(v.table(apps, 0))
			v.screen.leave()
			return nil
		}
	}
}

// table shows the apps; where the terminal is too low for all of them those
// that are ready give way.
func (v *upView) table(apps []control.App, frame int) string {
	s := v.out.style()
	shown, hidden := fit(apps, v.out.lines()-3)
	t := table{columns: v.out.columns()}
	for _, a := range shown {
		mark, tools := s.green("✓"), ""
		switch a.State {
		case control.StateReady:
			tools = count(a.Tools, "tool")
		case control.StateDegraded:
			mark, tools = s.yellow("!"), count(a.Tools, "tool")
		case control.StateStarting:
			mark = s.yellow(string([]rune(spinner)[frame%10]))
		case control.StateDisabled, control.StateStopped:
			mark = s.dim("-")
		default:
			mark = s.red("✗")
		}
		t.row(
			cell{" ", func(string) string { return mark }},
			plain(visible(a.Key)),
			cell{a.State, s.state},
			plain(tools),
			cell{duration(v.took(a)), s.dim},
			cell{upReason(a), s.dim},
		)
	}
	text := t.String()
	if hidden > 0 {
		text += s.dim(fmt.Sprintf("… and %d more", hidden)) + "\n"
	}
	return text
}

func upReason(a control.App) string {
	if a.State == control.StateReady {
		return ""
	}
	return oneLine(a.Reason)
}

// fit picks at most n apps, those that are not ready first, in their order.
func fit(apps []control.App, n int) (shown []control.App, hidden int) {
	n = max(n, 1)
	room := n
	keep := make([]bool, len(apps))
	for _, ready := range []bool{false, true} {
		for i, a := range apps {
			if (a.State == control.StateReady) == ready && room > 0 {
				keep[i] = true
				room--
			}
		}
	}
	for i, a := range apps {
		if keep[i] {
			shown = append(shown, a)
		}
	}
	return shown, len(apps) - len(shown)
}

func duration(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
