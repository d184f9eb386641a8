package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/brain/trace"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) traceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace ID|last",
		Short: "Show the way of one event: files, nodes, calls, answer",
		Long: `Show the way of one event through the brain: its file in the inbox, the unit it
became part of, its passage in the stream, and the requests, calls and reply of
the turn that it caused, with times and sizes.

ID is that of a trace, an event, a turn or a call; last is the latest turn. It
reads files only and needs no daemon.`,
		Example: `  aurora trace last
  aurora trace 01a22ae3-3a5c-7aec-9729-948e6878147c
  aurora trace last --json`,
		Args:      arguments(1, 1, "an id, or last"),
		ValidArgs: []string{trace.Last + "\tthe latest turn"},
		RunE: func(_ *cobra.Command, args []string) error {
			return p.trace(args[0])
		},
	}
}

func (p *program) trace(id string) error {
	c, err := p.loadConfig()
	if err != nil {
		return err
	}
	t, err := trace.Find(c.Home.Data(), id, c.Settings.User.Zone())
	if errors.Is(err, trace.ErrNotFound) {
		if id == trace.Last {
			return control.Errorf(call.TraceUnknown, "nothing has happened in this home yet")
		}
		return control.Errorf(call.TraceUnknown, "no event, turn or call of this home has the id %q", id)
	}
	if err != nil {
		return err
	}
	p.out.print(p.traceText(t))
	return p.out.document(t)
}

// traceText is a trace for people: a head, and a line for each step with a line
// for its file.
func (p *program) traceText(t *trace.Trace) string {
	s := p.out.style()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", s.bold("trace"), visible(t.ID))
	head := visible(t.Source)
	if t.Session != "" {
		head += ", session " + visible(t.Session)
	}
	if t.Sender != "" {
		head += ", from " + visible(t.Sender)
	}
	fmt.Fprintf(&b, "%s → %s\n\n", head, s.outcome(t.Outcome))
	var began time.Time
	for _, step := range t.Steps {
		if began.IsZero() {
			began = step.At
		}
		b.WriteString(p.traceStep(step, began))
	}
	return b.String()
}

func (p *program) traceStep(step trace.Step, began time.Time) string {
	s := p.out.style()
	at := strings.Repeat(" ", 12)
	if !step.At.IsZero() {
		at = step.At.Local().Format("15:04:05.000")
	}
	since := ""
	if !step.At.IsZero() && !began.IsZero() {
		since = "+" + sinceText(max(0, step.At.Sub(began)))
	}
	what := visible(step.What)
	if step.Name != "" && !strings.Contains(what, step.Name) {
		what = visible(step.Name) + "  " + what
	}
	if step.Outcome == step.What {
		what = s.outcome(step.Outcome)
	} else if step.Outcome != "" {
		what += "  " + s.outcome(step.Outcome)
	}
	line := fmt.Sprintf("%s %s %s %s %s\n", s.dim(at), s.dim(pad(since, 9)), pad(string(step.Kind), 8), s.dim(pad(step.Node, 13)), strings.TrimSpace(what))
	var about []string
	if step.State != "" {
		about = append(about, step.State)
	}
	if step.Size > 0 {
		about = append(about, fmt.Sprintf("%d bytes", step.Size))
	}
	if step.MS > 0 {
		about = append(about, fmt.Sprintf("%d ms", step.MS))
	}
	file := visible(step.File)
	if step.Line > 0 {
		file = fmt.Sprintf("%s:%d", file, step.Line)
	}
	if file == "" && len(about) == 0 {
		return line
	}
	return line + s.dim(strings.TrimRight(fmt.Sprintf("%s%s  %s", strings.Repeat(" ", 46), file, strings.Join(about, ", ")), " ")) + "\n"
}

// sinceText is a length of time as short as it is still useful.
func sinceText(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// pad fills a text with blanks up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-textWidth(text)))
}

// outcome colours how something ended.
func (s style) outcome(o string) string {
	switch o {
	case "ok", "answered", "silent":
		return s.green(o)
	case "open", "waiting", "no turn", "stopped", "cancelled":
		return s.yellow(o)
	}
	return s.red(o)
}
