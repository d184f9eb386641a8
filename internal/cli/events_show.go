package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

func (p *program) eventsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one event, and where it lies",
		Long: `Show the event with this message id or file name: the envelope, every place it
lies in, how often it was tried and why that failed.`,
		Example: `  aurora events show 018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11
  aurora events show event_message.received_1001-5f3c9a10.json --json`,
		Args:              arguments(1, 1, "the message id or the file name of an event"),
		ValidArgsFunction: p.completeEvent,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.showEvent(cmd.Context(), args[0])
		},
	}
}

func (p *program) showEvent(ctx context.Context, id string) error {
	c, err := p.loadConfig()
	if err != nil {
		return err
	}
	places, err := daemon.Events(c).Find(ctx, id)
	if err != nil {
		return err
	}
	if p.out.json {
		return p.out.document(places)
	}
	var b strings.Builder
	shown := ""
	for i, place := range places {
		if i > 0 {
			b.WriteString("\n")
		}
		p.eventPlace(&b, place)
		// The same event in another spool has the same content.
		if text := p.eventText(place); text != shown {
			b.WriteString(text)
			shown = text
		}
	}
	p.out.print(b.String())
	return nil
}

func (p *program) eventPlace(b *strings.Builder, place control.EventPlace) {
	s := p.out.style()
	fmt.Fprintf(b, "%s %s %s\n", s.bold(visible(place.Spool)), s.eventState(place.State), visible(place.Path))
	if place.Attempts > 0 {
		fmt.Fprintf(b, "  attempts: %d\n", place.Attempts)
	}
	if place.Reason != "" {
		fmt.Fprintf(b, "  reason:   %s\n", oneLine(place.Reason))
	}
	if place.Noted != nil {
		fmt.Fprintf(b, "  noted:    %s\n", place.Noted.Local().Format("2006-01-02 15:04:05"))
	}
}

// eventText is the event itself for people.
func (p *program) eventText(place control.EventPlace) string {
	s := p.out.style()
	e, err := amp.Parse(place.Envelope)
	if err != nil {
		return s.dim("  (the file is no event)") + "\n"
	}
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s%s\n", name+":", oneLine(value))
		}
	}
	row("type", e.Payload.Type)
	row("from", strings.TrimSpace(e.Header.Source.App+" "+e.Header.Source.Instance))
	row("id", e.Header.MessageID)
	row("session", e.Payload.SessionID)
	if a := e.Header.Aurora; a != nil {
		row("sender", a.Sender)
		row("trace", a.TraceID)
		row("received", a.ReceivedAt.Local().Format("2006-01-02 15:04:05.000"))
	}
	row("happened", e.Header.Timestamp.Format("2006-01-02T15:04:05.000Z07:00"))
	if !e.Payload.ExpireAt.IsZero() {
		row("expires", e.Payload.ExpireAt.Format("2006-01-02T15:04:05Z07:00"))
	}
	row("summary", e.Payload.Summary)
	if len(e.Payload.Data) > 0 {
		b.WriteString(p.jsonText(e.Payload.Data))
	}
	return b.String()
}

func (p *program) jsonText(raw json.RawMessage) string {
	text := string(indent(raw)) + "\n"
	if p.out.terminal {
		return visible(text)
	}
	return text
}
