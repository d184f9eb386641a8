package node

import (
	"slices"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
)

// The end of a call whose turn goes on, and does not have it, waits for the end
// of the turn: this long, looked at so often.
const (
	maxUndecided = 10 * time.Minute
	lookAtTurn   = time.Second
)

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
	if end, ok := unit.ToolEndOf(e); ok && end.Caller == string(call.Brain) {
		turn, named := unit.TurnOf(end.CallID)
		switch {
		case end.Outcome == string(call.Cancelled):
			return false, "the brain cancelled it itself"
		case end.Outcome == string(call.Waiting):
			return false, "it waits for approval and ends later"
		case !named || p.turns == nil:
			return false, "nobody knows which turn the call was made in"
		case p.turns.HasResult(end.CallID):
			return false, "its turn has the result"
		case p.turns.Open(turn):
			return false, "its turn goes on"
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

// turnOf returns the turn in which a call was made whose end an event tells.
func turnOf(e *amp.Envelope) (string, bool) {
	end, ok := unit.ToolEndOf(e)
	if !ok || end.Caller != string(call.Brain) {
		return "", false
	}
	return unit.TurnOf(end.CallID)
}

// undecided reports whether it cannot be told yet if a group wakes: it holds the
// end of a call whose turn goes on and does not have it, or not yet.
func (p *Preprocessor) undecided(g *group, now time.Time) bool {
	if p.turns == nil || g.unit != nil || g.hurried || now.Sub(g.first) >= maxUndecided {
		return false
	}
	return slices.ContainsFunc(g.members, func(m member) bool {
		turn, ok := turnOf(m.event)
		if !ok {
			return false
		}
		end, _ := unit.ToolEndOf(m.event)
		decided := end.Outcome == string(call.Cancelled) || end.Outcome == string(call.Waiting)
		return !decided && p.turns.Open(turn) && !p.turns.HasResult(end.CallID)
	})
}
