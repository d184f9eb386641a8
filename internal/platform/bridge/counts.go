package bridge

import "github.com/aurorabot/aurora/internal/config"

// Counts say how the events of one app fared since the bridge was made.
type Counts struct {
	Delivered  int64 `json:"delivered"`  // durable wherever they belong
	Dropped    int64 `json:"dropped"`    // no room in the queue or in a spool
	Refused    int64 `json:"refused"`    // not valid
	Forged     int64 `json:"forged"`     // named another source; delivered with the right one
	Undeclared int64 `json:"undeclared"` // of a type the app may not emit; delivered as a notification
	Duplicates int64 `json:"duplicates"` // of an id that was there before
	Expired    int64 `json:"expired"`    // past their expire_at on arrival
}

// A Status is what a keeper should know of the flow of events.
type Status struct {
	// Waiting is how many signals are not converted yet.
	Waiting int `json:"waiting"`
	// Apps holds counts by package; signals of no app are those of aurora.
	Apps   map[string]Counts      `json:"apps"`
	Spools map[string]SpoolStatus `json:"spools"`
	// Fault says why delivered ids cannot be written down; empty: they can.
	Fault string `json:"fault,omitempty"`
}

// A SpoolStatus is that of one outlet.
type SpoolStatus struct {
	Pending    int    `json:"pending"`
	Processing int    `json:"processing"`
	Done       int    `json:"done"`
	Dead       int    `json:"dead"`
	MaxFiles   int    `json:"max_files"`
	Dropped    int64  `json:"dropped"` // events that wanted in and found no place
	Full       bool   `json:"full"`
	Fault      string `json:"fault,omitempty"` // why the last write failed
}

// Status reads the folders of the spools, so it may take a while on a slow disk.
func (b *Bridge) Status() Status {
	st := b.Glance()
	for _, r := range b.routes {
		figures, err := r.Spool.Stats()
		now := st.Spools[r.Name]
		now.Pending, now.Processing, now.Done, now.Dead = figures.Pending, figures.Processing, figures.Done, figures.Dead
		if err != nil {
			now.Fault = err.Error()
		}
		st.Spools[r.Name] = now
	}
	return st
}

// Glance is Status without any I/O: of the files only those that are known to
// wait are counted.
func (b *Bridge) Glance() Status {
	st := Status{Waiting: b.queue.depth(), Apps: make(map[string]Counts), Spools: make(map[string]SpoolStatus), Fault: b.seen.trouble()}
	b.mu.Lock()
	for app, c := range b.counts {
		st.Apps[app] = *c
	}
	b.mu.Unlock()
	for _, r := range b.routes {
		now := SpoolStatus{Pending: r.Spool.Waiting(), MaxFiles: r.Spool.MaxFiles(), Dropped: r.lost.Load()}
		full, fault := r.Spool.Trouble()
		if now.Full = full; !full && fault != nil {
			now.Fault = fault.Error()
		}
		st.Spools[r.Name] = now
	}
	return st
}

func (b *Bridge) count(app string, change func(*Counts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.counts[app]
	if c == nil {
		c = new(Counts)
		b.counts[app] = c
	}
	change(c)
}

// maxWarnings bounds how many kinds of warnings are remembered: types of events
// are words of an app.
const maxWarnings = 1000

// warnOnce warns of something an app does, the first time it does it.
func (b *Bridge) warnOnce(app *config.App, kind, message string, args ...any) {
	mark := app.Key + " " + kind
	b.mu.Lock()
	first := !b.warned[mark] && len(b.warned) < maxWarnings
	if first {
		b.warned[mark] = true
	}
	b.mu.Unlock()
	if first {
		b.log.Warn(message, append([]any{"app", app.Key}, args...)...)
	}
}
