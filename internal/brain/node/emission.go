package node

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// emit makes the units of closed groups durable, in order, and ends their files.
func (p *Preprocessor) emit(batch []*group) error {
	var ready []*group
	var items []spool.Item
	var again []*group
	over := make(map[*group]bool) // those that leave the closed ones
	var failed error
	now := time.Now()
	for _, g := range batch {
		if p.undecided(g, now) {
			over[g] = true
			again = append(again, g)
			continue
		}
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
	for _, g := range again {
		p.hall.reopen(g, now.Add(lookAtTurn))
	}
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
