package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// followRetry is the time between two looks for a daemon.
const followRetry = 250 * time.Millisecond

// errReaderGone ends following when nobody reads stdout any more.
var errReaderGone = errors.New("nobody reads")

// An eventFollower shows events as they come, over stops and starts of the
// daemon: what came between is shown from the spools.
type eventFollower struct {
	p      *program
	conf   *config.Config
	filter control.EventFilter
	all    bool

	shown  seenFiles // what has been shown, so that nothing is shown twice
	latest time.Time // when the latest event shown was received
	newest int       // how many to show before the first new one; 0: all
	line   func(control.EventFile) string
}

func (p *program) followEvents(ctx context.Context, c *config.Config, filter control.EventFilter, flags eventsFlags) error {
	f := &eventFollower{
		p: p, conf: c, filter: filter, all: flags.all, newest: flags.newest,
		line: eventLines(p.out.style(), len(filter.Spools) != 1 && (flags.all || len(daemon.Events(c).Spools()) > 1)),
	}
	err := f.run(ctx)
	if errors.Is(err, errReaderGone) || ctx.Err() != nil {
		return nil
	}
	return err
}

// run follows the daemon, and waits for one where there is none.
func (f *eventFollower) run(ctx context.Context) error {
	waiting := false
	for {
		client, err := control.Dial(ctx, f.conf.Home.RunDir())
		switch {
		case err == nil:
			if waiting {
				f.p.out.note("aurora: a daemon is running%s", f.gap())
			}
			waiting = false
			err = client.FollowEvents(ctx, control.FollowRequest{EventFilter: f.filter, All: f.all}, func(n control.EventNews) error {
				return f.news(ctx, n)
			})
			client.Close()
			if !houseEnded(err) {
				return err
			}
			if ctx.Err() == nil {
				f.p.out.note("aurora: the daemon has stopped; waiting for it to come back (Ctrl-C ends)")
			}
			waiting = true
		case !errors.Is(err, control.ErrNoDaemon):
			return err
		case !waiting:
			if err := f.backlog(ctx); err != nil {
				return err
			}
			f.p.out.note("aurora: no daemon is running; waiting for one (Ctrl-C ends)")
			waiting = true
		}
		select {
		case <-time.After(followRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gap says what of the time without a daemon cannot be shown: what was not kept,
// and what retention has removed by now.
func (f *eventFollower) gap() string {
	var said string
	if f.all {
		said = "; signals that no spool wants were not kept meanwhile"
	}
	if keep := f.conf.Settings.Retention.Done; keep > 0 && !f.latest.IsZero() && time.Since(f.latest) > keep {
		said += fmt.Sprintf("; events that were done more than %s ago are no longer there", keep)
	}
	return said
}

// houseEnded tells the ends of following that are no fault.
func houseEnded(err error) bool {
	var e *call.Error
	return errors.As(err, &e) && (e.Code == call.ShuttingDown || e.Code == call.DaemonUnreachable)
}

// news shows what the daemon tells. The first news says that nothing is missed
// from now on: then what came before is shown.
func (f *eventFollower) news(ctx context.Context, n control.EventNews) error {
	if n.Missed > 0 {
		f.p.out.note("aurora: %s left out: they came faster than could be shown", count(n.Missed, "event"))
	}
	for _, name := range n.Dropped {
		f.p.out.note("aurora: the spool %s could not take the next event: it is full, or its disk fails", visible(name))
	}
	switch {
	case n.Event != nil:
		return f.show(*n.Event)
	case n.Missed == 0:
		return f.backlog(ctx)
	}
	return nil
}

// backlog shows what lies in the spools: the first time the newest so many, later
// what came since.
func (f *eventFollower) backlog(ctx context.Context) error {
	filter, newest := f.filter, f.newest
	if !f.latest.IsZero() {
		filter.Since, newest = f.latest, 0
	}
	files, _, err := daemon.Events(f.conf).List(ctx, filter, newest)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := f.show(file); err != nil {
			return err
		}
	}
	if f.latest.IsZero() {
		f.latest = time.Now()
	}
	return nil
}

// show prints one event, unless it has been.
func (f *eventFollower) show(file control.EventFile) error {
	if file.File != "" && !f.shown.add(file.Spool+"/"+file.File) {
		return nil
	}
	if at := receivedAt(file); at.After(f.latest) {
		f.latest = at
	}
	if f.p.out.json {
		if f.p.out.line(file) != nil {
			return errReaderGone
		}
		return nil
	}
	if _, err := io.WriteString(f.p.out.stdout, f.line(file)); err != nil {
		return errReaderGone
	}
	return nil
}

// eventLines returns what makes lines of events. Columns grow with what comes.
func eventLines(s style, spools bool) func(control.EventFile) string {
	var widths [4]int
	return func(file control.EventFile) string {
		l := lineOf(file)
		at := 0
		column := func(text string) string {
			widths[at] = max(widths[at], textWidth(text))
			text = fmt.Sprintf("%s%*s", text, widths[at]-textWidth(text)+gap, "")
			at++
			return text
		}
		line := s.dim(l.time) + "  "
		if spools {
			line += column(dash(l.spool))
		}
		return line + column(l.app) + column(l.typ) + column(l.session) + l.summary + "\n"
	}
}

// seenFiles remembers the last names it was given, and no more than so many.
type seenFiles struct {
	names map[string]bool
	ring  []string
	next  int
}

// maxSeenFiles is well above what can come twice: what lay in the spools while a
// daemon was found.
const maxSeenFiles = 100_000

// add notes a name; false: it was known.
func (s *seenFiles) add(name string) bool {
	if s.names[name] {
		return false
	}
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.names[name] = true
	if len(s.ring) < maxSeenFiles {
		s.ring = append(s.ring, name)
		return true
	}
	delete(s.names, s.ring[s.next])
	s.ring[s.next] = name
	s.next = (s.next + 1) % maxSeenFiles
	return true
}
