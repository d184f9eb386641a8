package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/apps/console"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/node"
	"github.com/aurorabot/aurora/internal/brain/trace"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/spool"
)

const (
	// settlePatience is how long the first turn waits for apps that start, so that
	// the model sees their tools.
	settlePatience = 3 * time.Second
	// Old turns are not forgotten right after a start: a unit that was not done
	// with yet needs the journal of its turn, however long it was away.
	sweepFirst = 10 * time.Minute
	sweepEvery = time.Hour
	mindEvery  = 2 * time.Second // between two looks at how the brain is, for the health file
)

// A mind is the brain of the house: its circuit, its turns, and the console.
// Whatever becomes of it, the platform runs on.
type mind struct {
	host    *host.Host
	flow    *flow
	config  func() *config.Config
	console *console.Console
	viewers viewers
	// withdrawn are questions that nobody waits for any more.
	withdrawn withdrawn
	log       *slog.Logger

	model    string
	runner   *turn.Runner
	commands *commands.Set
	bus      *bus.Bus

	begun   chan struct{}    // closed when it has started, or never will
	mu      sync.Mutex       // guards what follows
	why     string           // why it does not run
	circuit *circuit.Circuit // nil: it does not run (yet)

	life  sync.Mutex // guards what follows; held while it starts and while it ends
	stop  context.CancelFunc
	ended bool
	all   sync.WaitGroup // its goroutines
}

// newMind makes the mind of a house whose host is not started. It does no I/O.
func newMind(d *Daemon, c *console.Console) *mind {
	m := &mind{
		host: d.host, flow: d.flow, config: d.Config, console: c,
		log: d.logs.With("part", "brain"), begun: make(chan struct{}),
	}
	_, m.model = model(d.conf)
	return m
}

// nodeOptions are what the nodes of a home get.
func nodeOptions(c *config.Config) node.Options {
	set := c.Settings.Brain
	_, name := model(c)
	return node.Options{
		Model: name, Zone: c.Settings.User.Zone(), Language: c.Settings.User.Language,
		Debounce: set.Debounce, MaxWait: set.MaxWait, Heartbeat: set.Heartbeat, QuietHours: set.QuietHours,
	}
}

// checkTopology adds what is wrong with the topology to the problems of a
// configuration.
func checkTopology(c *config.Config) {
	if !c.Settings.Brain.Enabled {
		return
	}
	c.Files[topologyFile(c)] = config.Digest(topologyFile(c))
	_, err := loadTopology(c, nodeOptions(c))
	var invalid *circuit.Invalid
	switch {
	case errors.As(err, &invalid) && invalid.Problems[0].File == circuit.DefaultFile && slices.ContainsFunc(c.Problems, ofBrain):
		// The default topology has no mistakes but those it takes from aurora.yml.
	case errors.As(err, &invalid):
		for _, p := range invalid.Problems {
			field := p.Field
			if p.Node != "" {
				field = strings.TrimSuffix("node "+p.Node+": "+field, ": ")
			}
			c.Problems = append(c.Problems, config.Problem{File: p.File, Line: p.Line, Column: p.Column, Field: field, Message: p.Message, Hint: p.Hint})
		}
	case err != nil:
		c.Problems = append(c.Problems, config.Problem{File: filepath.Base(topologyFile(c)), Message: err.Error()})
	}
}

// ofBrain tells the problems that aurora.yml has with the settings of the brain.
func ofBrain(p config.Problem) bool {
	return p.App == "" && !p.Warning && strings.HasPrefix(p.Field, "brain.")
}

// withoutBrain lets what is wrong with the topology stop nobody: the platform can
// do without a brain.
func withoutBrain(c *config.Config) {
	for i := range c.Problems {
		p := &c.Problems[i]
		if p.App == "" && (p.File == filepath.Base(topologyFile(c)) || p.File == circuit.DefaultFile) {
			p.Warning = true
		}
	}
}

// start opens the circuit and lets it run. It returns at once.
func (m *mind) start() {
	m.life.Lock()
	defer m.life.Unlock()
	if m.ended || m.stop != nil {
		return
	}
	defer close(m.begun)
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	if err := m.open(); err != nil {
		m.set(nil, strings.TrimSuffix(err.Error(), "."))
		m.log.Error("The brain does not run; the platform does.", "err", err)
		m.host.HouseChanged()
		return
	}
	m.all.Go(func() { m.bus.Run(ctx) })
	m.all.Go(func() {
		wait, cancel := context.WithTimeout(ctx, settlePatience)
		_ = m.host.Settled(wait) // what is not up by then has no tools yet
		cancel()
		m.circuit.Run(ctx)
	})
	m.all.Go(func() { m.keepHouse(ctx) })
}

// open makes all that the brain consists of.
func (m *mind) open() error {
	c := m.config()
	house := &brainHouse{host: m.host, config: m.config}
	lang := brain.Language(c.Settings.User.Language)
	answers, _ := model(c)
	keep := c.Settings.Retention
	m.commands = &commands.Set{House: house, Language: lang, Zone: c.Settings.User.Zone(), Events: m.events}
	limits := c.Settings.LLM.Limits
	var err error
	m.runner, err = turn.New(turn.Options{
		Dir: c.Home.Data("kernel", "turns"), House: house, Model: answers, Commands: m.commands,
		Limits:   turn.Limits{Steps: limits.TurnSteps, Time: limits.Turn, DayTokens: limits.DayTokens},
		Language: lang, Zone: c.Settings.User.Zone(), OnDelta: m.viewers.delta, OnRecord: m.record, Redact: c.Redact, Logger: m.log,
	})
	if err != nil {
		return err
	}
	m.bus = bus.New(bus.Options{
		Dir: c.Home.Data("kernel"), Inbox: m.flow.spool(inbox),
		KeepDone: spool.Retention{Age: keep.Done}, KeepDead: spool.Retention{Age: keep.Dead}, Logger: m.log,
	})
	o := nodeOptions(c)
	o.Turner, o.Turns, o.Hear = m.runner, m.runner, m.heedStop
	topology, err := loadTopology(c, o)
	if err != nil {
		return err
	}
	k, err := circuit.New(circuit.Options{Topology: topology, Bus: m.bus, Redact: c.Redact, Logger: m.log})
	if err != nil {
		return err
	}
	m.set(k, "")
	if m.model != "reflex" {
		m.log.Warn("The configured model is not asked: this build has no model client yet. Commands work.", "model", m.model)
	}
	return nil
}

func (m *mind) set(k *circuit.Circuit, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.circuit, m.why = k, why
}

// fault says why the brain does not run; empty: it does.
func (m *mind) fault() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.circuit == nil && m.why == "" {
		return "it is about to start"
	}
	return m.why
}

// close ends the brain. A turn that is cut short goes on after the next start.
func (m *mind) close() {
	m.life.Lock()
	defer m.life.Unlock()
	m.ended = true
	if m.stop != nil {
		m.stop()
	} else {
		m.set(nil, "Aurora is stopping")
		close(m.begun)
	}
	m.all.Wait()
	m.viewers.close()
}

// events returns the latest events for the command of that name.
func (m *mind) events(_ context.Context, most int) ([]commands.Event, error) {
	return trace.Recent(m.config().Home.Data(), most), nil
}

// record hears of a step of a turn, in the turn: one whose question was withdrawn
// before it began ends before it does anything.
func (m *mind) record(u *unit.Unit, r turn.Record) {
	m.viewers.record(u, r)
	if r.Kind == turn.KindBegin && u.Source.App == console.Package && m.withdrawn.take(u.Events) {
		m.runner.Stop(u.Source, u.Session)
	}
}

// heedStop hears what comes in, so that a message which asks to stop does not
// wait behind the turn that it is to stop.
func (m *mind) heedStop(e *amp.Envelope) {
	if said, ok := unit.MessageOf(e); ok && e.Payload.SessionID != "" && commands.IsStop(said.Text) {
		m.runner.Stop(e.Header.Source, e.Payload.SessionID)
	}
}

// keepHouse forgets old turns, and has the health file written when the brain has
// changed.
func (m *mind) keepHouse(ctx context.Context) {
	sweep, look := time.NewTimer(sweepFirst), time.NewTicker(mindEvery)
	defer sweep.Stop()
	defer look.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			m.sweep()
			sweep.Reset(sweepEvery)
		case <-look.C:
			b := m.status()
			if said := fmt.Sprint(b.State, b.Problems); said != last {
				last = said
				m.host.HouseChanged()
			}
		}
	}
}

func (m *mind) sweep() {
	if err := m.runner.Sweep(m.config().Settings.Retention.Done); err != nil {
		m.log.Warn("Old turns could not all be removed.", "err", err)
	}
}
