package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/console"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/redact"
)

// Options say which home to open, and how much of it.
type Options struct {
	// Home is the home folder, which must exist. Empty: the working directory.
	Home string
	// Env is our own environment; nil means os.Environ().
	Env []string
	// Bundled are the apps within this binary.
	Bundled []config.Bundled
	// Self is the path of this binary; empty means os.Executable().
	Self string
	// Version is that of the program, as people see it.
	Version string
	// KeepGoing starts the other apps although some are configured wrongly;
	// the setting startup.keep_going does the same.
	KeepGoing bool
	// OneShot opens the house for one command: no events are made, no health
	// file is kept, and the last run is not looked at.
	OneShot bool
	// ForCommand says that the whole house runs, but only for as long as one
	// command takes.
	ForCommand bool
	// Names are what a one-shot command is about: keys, packages, names of
	// tools or prompts. Only the apps that they can belong to are checked and
	// started. None: all apps.
	Names []string
	// LockWait is how long to wait for a home that is in use. Zero means 5 s,
	// a negative value does not wait.
	LockWait time.Duration
	// Terminal, if set, gets the log lines too.
	Terminal *Terminal
	// Dialer replaces the way to apps, for tests. Nil: child processes and HTTP.
	Dialer host.Dialer
}

// A Daemon is a house that runs in this process.
type Daemon struct {
	conf    *config.Config // that the house was opened with
	options Options
	keeping keeping
	own     []string // keys of the apps within this binary
	version string
	started time.Time

	lock     *homeLock
	logs     *logbook
	launcher *proc.Launcher
	audit    *audit.Log
	flow     *flow // nil: no events are made
	host     *host.Host
	mind     *mind // nil: the brain is switched off, or this is for one command

	guests guests

	mu     sync.Mutex // guards what follows, and is held while the door is opened
	server *control.Server
	closed bool // no door is opened any more

	hurry     context.Context // ended by Kill
	rush      context.CancelFunc
	closeOnce sync.Once
	closeErr  error
}

var _ control.House = (*Daemon)(nil)

// Open takes the lock of a home, reads its configuration and starts its apps.
// It returns while they are starting; see [Daemon.Settled]. The caller closes
// the daemon.
//
// The error is a [*PreflightError] if the configuration is wrong, a
// [*call.Error] HOME_LOCKED if another process owns the home.
func Open(ctx context.Context, o Options) (d *Daemon, err error) {
	home, err := openHome(o.Home)
	if err != nil {
		return nil, err
	}
	d = &Daemon{version: o.Version, options: o, started: time.Now()}
	for _, b := range o.Bundled {
		d.own = append(d.own, b.Key)
	}
	d.hurry, d.rush = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close(context.WithoutCancel(ctx)))
			d = nil
		}
	}()
	wait := o.LockWait
	if wait == 0 {
		wait = lockWait
	}
	if d.lock, err = acquire(ctx, home.RunDir(), wait); err != nil {
		return d, err
	}
	if !o.OneShot {
		// What runs everything lives on what it writes. One call does not.
		if err = probe(home.RunDir()); err != nil {
			return d, control.Unwritable(err)
		}
	}
	if err = control.Clean(home.RunDir()); err != nil {
		return d, fmt.Errorf("removing an old control endpoint: %w", err)
	}
	if d.conf, err = Load(o); err != nil {
		return d, err
	}
	d.keeping.begin(d.conf)
	apps := d.wanted(d.conf)
	keepGoing := o.KeepGoing || d.conf.Settings.Startup.KeepGoing
	if o.OneShot || keepGoing {
		withoutBrain(d.conf)
	}
	faults, err := preflight(d.conf, apps, keepGoing)
	if err != nil {
		return d, err
	}
	d.logs = openLogbook(home, d.conf.Settings.Log, d.conf.Redact, o.Terminal)
	for _, p := range d.conf.Problems {
		d.logs.Warn("The configuration has a problem.", "problem", p.String())
	}
	if err = d.openPlatform(ctx, o, apps, faults); err != nil {
		return d, err
	}
	d.host.Start(ctx)
	return d, nil
}

// Load reads the configuration of a home as [Open] would. It starts and writes
// nothing. The error is CONFIG_INVALID if there is no such home; everything
// else that is wrong is in [config.Config.Problems].
func Load(o Options) (*config.Config, error) { return load(o, nil, nil) }

// load is Load with texts of files that count instead of those on disk, and with
// the redactor that learns the secrets.
func load(o Options, texts map[string][]byte, r *redact.Redactor) (*config.Config, error) {
	all := ConfigOptions(o)
	all.Texts, all.Redact = texts, r
	c, err := config.Load(all)
	if err != nil {
		return nil, control.Errorf(call.ConfigInvalid, "%v", err)
	}
	if !c.Settings.Brain.Enabled || o.OneShot { // there would be nobody to talk to
		c.Apps = slices.DeleteFunc(c.Apps, func(a *config.App) bool { return a.Key == console.Key })
	}
	checkSpools(c)
	checkTopology(c)
	return c, nil
}

// wanted returns the apps of a configuration that this house runs. The console
// comes and goes with the brain, which a house has or has not.
func (d *Daemon) wanted(c *config.Config) []*config.App {
	apps := c.Apps
	was, is := d.conf.App(console.Key), c.App(console.Key)
	switch {
	case was != nil && is == nil:
		apps = append(slices.Clip(apps), was)
	case was == nil && is != nil:
		apps = slices.DeleteFunc(slices.Clone(apps), func(a *config.App) bool { return a == is })
	}
	return needed(apps, d.options.Names)
}

// ConfigOptions says how a home is read. What only the daemon knows to be wrong
// (see [Load]) is not found with them alone.
func ConfigOptions(o Options) config.Options {
	own := append(slices.Clip(o.Bundled), config.Bundled{Key: console.Key, Manifest: console.Manifest(), Always: true})
	return config.Options{Home: o.Home, Env: o.Env, Bundled: own, Self: o.Self, LookPath: proc.LookPath}
}

// openHome finds the home and makes what every run writes into.
func openHome(dir string) (config.Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return config.Home{}, fmt.Errorf("home folder: %w", err)
	}
	home := config.Home{Dir: abs}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return home, control.Errorf(call.ConfigInvalid, "the home folder %s does not exist", abs)
	}
	if err := os.MkdirAll(home.RunDir(), 0o700); err != nil {
		return home, control.Unwritable(err)
	}
	// A data folder that somebody made with wider rights is narrowed.
	if err := os.Chmod(home.Data(), 0o700); err != nil {
		return home, control.Unwritable(err)
	}
	return home, nil
}

// sweepTime is how long a start waits for what an earlier run has left to end.
// What has taken other rights, as by sudo, may not be ours to end.
const sweepTime = 5 * time.Second

// openPlatform opens what the apps need, and the host, which is not started.
func (d *Daemon) openPlatform(ctx context.Context, o Options, apps []*config.App, faults map[string]string) (err error) {
	home := d.conf.Home
	health := ""
	if !o.OneShot {
		health = home.Data("platform", "health.json")
		if said := lastRun(health); said != "" {
			d.logs.Warn(said)
		}
	}
	d.launcher, err = proc.NewLauncher(proc.Options{Dir: filepath.Join(home.RunDir(), "apps"), Logger: d.logs.Logger, Redact: d.conf.Redact.String})
	if err != nil {
		return fmt.Errorf("preparing to start apps: %w", err)
	}
	sweeping, stop := context.WithTimeout(ctx, sweepTime)
	left, err := d.launcher.Sweep(sweeping)
	stop()
	for _, l := range left {
		d.logs.Warn("Ended a process that an earlier run had left.", "app", l.App, "program", l.Program, "pid", l.PID)
	}
	if err != nil {
		d.logs.Error("Processes of an earlier run could not all be ended.", "err", err)
	}
	d.audit, err = audit.Open(home.Data("platform", "audit"), audit.Options{Logger: d.logs.Logger, Redact: d.conf.Redact})
	if err != nil {
		return err
	}
	dialer := o.Dialer
	if dialer == nil {
		dialer = host.Dialers{
			Local:  &host.StdioDialer{Launcher: d.launcher, Logger: d.logs.appLogger(), Redact: d.conf.Redact},
			Remote: &host.RemoteDialer{Logger: d.logs.appLogger(), Redact: d.conf.Redact, UserAgent: "aurora/" + o.Version},
		}
	}
	var observe func(host.Signal)
	var house func() json.RawMessage
	if !o.OneShot {
		// No app runs yet, so nothing of it is missed.
		if d.flow, err = openFlow(d.conf, d.logs.Logger); err != nil {
			return err
		}
		observe, house = d.flow.bridge.Observe, d.health
	}
	talk := d.console()
	d.host = host.New(host.Options{
		Apps:        apps,
		Faults:      faults,
		Dialer:      dataDialer{consoleDialer{dialer, talk, d.logs.appLogger()}, home, o.OneShot},
		Audit:       d.audit,
		Observe:     observe,
		House:       house,
		Client:      mcp.Implementation{Name: "aurora", Version: o.Version},
		Logger:      d.logs.Logger,
		Redact:      d.conf.Redact,
		Concurrency: d.conf.Settings.Startup.Concurrency,
		HealthFile:  health,
	})
	if d.flow != nil {
		d.flow.start(d.host)
		if talk != nil {
			d.mind = newMind(d, talk)
		}
	}
	return nil
}

// console returns the console of the home; nil if there is none, which is where
// nobody would answer.
func (d *Daemon) console() *console.Console {
	app := d.conf.App(console.Key)
	if app == nil || !d.conf.Settings.Brain.Enabled {
		return nil
	}
	return console.New(appkit.Process{Environ: app.MCP.Env, Stderr: &stderrLines{log: d.logs.appLogger().With("app", app.Key)}})
}

// Serve opens the control endpoint, so that other processes can ask this house,
// and then wakes the brain. It returns at once; Close ends it.
func (d *Daemon) Serve() error {
	if err := d.openDoor(); err != nil {
		return err
	}
	d.logs.Info("Aurora is up.", "pid", os.Getpid(), "home", d.conf.Home.Dir, "control", d.server.Address())
	if d.mind != nil {
		d.mind.start()
	}
	return nil
}

func (d *Daemon) openDoor() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &call.Error{Code: call.ShuttingDown, Message: "Aurora is stopping and opens no door any more.", Retryable: true}
	}
	if d.server, err = control.Listen(d.conf.Home.RunDir(), d, control.ListenOptions{}); err != nil {
		return err
	}
	d.keeping.watch(d)
	return nil
}

// Config is the configuration of the house, as it was last read and taken over.
func (d *Daemon) Config() *config.Config { return d.keeping.current.Load() }

// Logger is the log of the house.
func (d *Daemon) Logger() *slog.Logger { return d.logs.Logger }

// Settled waits until each app (or each of those named) has left starting.
func (d *Daemon) Settled(ctx context.Context, keys ...string) error {
	return d.host.Settled(ctx, keys...)
}

const controlGrace = 2 * time.Second // for answers on their way when all calls have ended

// Close ends the house in the order that the package promises and returns when
// nothing of it is left. When ctx ends it hurries. Later calls wait for the
// first and return its error.
func (d *Daemon) Close(ctx context.Context) error {
	d.closeOnce.Do(func() { d.closeErr = d.close(ctx) })
	return d.closeErr
}

func (d *Daemon) close(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.hurry, cancel)()
	defer d.rush()
	var errs []error
	d.mu.Lock() // Serve has done its work, or will not begin
	d.closed = true
	server := d.server
	d.mu.Unlock()
	watched := d.keeping.end()
	d.guests.close()
	if d.host != nil {
		// Its error is only that it was hurried.
		_ = d.host.Close(ctx)
	}
	watched() // after the host, which hurries the apps
	if d.flow != nil {
		errs = append(errs, d.flow.close(ctx))
	}
	if d.launcher != nil {
		errs = append(errs, d.launcher.Close())
	}
	if d.mind != nil {
		d.mind.close()
	}
	if server != nil {
		grace, stop := context.WithTimeout(ctx, controlGrace)
		defer stop()
		if err := server.Close(grace); err != nil && !errors.Is(err, grace.Err()) {
			errs = append(errs, err)
		}
	}
	if d.audit != nil {
		errs = append(errs, d.audit.Close())
	}
	if d.logs != nil {
		if server != nil {
			d.logs.Info("Aurora has stopped.")
		}
		errs = append(errs, d.logs.close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.release())
	}
	return errors.Join(errs...)
}

// Kill ends the house in a hurry: calls are cut off and processes killed. It
// returns when that is done. If Close is under way, it hurries that.
func (d *Daemon) Kill() {
	d.rush()
	_ = d.Close(context.Background())
}
