package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
	"github.com/aurorabot/aurora/internal/names"
)

// How many events are shown to people who do not say how many.
const (
	eventsShown  = 50
	eventsBefore = 10 // before new ones
)

// An eventsFlags is what says which events are meant.
type eventsFlags struct {
	spools, states, apps, types []string
	session                     string
	since, until                string
	newest                      int
	follow, all                 bool
}

func (p *program) eventsCommand() *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show events; put them back or drop them",
		Long: `Show the events that lie in the spools of the home, in their order, the latest
last. It looks at the files, so it needs no daemon.

With --follow it goes on with new events as they come from the daemon, and waits
for one where there is none. --all shows signals, too, that no spool wants.

People get the last 50 events (-n says how many, 0 is all), --json has all unless
-n is given. --since and --until take a duration (10m, 2h, 7d), a time
(2026-06-17T14:30:00+08:00, "2026-06-17 14:30", 2026-06-17), or a time of today
(14:30).`,
		Example: `  aurora events
  aurora events --type 'message.*' --since 1h
  aurora events --app aurora-app-weather --state dead --json
  aurora events --follow --all
  aurora events show 018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11
  aurora events requeue event_weather.reported_2026-06-17-shanghai-1f2e3d4c.json`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.events(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.spools, "spool", nil, "only of this spool `name`")
	flags.StringSliceVar(&f.states, "state", nil, "only in this `state`: pending, processing, done or dead")
	flags.StringSliceVar(&f.apps, "app", nil, "only of the app with this `key` or package")
	flags.StringSliceVar(&f.types, "type", nil, "only of this type; a `pattern` such as message.* or *")
	flags.StringVar(&f.session, "session", "", "only of this `session`")
	flags.StringVar(&f.since, "since", "", "only received at this `time` or later")
	flags.StringVar(&f.until, "until", "", "only received before this `time`")
	flags.IntVarP(&f.newest, "lines", "n", eventsShown, "how many of the latest; 0: all")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with new events until Ctrl-C")
	flags.BoolVar(&f.all, "all", false, "with --follow: signals that no spool wants, too")
	_ = cmd.RegisterFlagCompletionFunc("app", p.completeApps)
	_ = cmd.RegisterFlagCompletionFunc("spool", p.completeSpools)
	_ = cmd.RegisterFlagCompletionFunc("state", fixed(eventStates...))
	_ = cmd.RegisterFlagCompletionFunc("type", fixed(eventTypes()...))
	cmd.AddCommand(p.eventsShowCommand(), p.eventsRequeueCommand(), p.eventsDropCommand(), p.eventsStatusCommand())
	return cmd
}

var eventStates = []string{"pending", "processing", "done", "dead"}

// eventTypes are the types that a shell suggests.
func eventTypes() []string {
	return []string{
		amp.TypeMessageReceived, "lifecycle.*", amp.TypeCapabilityChanged, "tool.*", amp.TypeToolCompleted, amp.TypeToolFailed,
		amp.TypeResourceObserved, "mcp.notification.*", amp.TypeError,
	}
}

// fixed completes a flag with fixed words.
func fixed(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return beginning(words, typed)
	}
}

func (p *program) completeSpools(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	c, err := p.loadConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return beginning(daemon.Events(c).Spools(), typed)
}

// completeEvent suggests the message ids of the latest events.
func (p *program) completeEvent(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	c, err := p.loadConfig()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(context.Background(), suggestTime)
	defer cancel()
	files, _, _ := daemon.Events(c).List(ctx, control.EventFilter{}, eventsShown) // what cannot be read is not suggested
	var ids []string
	for _, file := range slices.Backward(files) {
		if e, err := amp.Parse(file.Envelope); err == nil && !strings.ContainsFunc(e.Header.MessageID, unicode.IsControl) {
			ids = append(ids, e.Header.MessageID+"\t"+oneLine(e.Payload.Type))
		}
	}
	return beginning(ids, typed)
}

// filter turns the flags into what they mean in this home.
func (f *eventsFlags) filter(c *config.Config, now time.Time) (control.EventFilter, error) {
	out := control.EventFilter{Spools: f.spools, States: f.states, Types: f.types, Session: f.session}
	known := daemon.Events(c).Spools()
	for _, name := range f.spools {
		if !slices.Contains(known, name) {
			return out, notAmong("spool", name, known)
		}
	}
	for _, state := range f.states {
		if !slices.Contains(eventStates, state) {
			return out, notAmong("state", state, eventStates)
		}
	}
	for _, pattern := range f.types {
		if star := strings.Index(pattern, "*"); star >= 0 && pattern != "*" && (star != len(pattern)-1 || !strings.HasSuffix(pattern, ".*")) {
			return out, usagef("--type %q is no pattern; write a type, a family such as message.*, or *", pattern)
		}
	}
	for _, name := range f.apps {
		if a := c.App(name); a != nil {
			name = a.Package
		}
		out.Apps = append(out.Apps, name)
	}
	var err error
	if out.Since, err = parseWhen(f.since, now); err != nil {
		return out, usagef("--since: %v", err)
	}
	if out.Until, err = parseWhen(f.until, now); err != nil {
		return out, usagef("--until: %v", err)
	}
	return out, nil
}

func notAmong(what, name string, known []string) error {
	if near := names.Near(name, known, 1); len(near) > 0 {
		return usagef("there is no %s %q; did you mean %s?", what, name, near[0])
	}
	return usagef("there is no %s %q; there are: %s", what, name, strings.Join(known, ", "))
}

func (p *program) events(cmd *cobra.Command, f eventsFlags) error {
	switch {
	case f.newest < 0:
		return usagef("-n must not be negative")
	case f.all && !f.follow:
		return usagef("--all goes with --follow: what no spool wants is not kept")
	case f.follow && len(f.states) > 0:
		return usagef("--state does not go with --follow, which shows events as they come")
	case f.follow && f.until != "":
		return usagef("--until does not go with --follow")
	case f.all && len(f.spools) > 0:
		return usagef("--all does not go with --spool")
	}
	c, err := p.loadConfig()
	if err != nil {
		return err
	}
	filter, err := f.filter(c, time.Now())
	if err != nil {
		return err
	}
	given := cmd.Flags().Changed("lines")
	if f.follow {
		if !given {
			f.newest = eventsBefore
		}
		// An explicit 0 is all here, too.
		return p.followEvents(cmd.Context(), c, filter, f)
	}
	if !given && p.out.json {
		f.newest = 0
	}
	return p.listEvents(cmd.Context(), c, filter, f.newest)
}

func (p *program) listEvents(ctx context.Context, c *config.Config, filter control.EventFilter, newest int) error {
	files, more, err := daemon.Events(c).List(ctx, filter, newest)
	if err != nil {
		return err
	}
	if p.out.json {
		return p.out.document(nonNil(files))
	}
	t := p.eventTable(len(filter.Spools) != 1 && len(daemon.Events(c).Spools()) > 1)
	for _, file := range files {
		t.add(file)
	}
	p.out.print(t.String())
	switch {
	case more:
		p.out.note("aurora: only the last %d are shown; -n 0 shows all", newest)
	case len(files) == 0:
		p.out.note("aurora: there are no such events")
	}
	return nil
}

// An eventTable is a row an event.
type eventTable struct {
	table
	style  style
	spools bool // there is more than one
}

func (p *program) eventTable(spools bool) *eventTable {
	t := &eventTable{table: table{columns: p.out.columns()}, style: p.out.style(), spools: spools}
	head := []string{"TIME", "STATE", "APP", "TYPE", "SESSION", "SUMMARY"}
	if spools {
		head = slices.Insert(head, 1, "SPOOL")
	}
	var cells []cell
	for _, text := range head {
		cells = append(cells, cell{text, t.style.dim})
	}
	t.row(cells...)
	return t
}

func (t *eventTable) add(file control.EventFile) {
	l := lineOf(file)
	cells := []cell{plain(l.time), {l.state, t.style.eventState}, plain(l.app), plain(l.typ), plain(l.session), plain(l.summary)}
	if t.spools {
		cells = slices.Insert(cells, 1, plain(l.spool))
	}
	t.row(cells...)
}

// An eventLine is an event as people read it, in one line.
type eventLine struct {
	time, spool, state, app, typ, session, summary string
}

func lineOf(file control.EventFile) eventLine {
	l := eventLine{spool: file.Spool, state: file.State}
	e, err := amp.Parse(file.Envelope)
	if err != nil {
		l.time, l.app, l.typ, l.session = "-", "-", "-", "-"
		l.summary = "no event: " + visible(file.File)
		return l
	}
	l.time = control.ReceivedAt(e).Local().Format("2006-01-02 15:04:05.000")
	l.app, l.typ, l.session = visible(e.Header.Source.App), oneLine(e.Payload.Type), dash(oneLine(e.Payload.SessionID))
	l.summary = oneLine(e.Payload.Summary)
	if l.summary == "" {
		l.summary = oneLine(shortened(saidIn(e)))
	}
	return l
}

// saidIn returns what stands for the summary that an event does not have: what
// somebody said, else its data.
func saidIn(e *amp.Envelope) string {
	var m amp.Message
	if strings.HasPrefix(e.Payload.Type, "message.") && json.Unmarshal(e.Payload.Data, &m) == nil && m.Text != "" {
		return m.Text
	}
	return string(e.Payload.Data)
}

// receivedAt returns when an event was received; zero for a file that is none.
func receivedAt(file control.EventFile) time.Time {
	e, err := amp.Parse(file.Envelope)
	if err != nil {
		return time.Time{}
	}
	return control.ReceivedAt(e)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shortened returns no more of a text than a line shows.
func shortened(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// eventState colours a state of a file.
func (s style) eventState(state string) string {
	switch state {
	case "dead":
		return s.red(state)
	case "processing":
		return s.yellow(state)
	case "done":
		return s.dim(state)
	}
	return state
}

// whereIs says where the places of an event are, for a message.
func whereIs(places []control.EventPlace) string {
	var all []string
	for _, p := range places {
		all = append(all, fmt.Sprintf("%s/%s/%s", p.Spool, p.State, p.File))
	}
	return strings.Join(all, ", ")
}
