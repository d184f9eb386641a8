package unit

import (
	"time"

	"github.com/aurorabot/aurora/amp"
)

// Of makes the unit of events, of which there is at least one. wakes tells which
// of them start a turn. Session and source are the first event's.
func Of(events []*amp.Envelope, wakes func(*amp.Envelope) bool, created time.Time) *Unit {
	first := events[0]
	u := &Unit{
		ID:      ID(first, time.Time{}),
		TraceID: first.Header.MessageID,
		Session: first.Payload.SessionID,
		Source:  first.Header.Source,
		Trust:   amp.TrustHigh,
		Events:  events,
		Text:    Text(events),
		Created: created,
	}
	if a := first.Header.Aurora; a != nil {
		u.Seq = a.Seq
		if a.TraceID != "" {
			u.TraceID = a.TraceID
		}
	}
	var awake []*amp.Envelope
	for _, e := range events {
		if t := trustOf(e); rank(t) < rank(u.Trust) {
			u.Trust = t
		}
		if wakes(e) {
			awake = append(awake, e)
		}
	}
	if len(awake) == 0 {
		u.Sender = commonSender(events)
		return u
	}
	u.Wake, u.WokenBy, u.Sender = true, awake[0].Payload.Type, commonSender(awake)
	return u
}

// commonSender returns who is behind all events, or "".
func commonSender(events []*amp.Envelope) string {
	common := senderOf(events[0])
	for _, e := range events[1:] {
		if senderOf(e) != common {
			return ""
		}
	}
	return common
}

func senderOf(e *amp.Envelope) string {
	if a := e.Header.Aurora; a != nil {
		return a.Sender
	}
	return ""
}

// trustOf returns how far an event is believed; an event of which nothing is
// known, such as a file dropped by hand, as far as most.
func trustOf(e *amp.Envelope) amp.Trust {
	a := e.Header.Aurora
	switch {
	case a == nil || a.Trust == "":
		return amp.TrustNormal
	case rank(a.Trust) == 0:
		return amp.TrustLow // also one that nobody knows
	}
	return a.Trust
}

func rank(t amp.Trust) int {
	switch t {
	case amp.TrustHigh:
		return 2
	case amp.TrustNormal:
		return 1
	}
	return 0
}
