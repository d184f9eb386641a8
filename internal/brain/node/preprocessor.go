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
		turns:                o.Turns, out: out[0], log: quietLog(c.Logger),
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
	source, session, err := p.home(e)
	if err != nil {
		return circuit.Temporary(err)
	}
	if !p.makeRoom(ctx, m.size) {
		return ctx.Err()
	}
	job.Data = nil // the event has all of it
	p.mu.Lock()
	p.admit(m, source, session, now)
	p.mu.Unlock()
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

// turnOf returns the turn in which a call was made whose end an event tells.
func turnOf(e *amp.Envelope) (string, bool) {
	end, ok := unit.ToolEndOf(e)
	if !ok || end.Caller != "brain" {
		return "", false
	}
	return unit.TurnOf(end.CallID)
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

// admit puts an event into its group. p.mu is held.
func (p *Preprocessor) admit(m member, source amp.Source, session string, now time.Time) {
	h := &p.hall
	if h.has(m.event) {
		m.job.Done("came twice")
		return
	}
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

// emit makes the units of closed groups durable, in order, and ends their files.
func (p *Preprocessor) emit(batch []*group) error {
	var ready []*group
	var items []spool.Item
	over := make(map[*group]bool)
	var failed error
	for _, g := range batch {
		fresh, err := p.prepare(g)
		if err != nil {
			failed = err
			break
		}
		if !fresh {
			over[g] = true
			continue
		}
		ready = append(ready, g)
		items = append(items, spool.Item{Name: unit.FileName(g.unit.ID), Data: g.data, Place: g.unit.Place()})
	}
	durable := 0
	if len(items) > 0 {
		var err error
		durable, err = p.out.Put(items...)
		failed = errors.Join(err, failed)
	}
	for _, g := range ready[:durable] {
		p.recent.add(g.unit)
		p.drop(g, func(*amp.Envelope) bool { return true }, "")
		over[g] = true
	}
	p.mu.Lock()
	p.hall.closed = slices.DeleteFunc(p.hall.closed, func(g *group) bool { return over[g] })
	p.mu.Unlock()
	if failed != nil {
		return fmt.Errorf("emit units: %w", failed)
	}
	return nil
}

// prepare makes the unit of a group, of the events that are in no unit yet; false
// if there is none. What it made stays the same when it is asked again: a Put that
// failed may have left the file.
func (p *Preprocessor) prepare(g *group) (bool, error) {
	now := time.Now()
	for len(g.members) > 0 {
		if g.unit == nil {
			p.sift(g, now)
			if len(g.members) == 0 {
				break
			}
			if err := p.make(g, now); err != nil {
				return false, err
			}
		}
		there, err := p.existing(g.unit.ID)
		if err != nil || there == nil {
			return err == nil, err
		}
		if !there.Has(g.members[0].event) {
			g.salt++ // somebody else's file has the name
			g.unit = nil
			continue
		}
		// An earlier run, or an earlier try, made it durable. Only what it does not
		// hold is new.
		p.recent.add(there)
		p.drop(g, there.Has, "part of unit "+there.ID)
		g.unit = nil
	}
	return false, nil
}

// sift lets go of events that have expired meanwhile, and of those that came in
// with another unit.
func (p *Preprocessor) sift(g *group, now time.Time) {
	if !g.members[0].job.Requeued.IsZero() {
		return // a keeper wants it again
	}
	for _, m := range slices.Clone(g.members) {
		only := func(e *amp.Envelope) bool { return e == m.event }
		if m.event.Expired(now) {
			p.drop(g, only, expiredNote(m.event))
		} else if id := p.recent.unitOf(m.event); id != "" {
			p.drop(g, only, "part of unit "+id)
		}
	}
}

// existing returns the unit of an id, if its file is there, durably; one without
// events if the file is not that of a unit.
func (p *Preprocessor) existing(id string) (*unit.Unit, error) {
	name := unit.FileName(id)
	there, err := p.out.Has(name)
	if err != nil || !there {
		return nil, err
	}
	data, _, err := p.out.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // forgotten just now
	}
	if err != nil {
		return nil, err
	}
	u, err := unit.Parse(data)
	if err != nil {
		p.log.Warn("the file of a unit cannot be read", "file", name, "error", err)
		return &unit.Unit{ID: id}, nil
	}
	return u, nil
}

// drop ends the files of the members that the unit holds, or needs not hold.
func (p *Preprocessor) drop(g *group, which func(*amp.Envelope) bool, note string) {
	var gone []member
	g.members = slices.DeleteFunc(g.members, func(m member) bool {
		if !which(m.event) {
			return false
		}
		gone = append(gone, m)
		return true
	})
	for _, m := range gone {
		m.job.Done(note)
	}
	p.mu.Lock()
	for _, m := range gone {
		p.hall.left(m)
	}
	p.mu.Unlock()
	signal(p.room)
}

// make makes the unit of a group and its file.
func (p *Preprocessor) make(g *group, now time.Time) error {
	var note string
	u := unit.Of(g.events(), func(e *amp.Envelope) bool {
		wakes, why := p.wakes(e, now)
		if why != "" {
			note = why
		}
		return wakes
	}, now.Truncate(time.Millisecond))
	first := g.members[0]
	switch requeued := first.job.Requeued; {
	case !requeued.IsZero():
		u.ID = unit.ID(first.event, requeued.Add(g.salt))
	case g.salt > 0:
		u.ID = unit.ID(first.event, time.Unix(0, int64(g.salt)))
	}
	u.Source, u.Session = g.source, g.session
	if !u.Wake {
		u.Note = note
	}
	if u.Seq == 0 {
		p.mu.Lock()
		p.seq = max(p.seq+1, uint64(now.UnixMicro()))
		u.Seq = p.seq
		p.mu.Unlock()
	}
	data, err := u.Encode()
	if err != nil {
		return err
	}
	g.unit, g.data = u, data
	return nil
}

// mayWake tells events that wake, or may turn out to.
func (p *Preprocessor) mayWake(e *amp.Envelope) bool {
	if _, brains := turnOf(e); brains {
		return true
	}
	return amp.MatchAny(p.Wake, e.Payload.Type)
}

// wakes reports whether an event starts a turn, and why one does not that might
// have been expected to.
func (p *Preprocessor) wakes(e *amp.Envelope, now time.Time) (bool, string) {
	if end, ok := unit.ToolEndOf(e); ok && end.Caller == "brain" {
		turn, named := unit.TurnOf(end.CallID)
		switch {
		case end.Outcome == "cancelled":
			return false, "the brain cancelled it itself"
		case !named || p.turns == nil:
			return false, "nobody knows which turn the call was made in"
		case p.turns.Open(turn):
			return false, "its turn goes on"
		case p.turns.HasResult(end.CallID):
			return false, "its turn has the result"
		}
		return true, ""
	}
	if !amp.MatchAny(p.Wake, e.Payload.Type) {
		return false, ""
	}
	if isOwn(e) && p.quiet.holds(now) {
		return false, "quiet hours"
	}
	return true, ""
}

// signal wakes who waits, if anybody does.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already
	}
}
