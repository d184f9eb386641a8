package bridge

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/config"
)

// emission takes in an event that an app made itself. The app says what
// happened; who it is and what it may say is not for it to say.
func (b *Bridge) emission(h *held, raw []byte) *event {
	pkg := h.App.Package
	em, err := amp.ParseEmission(raw)
	switch {
	case err != nil:
	case len(em.Data) > amp.MaxData:
		err = fmt.Errorf("data has %d bytes, at most %d are allowed", len(em.Data), amp.MaxData)
	case len(raw) > maxEmission:
		err = fmt.Errorf("it has %d bytes, at most %d are allowed", len(raw), maxEmission)
	}
	if err != nil {
		b.count(pkg, func(c *Counts) { c.Refused++ })
		b.warnOnce(h.App, "refused", "an event was refused", "error", err)
		b.refuse(h, em)
		return nil
	}
	if claimed := em.Source.App; claimed != "" && claimed != pkg {
		b.count(pkg, func(c *Counts) { c.Forged++ })
		b.warnOnce(h.App, "forged", "an event named another app as its source; its own was set", "claimed", claimed)
	}
	at := now()
	if !em.ExpireAt.IsZero() && !at.Before(em.ExpireAt) {
		b.count(pkg, func(c *Counts) { c.Expired++ })
		b.refuse(h, em)
		return nil
	}
	named := em.MessageID != ""
	if named && !b.seen.expect(pkg, em.MessageID, at) {
		b.count(pkg, func(c *Counts) { c.Duplicates++ })
		if b.seen.confirmed(pkg, em.MessageID) {
			b.acks.add(h.App, h.Epoch, em.MessageID)
		}
		return nil
	}
	e := b.complete(h, em, at)
	if amp.Reserved(em.Type) || !amp.MatchAny(h.App.Events, em.Type) {
		b.count(pkg, func(c *Counts) { c.Undeclared++ })
		b.warnOnce(h.App, "undeclared "+em.Type, "an event has a type that the app may not emit; it became mcp.notification.aurora.event",
			"type", em.Type, "allowed", h.App.Events)
		b.demote(e, raw)
	}
	e.named = named
	e.name = e.envelope.FileName(!named)
	return e
}

// complete makes the envelope of what an app sent.
func (b *Bridge) complete(h *held, em *amp.Emission, at time.Time) *event {
	id := em.MessageID
	if id == "" {
		id = newID()
	}
	header := amp.Header{
		Method: amp.MethodEvent, MessageID: id, Timestamp: em.Timestamp,
		Source: amp.Source{App: h.App.Package, Instance: b.opt.Redact.String(em.Source.Instance)},
		Aurora: b.extension(h, newID()),
	}
	if header.Timestamp.IsZero() {
		header.Timestamp = header.Aurora.ReceivedAt
	}
	if header.Source.Instance == "" {
		header.Source.Instance = h.App.Key
	}
	header.Aurora.Sender = sender(h.App, em.Data)
	payload := em.Payload
	payload.Summary = b.clip(payload.Summary)
	payload.SessionID = b.opt.Redact.String(payload.SessionID)
	if len(payload.Data) > 0 {
		payload.Data = b.mask(b.clean(payload.Data))
	}
	for name, v := range payload.Extra {
		payload.Extra[name] = b.mask(b.clean(v))
	}
	return &event{app: h.App, epoch: h.Epoch, envelope: &amp.Envelope{Header: header, Payload: payload}}
}

// demote turns an event of a type its app may not emit into the notification it
// also is.
func (b *Bridge) demote(e *event, raw []byte) {
	e.envelope.Header.Method = amp.MethodNotification
	e.envelope.Header.Aurora.Sender = ""
	data, err := encode(amp.Notification{Method: "aurora/event", Params: b.clean(raw)})
	if err != nil { // raw was parsed: it is JSON
		b.log.Error("a notification cannot be written as an event", "error", err)
		data = nil
	}
	e.envelope.Payload = amp.Payload{
		Type:     amp.NotificationType("aurora/event"),
		Summary:  b.clip(fmt.Sprintf("%s sent an event of type %s, which it may not.", e.app.Key, e.envelope.Payload.Type)),
		Data:     b.mask(data),
		ExpireAt: e.envelope.Payload.ExpireAt,
	}
}

// refuse acknowledges an event that will never be accepted, so that an app that
// keeps its events until then lets go of it.
func (b *Bridge) refuse(h *held, em *amp.Emission) {
	if em != nil && em.MessageID != "" && len(em.MessageID) <= 4*amp.MaxMessageID {
		b.acks.add(h.App, h.Epoch, em.MessageID)
	}
}

// sender names the person behind an event, if the app may speak for people.
func sender(app *config.App, data []byte) string {
	if !app.People || len(data) == 0 {
		return ""
	}
	var m amp.Message
	if json.Unmarshal(data, &m) != nil || m.UserID == "" {
		return ""
	}
	return app.Package + ":" + m.UserID
}
