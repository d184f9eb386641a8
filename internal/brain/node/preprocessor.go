package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// The bounds of what waits for quiet, all groups together.
const (
	maxHeld      = 4096
	maxHeldBytes = 32 << 20
)

// recoveredQuiet is the quiet that ends a unit of events which a crash cut short:
// time for them to come together, and no more.
const recoveredQuiet = 100 * time.Millisecond

// batchUnits is how many units are put at once, so that they share a sync.
const batchUnits = 64

type preprocessorSettings struct {
	Debounce   time.Duration `yaml:"debounce_seconds" max:"1h" doc:"The quiet that ends a unit."`
	MaxWait    time.Duration `yaml:"max_wait_seconds" max:"1h" doc:"The longest that an event waits for quiet."`
	Wake       []string      `yaml:"wake" doc:"Patterns of the types that start a turn."`
	QuietHours string        `yaml:"quiet_hours" doc:"The hours in which nothing that the brain made itself starts a turn, such as 23:00-07:30."`
	AtOnce     []string      `yaml:"at_once" doc:"Packages whose events wait for no quiet."`
	Commands   bool          `yaml:"commands_at_once" doc:"Whether a message that begins with / is a unit of its own, at once."`
	UnitEvents int           `yaml:"unit_events" min:"1" max:"10000" doc:"How many events fill a unit."`
	UnitBytes  int           `yaml:"unit_bytes" min:"1024" max:"16777216" doc:"How many bytes of event files fill a unit."`
}

func newPreprocessorSettings(o Options) *preprocessorSettings {
	return &preprocessorSettings{
		Debounce: o.Debounce, MaxWait: o.MaxWait, QuietHours: o.QuietHours,
		Wake:     []string{"message.*", "alarm.*", "timer.*", "approval.*"},
		AtOnce:   []string{"im.polaris.console"},
		Commands: true, UnitEvents: 100, UnitBytes: 256 << 10,
	}
}

// Check makes sure that the patterns and hours mean something.
func (s *preprocessorSettings) Check(c *circuit.Config) {
	for i, pattern := range s.Wake {
		if family, star := strings.CutSuffix(pattern, "*"); pattern == "" || strings.Contains(family, "*") || star && family != "" && !strings.HasSuffix(family, ".") {
			c.Problem(fmt.Sprintf("wake[%d]", i), fmt.Sprintf("%q is not a pattern of types", pattern), `a type, a family like "message.*", or "*"`)
		}
	}
	if _, err := parseQuiet(s.QuietHours, time.UTC); err != nil {
		c.Problem("quiet_hours", err.Error(), "")
	}
}

// A Preprocessor makes units of events. What a session says becomes one unit when
// it has been quiet for a while, or when the unit is full. Events outside of a
// session that wake are units of their own; other events outside of a session
// gather like those of one, an app apart from the others.
//
// Event files stay in processing until their unit is durable.
type Preprocessor struct {
	preprocessorSettings
	quiet  quietHours
	turns  Turns
	hear   func(*amp.Envelope) // nil: nobody does
	out    *spool.Spool
	recent *recent
	border uint64 // numbers up to this one may be those of an earlier run
	log    *slog.Logger

	mu   sync.Mutex // guards hall and seq; never held over I/O
	hall hall
	seq  uint64 // the highest given to a unit whose event has none

	stir chan struct{} // something closed, or closes earlier than before
	room chan struct{} // something left
}

var _ circuit.Runner = (*Preprocessor)(nil)

func newPreprocessor(c *circuit.Config, o Options) (*Preprocessor, error) {
	out, err := c.Queues()
	if err != nil {
		return nil, err
	}
	p := &Preprocessor{
		preprocessorSettings: *c.Settings.(*preprocessorSettings),
		turns:                o.Turns, hear: o.Hear, out: out[0], log: quietLog(c.Logger),
		stir: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	p.recent = newRecent(p.out, p.log)
	if p.quiet, err = parseQuiet(p.QuietHours, o.Zone); err != nil {
		return nil, err
	}
	for _, t := range c.Watch {
		in, err := c.Bus.Queue(t.Queue, bus.Events)
		if err != nil {
			return nil, err
		}
		p.border = max(p.border, in.LastSeq())
	}
	return p, nil
}

// Handle takes one event into its group.
func (p *Preprocessor) Handle(ctx context.Context, job *circuit.Job) error {
	e, err := amp.Parse(job.Data)
	if err != nil {
		return circuit.Permanent(err)
	}
	m := member{job: job, event: e, size: len(job.Data)}
	now := time.Now()
	if e.Expired(now) && job.Requeued.IsZero() {
		job.Done(expiredNote(e))
		return circuit.ErrHeld
	}
	if p.mayBeOld(job) {
		id, err := p.recent.unitEver(e)
		if err != nil {
			return circuit.Temporary(err)
		}
		if id != "" {
			job.Done("part of unit " + id)
			return circuit.ErrHeld
		}
	}
	if p.hear != nil {
		p.hear(e)
	}
	source, session, err := p.home(e)
	if err != nil {
		return circuit.Temporary(err)
	}
	if !p.makeRoom(ctx, m.size) {
		return ctx.Err()
	}
	job.Data = nil // the event has all of it
	p.mu.Lock()
	here := p.hall.has(e)
	if !here {
		p.admit(m, source, session, now)
	}
	p.mu.Unlock()
	if here {
		job.Done("came twice")
		return circuit.ErrHeld
	}
	signal(p.stir)
	return circuit.ErrHeld
}

func expiredNote(e *amp.Envelope) string {
	return "expired at " + e.Payload.ExpireAt.Format(time.RFC3339)
}

// mayBeOld tells events that an earlier run may have put into a unit. After a
// crash of the process they come with an attempt, after one of the machine they
// wait as if nothing had happened.
func (p *Preprocessor) mayBeOld(job *circuit.Job) bool {
	return job.Requeued.IsZero() && (job.Attempts > 0 || job.Place.Seq <= p.border)
}

// home returns the app and session that an event belongs to. The end of a call of
// the brain's own belongs to the session that the call was made for.
func (p *Preprocessor) home(e *amp.Envelope) (amp.Source, string, error) {
	turn, ok := turnOf(e)
	if !ok {
		return e.Header.Source, e.Payload.SessionID, nil
	}
	data, _, err := p.out.Find(unit.FileName(turn))
	if errors.Is(err, fs.ErrNotExist) {
		return e.Header.Source, e.Payload.SessionID, nil
	}
	if err != nil {
		return amp.Source{}, "", err
	}
	u, err := unit.Parse(data)
	if err != nil {
		p.log.Warn("the unit of a call cannot be read", "unit", turn, "error", err)
		return e.Header.Source, e.Payload.SessionID, nil
	}
	return u.Source, u.Session, nil
}

// makeRoom waits until an event of this size may come in; false when ctx ended
// first. Groups close before their time to make room.
func (p *Preprocessor) makeRoom(ctx context.Context, size int) bool {
	for {
		p.mu.Lock()
		h := &p.hall
		if h.events() >= maxHeld/4*3 {
			h.closeNext()
			signal(p.stir)
		}
		fits := h.events() == 0 || h.bytes+size <= maxHeldBytes
		if !fits {
			h.closeNext()
			signal(p.stir)
		}
		p.mu.Unlock()
		if fits {
			return true
		}
		select {
		case <-p.room:
		case <-ctx.Done():
			return false
		}
	}
}

// admit puts an event that is not here yet into its group. p.mu is held.
func (p *Preprocessor) admit(m member, source amp.Source, session string, now time.Time) {
	h := &p.hall
	wakes := p.mayWake(m.event)
	key := source.App + "\x00" + source.Instance + "\x00" + session
	alone := session == "" && wakes
	if p.Commands && isCommand(m.event) || !m.job.Requeued.IsZero() {
		// What was said before it is heard before it.
		h.close(h.open[key])
		alone = true
	}
	if _, brains := turnOf(m.event); brains {
		key += "\x00calls" // what the brain did is not mixed with what people say
	}
	if alone {
		key += "\x00" + m.event.Header.Source.App + "\x00" + m.event.Header.MessageID
	}
	if g := h.open[key]; g != nil && g.bytes+m.size > p.UnitBytes {
		h.close(g)
	}
	g := h.put(key, m, now)
	g.source, g.session = source, session
	switch {
	case alone, slices.Contains(p.AtOnce, source.App), len(g.members) >= p.UnitEvents, g.bytes >= p.UnitBytes:
		h.close(g)
	case wakes, len(g.members) == 1:
		// Only what may wake lets a group wait longer: nobody who is typing shall
		// keep the bot from answering.
		quiet := p.Debounce
		if m.job.Attempts > 0 {
			quiet = min(quiet, recoveredQuiet) // it has waited in an earlier run
		}
		h.wait(g, earlier(now.Add(quiet), g.first.Add(p.MaxWait)))
	}
}

func isCommand(e *amp.Envelope) bool {
	m, ok := unit.MessageOf(e)
	return ok && strings.HasPrefix(strings.TrimSpace(m.Text), "/")
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Run makes units of the groups that close, until ctx ends.
func (p *Preprocessor) Run(ctx context.Context) error {
	for {
		p.mu.Lock()
		next := p.hall.closeDue(time.Now())
		batch := slices.Clone(p.hall.closed[:min(batchUnits, len(p.hall.closed))])
		p.mu.Unlock()
		if len(batch) > 0 {
			if err := p.emit(batch); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return nil
			}
			continue
		}
		if !p.rest(ctx, next) {
			return nil
		}
	}
}

// rest waits for something to do; false when ctx ended.
func (p *Preprocessor) rest(ctx context.Context, next time.Time) bool {
	var due <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(time.Until(next))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-due:
	case <-p.stir:
	case <-ctx.Done():
		return false
	}
	return true
}

// signal wakes who waits, if anybody does.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already
	}
}
