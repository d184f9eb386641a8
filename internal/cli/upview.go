package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

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
			if err == nil || control.AsError(err).Code == call.AppUnknown { // it may have left meanwhile
				err = v.line(ctx, house, apps[i].Key)
			}
			errs = append(errs, err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (v *upView) line(ctx context.Context, house *daemon.Daemon, key string) error {
	apps, err := house.Apps(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(apps, func(a control.App) bool { return a.Key == key })
	if i < 0 {
		return nil
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
			v.screen.draw(v.rows(apps, 0)) // all of them: it is drawn no more
			v.screen.leave()
			return nil
		}
	}
}

// table shows the apps; where the terminal is too low for all of them those
// that are ready give way.
func (v *upView) table(apps []control.App, frame int) string {
	shown, hidden := fit(apps, v.out.lines()-3)
	text := v.rows(shown, frame)
	if hidden > 0 {
		text += v.out.style().dim(fmt.Sprintf("… and %d more", hidden)) + "\n"
	}
	return text
}

func (v *upView) rows(apps []control.App, frame int) string {
	s := v.out.style()
	t := table{columns: v.out.columns()}
	for _, a := range apps {
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
	return t.String()
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

// stop closes the house. On a terminal it shows whom it waits for.
func (v *upView) stop(ctx context.Context, house *daemon.Daemon) error {
	running := 0
	if apps, err := house.Apps(ctx); err == nil {
		running = len(slices.DeleteFunc(apps, func(a control.App) bool {
			return a.State == control.StateDisabled || a.State == control.StateStopped || a.State == control.StateUnavailable
		}))
	}
	v.out.printf("stopping %s; Ctrl-C again ends them at once\n", count(running, "app"))
	if v.screen == nil {
		return house.Close(ctx)
	}
	v.level.Set(slog.LevelWarn)
	ended := make(chan error, 1)
	go func() { ended <- house.Close(ctx) }()
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		select {
		case err := <-ended:
			v.screen.draw("")
			return err
		case <-tick.C:
		}
		apps, err := house.Apps(ctx)
		if err != nil {
			continue // there is nothing to show
		}
		v.screen.draw(v.waiting(apps, frame))
	}
}

// waiting names the apps whose processes are still there.
func (v *upView) waiting(apps []control.App, frame int) string {
	var keys []string
	for _, a := range apps {
		if a.PID != 0 {
			keys = append(keys, visible(a.Key))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	text := "waiting for " + strings.Join(keys, ", ")
	if n := v.out.columns(); n > 0 {
		text = cut(text, n-3)
	}
	s := v.out.style()
	return s.yellow(string([]rune(spinner)[frame%10])) + " " + s.dim(text) + "\n"
}
