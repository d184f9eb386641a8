package bridge

import (
	"log/slog"
	"slices"
	"strings"

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
}

// wants reports whether an event belongs here. caller matters only for tool.*.
func (o *Outlet) wants(typ string, caller call.CallerKind) bool {
	if strings.HasPrefix(typ, "tool.") && !slices.Contains(o.ToolCallers, caller) {
		return false
	}
	return amp.MatchAny(o.Include, typ) && !amp.MatchAny(o.Exclude, typ)
}

// A route is an outlet and what an earlier run left in it.
type route struct {
	Outlet
	// earlier holds the names of files that were there at the start. A crash
	// between a file and the record of its id shows only here.
	earlier map[string]struct{}
}

func newRoute(o Outlet) (*route, error) {
	r := &route{Outlet: o, earlier: make(map[string]struct{})}
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

// put writes the events that belong here, in order, and marks those that found
// no place.
func (r *route) put(events []*event, log *slog.Logger) {
	var items []spool.Item
	var mine []*event
	for _, e := range events {
		if !r.wants(e.envelope.Payload.Type, e.caller) {
			continue
		}
		if _, there := r.earlier[e.name]; there && e.named {
			continue
		}
		data, err := e.file()
		if err != nil {
			log.Error("an event cannot be written", "type", e.envelope.Payload.Type, "error", err)
			e.failed = true
			continue
		}
		mine = append(mine, e)
		items = append(items, spool.Item{Name: e.name, Data: data, Place: spool.Place{Seq: e.envelope.Header.Aurora.Seq}})
	}
	if len(items) == 0 {
		return
	}
	n, err := r.Spool.Put(items...)
	for _, e := range mine[n:] {
		e.failed = true
	}
	if err != nil {
		log.Error("events were not delivered", "spool", r.Name, "count", len(items)-n, "error", err)
	}
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
