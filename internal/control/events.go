package control

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/aurorabot/aurora/amp"
)

// An EventFile is one event in one place. An event that two spools want lies in
// two places.
type EventFile struct {
	Spool string `json:"spool"` // empty: no spool wants it, which only a follower sees
	State string `json:"state"` // pending, processing, done, dead; empty like Spool
	File  string `json:"file"`  // its name; empty like Spool
	// Envelope is the event as it stands in the file; null for a file that is
	// no event.
	Envelope json.RawMessage `json:"envelope"`
}

// An EventPlace is an event in one place, and how it fared there.
type EventPlace struct {
	EventFile
	Path     string    `json:"path"`
	Written  time.Time `json:"written"`  // when it came into its state, or was written
	Bytes    int64     `json:"bytes"`    // length of the file
	Attempts int       `json:"attempts"` // tries that did not end well
	Reason   string    `json:"reason"`   // why the last of them did not; or why it is dead
	// Noted is when that was; null: there is no note.
	Noted *time.Time `json:"noted"`
}

// An EventFilter says which events are meant. Empty fields mean all.
type EventFilter struct {
	Spools []string `json:"spools,omitempty"`
	States []string `json:"states,omitempty"`
	// Apps are packages.
	Apps []string `json:"apps,omitempty"`
	// Types are patterns: a type, a family ("message.*"), or "*".
	Types   []string `json:"types,omitempty"`
	Session string   `json:"session,omitempty"`
	// Since and Until bound the time at which Aurora received the event; Until
	// itself is out.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Wants reports whether an event is meant, wherever it lies.
func (f *EventFilter) Wants(e *amp.Envelope) bool {
	at := ReceivedAt(e)
	return (len(f.Apps) == 0 || slices.Contains(f.Apps, e.Header.Source.App)) &&
		(len(f.Types) == 0 || amp.MatchAny(f.Types, e.Payload.Type)) &&
		(f.Session == "" || f.Session == e.Payload.SessionID) &&
		(f.Since.IsZero() || !at.Before(f.Since)) &&
		(f.Until.IsZero() || at.Before(f.Until))
}

// AnyEvent reports whether the filter says nothing about the event itself, so
// that files which are no events are meant too.
func (f *EventFilter) AnyEvent() bool {
	return len(f.Apps) == 0 && len(f.Types) == 0 && f.Session == ""
}

// InSpool reports whether files of a spool are meant.
func (f *EventFilter) InSpool(name string) bool {
	return len(f.Spools) == 0 || slices.Contains(f.Spools, name)
}

// ReceivedAt returns when Aurora received an event; for one that somebody
// dropped into a spool by hand, when it happened.
func ReceivedAt(e *amp.Envelope) time.Time {
	if e.Header.Aurora != nil {
		return e.Header.Aurora.ReceivedAt
	}
	return e.Header.Timestamp
}

// FollowRequest asks to be told of events as they come.
type FollowRequest struct {
	EventFilter
	// All asks for signals, too, that no spool wants.
	All bool `json:"all,omitempty"`
}

// EventNews is what a follower is told. The first news is empty: from then on
// nothing is missed.
type EventNews struct {
	Event *EventFile `json:"event,omitempty"`
	// Dropped names the spools that want the event and could not take it.
	Dropped []string `json:"dropped,omitempty"`
	// Missed counts events that came faster than the follower took them.
	Missed int `json:"missed,omitempty"`
}

// An EventAction is what can be done to the file of an event.
type EventAction string

// The actions on an event.
const (
	Requeue EventAction = "requeue" // put it back to pending, to be worked on once more
	Drop    EventAction = "drop"    // remove it
)

// EventActionRequest asks for an action on one file.
type EventActionRequest struct {
	Action EventAction `json:"action"`
	Spool  string      `json:"spool"`
	File   string      `json:"file"`
}

// EventDone is how an action on an event ended.
type EventDone struct {
	OK     bool        `json:"ok"`
	Action EventAction `json:"action"`
	Spool  string      `json:"spool"`
	File   string      `json:"file"`
	// Was is the state it was in.
	Was string `json:"was"`
}

// Flow says how the flow of events is.
type Flow struct {
	// Running says whether a daemon makes events. Without one there are only
	// the files.
	Running bool `json:"running"`
	// State is ready, or degraded while some events cannot be delivered;
	// Problems says why, in sentences.
	State    string   `json:"state"`
	Problems []string `json:"problems"`
	// Warnings says what was lost or refused since Aurora started.
	Warnings []string `json:"warnings"`
	// Waiting counts signals that are not written yet.
	Waiting int         `json:"waiting"`
	Spools  []SpoolFlow `json:"spools"`
	// Apps has every app of which there were events; "aurora" stands for
	// signals of no app.
	Apps []AppFlow `json:"apps"`
}

// SpoolFlow is the flow into one spool.
type SpoolFlow struct {
	Name       string `json:"name"`
	Dir        string `json:"dir"`
	Pending    int    `json:"pending"`
	Processing int    `json:"processing"`
	Done       int    `json:"done"`
	Dead       int    `json:"dead"`
	MaxFiles   int    `json:"max_files"`
	Dropped    int64  `json:"dropped"` // since Aurora started
	Full       bool   `json:"full"`
	Fault      string `json:"fault"` // why nothing can be written; empty: it can
}

// AppFlow is the flow from one app since Aurora started.
type AppFlow struct {
	Key     string `json:"key"` // empty: of no app
	Package string `json:"package"`
	EventCounts
}

// EventCounts say how the events of one app fared since Aurora started.
type EventCounts struct {
	Delivered  int64 `json:"delivered"`  // durable wherever they belong
	Dropped    int64 `json:"dropped"`    // there was no room, or the disk failed
	Refused    int64 `json:"refused"`    // not valid
	Forged     int64 `json:"forged"`     // named another source; delivered with the right one
	Undeclared int64 `json:"undeclared"` // of a type the app may not emit; delivered as a notification
	Duplicates int64 `json:"duplicates"` // of an id that was there before
	Expired    int64 `json:"expired"`    // past their expire_at when they came
}

// The states of the flow of events.
const (
	FlowReady    = "ready"
	FlowDegraded = "degraded"
)
