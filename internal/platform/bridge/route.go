package bridge

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/spool"
)

// An Outlet is one consumer and what it wants.
type Outlet struct {
	Name  string
	Spool *spool.Spool
	// Include and Exclude are patterns of event types; Exclude wins.
	Include, Exclude []string
	// ToolCallers are the kinds of callers whose calls make an event here.
	ToolCallers []call.CallerKind
	// Place says where an event stands in the spool; nil: in the order of
	// header.aurora.seq, all in one lane.
	Place func(*amp.Envelope) spool.Place
}

// wants reports whether an event belongs here. caller matters only for tool.*.
func (o *Outlet) wants(typ string, caller call.CallerKind) bool {
	if strings.HasPrefix(typ, "tool.") && !slices.Contains(o.ToolCallers, caller) {
		return false
	}
	return amp.MatchAny(o.Include, typ) && !amp.MatchAny(o.Exclude, typ)
}

func (o *Outlet) place(e *amp.Envelope) spool.Place {
	if o.Place != nil {
		return o.Place(e)
	}
	return spool.Place{Seq: e.Header.Aurora.Seq}
}

// A route is an outlet and what is known of what lies in it. Only Run's
// goroutine uses it, but for the counts.
type route struct {
	Outlet
	log *slog.Logger
	// earlier holds the names of files that were there at the start. A crash
	// between a file and the record of its id shows only here.
	earlier map[string]struct{}
	// doubtful holds the names of events that may lie here although they do not
	// count as delivered: the disk failed at the last step, or another spool
	// refused them. When there are too many, all are doubted.
	doubtful map[string]struct{}
	doubtAll bool

	lost    atomic.Int64 // events that wanted in and found no place
	failing bool         // the last Put failed, which has been told
	missed  int64        // since then
}

// maxDoubts bounds the names that are remembered as doubtful.
const maxDoubts = 10_000

func newRoute(o Outlet, log *slog.Logger) (*route, error) {
	r := &route{Outlet: o, log: log.With("spool", o.Name), earlier: make(map[string]struct{}), doubtful: make(map[string]struct{})}
	for _, state := range spool.States() {
		names, err := o.Spool.Names(state)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			r.earlier[name] = struct{}{}
		}
	}
	return r, nil
}

// put writes the events that belong here, in order, and notes of each whether it
// found its place.
func (r *route) put(events []*event) {
	var items []spool.Item
	var mine []*event
	for _, e := range events {
		if e.hidden || !r.wants(e.envelope.Payload.Type, e.caller) {
			continue
		}
		there, err := r.holds(e)
		var data []byte
		if err == nil && !there {
			data, err = e.file()
		}
		switch {
		case err != nil:
			r.refuse([]*event{e}, err)
		case there:
			e.in = append(e.in, r.Name)
		default:
			mine = append(mine, e)
			items = append(items, spool.Item{Name: e.name, Data: data, Place: r.place(e.envelope)})
		}
	}
	if len(items) == 0 {
		return
	}
	n, err := r.Spool.Put(items...)
	for _, e := range mine[:n] {
		e.in = append(e.in, r.Name)
	}
	if err != nil {
		r.refuse(mine[n:], err)
	} else if r.failing {
		r.log.Info("the spool takes events again", "missed", r.missed)
		r.failing, r.missed = false, 0
	}
}

// holds reports whether an event that its app named lies here already.
func (r *route) holds(e *event) (bool, error) {
	if !e.named {
		return false, nil
	}
	if _, there := r.earlier[e.name]; there {
		return true, nil
	}
	if _, doubted := r.doubtful[e.name]; !doubted && !r.doubtAll {
		return false, nil
	}
	there, err := r.Spool.Has(e.name)
	if err == nil {
		delete(r.doubtful, e.name)
	}
	return there, err
}

// doubt remembers that an event may lie here although it was not delivered.
func (r *route) doubt(e *event) {
	if r.doubtAll || !r.wants(e.envelope.Payload.Type, e.caller) {
		return
	}
	if r.doubtful[e.name] = struct{}{}; len(r.doubtful) > maxDoubts {
		r.doubtAll, r.doubtful = true, nil
	}
}

// refuse notes that events found no place here, and tells it once until some do.
func (r *route) refuse(events []*event, err error) {
	for _, e := range events {
		e.refusedBy = append(e.refusedBy, r.Name)
	}
	r.lost.Add(int64(len(events)))
	r.missed += int64(len(events))
	if r.failing {
		return
	}
	r.failing = true
	if errors.Is(err, spool.ErrFull) {
		r.log.Error("the spool is full: events are dropped until its consumer makes room", "max_files", r.Spool.MaxFiles())
		return
	}
	r.log.Error("events cannot be written: they are dropped until the disk works again", "error", err)
}

// interest reports whether a spool or a follower wants events of a type.
func (b *Bridge) interest(typ string, caller call.CallerKind) bool {
	for _, r := range b.routes {
		if r.wants(typ, caller) {
			return true
		}
	}
	return b.followed()
}
