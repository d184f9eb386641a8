package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// How large things may be in an event, in bytes: a result, the params of a plain
// notification, and all that an app sends as an event of its own.
const (
	maxResult   = 256 << 10
	maxParams   = amp.MaxData
	maxEmission = amp.MaxData + 64<<10
)

const methodMessage = "notifications/message"

// eventMethod tells the methods with which an app sends an event of its own.
func eventMethod(method string) bool {
	return method == "aurora/event" || method == "notifications/aurora/event"
}

// An event is an envelope on its way.
type event struct {
	envelope *amp.Envelope
	app      *config.App
	epoch    uint64
	caller   call.CallerKind // for tool.* events
	named    bool            // the app gave the id: deduplicate, acknowledge
	hidden   bool            // for followers only
	name     string          // of its file
	data     []byte          // its file, once somebody wanted it

	in        []string // the outlets it lies in
	refusedBy []string // the outlets that want it and did not take it
}

// file returns the content of the event's file.
func (e *event) file() ([]byte, error) {
	if e.data == nil {
		data, err := e.envelope.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write event: %w", err)
		}
		e.data = append(data, '\n')
	}
	return e.data, nil
}

// mayMatter tells, cheaply, signals that can become an event.
func (b *Bridge) mayMatter(s *host.Signal) bool {
	switch s.Kind {
	case host.SignalNotified:
		switch {
		case s.Method == "notifications/progress", s.Method == "notifications/cancelled":
			return false
		case s.Method == methodMessage:
			m := readMessage(s.Params)
			return m.event() || m.grave() || b.followed()
		case !eventMethod(s.Method):
			return b.interest(amp.NotificationType(s.Method), "")
		}
	case host.SignalRead:
		return s.Result != nil && s.Result.Outcome == call.OK && b.interest(amp.TypeResourceObserved, "")
	case host.SignalCalled:
		return s.Result != nil && b.interest(toolType(s.Result), s.Caller.Kind)
	}
	return true
}

// convert makes the event of a signal; nil if there is none.
func (b *Bridge) convert(h *held) *event {
	switch h.Kind {
	case host.SignalStarted:
		return b.lifecycle(h, amp.TypeLifecycleStarted, "ready")
	case host.SignalStopping:
		return b.lifecycle(h, amp.TypeLifecycleStopping, "stopping")
	case host.SignalStopped:
		return b.lifecycle(h, amp.TypeLifecycleStopped, "stopped")
	case host.SignalCrashed:
		return b.lifecycle(h, amp.TypeLifecycleCrashed, "crashed")
	case host.SignalFault:
		return b.fault(h)
	case host.SignalChanged:
		return b.capabilityChange(h)
	case host.SignalCalled:
		return b.toolEnd(h)
	case host.SignalRead:
		return b.build(h, amp.MethodResource, amp.TypeResourceObserved,
			"Resource "+h.Result.Tool+" was read.",
			amp.Resource{URI: h.Result.Tool, Result: b.clean(h.Result.Raw), Omitted: h.omitted})
	case host.SignalNotified:
		return b.notification(h)
	}
	return nil
}

func (b *Bridge) lifecycle(h *held, typ, state string) *event {
	data := amp.Lifecycle{
		State: state, Reason: h.Reason, ProtocolVersion: h.Protocol, Server: b.clean(h.Server),
		Exit: exitOf(h.Exit), Stderr: h.Stderr,
	}
	summary := fmt.Sprintf("%s is %s.", h.App.Key, state)
	if state == "crashed" {
		summary = h.App.Key + " crashed."
	}
	return b.build(h, amp.MethodLifecycle, typ, summary, data)
}

func (b *Bridge) fault(h *held) *event {
	return b.build(h, amp.MethodError, amp.TypeError, h.App.Key+": "+h.Reason,
		amp.Fault{Code: string(call.ProtocolFault), Message: h.Reason, Exit: exitOf(h.Exit), Stderr: h.Stderr})
}

func exitOf(e *host.Exit) *amp.Exit {
	if e == nil {
		return nil
	}
	return &amp.Exit{Code: e.Code, Signal: e.Signal}
}

func (b *Bridge) capabilityChange(h *held) *event {
	var data amp.CapabilityChange
	var parts []string
	if c := h.Change; c != nil {
		data = amp.CapabilityChange{Kind: c.List, Added: c.Added, Removed: c.Removed, Changed: c.Changed, Omitted: c.Omitted}
		for _, p := range []struct {
			n    int
			what string
		}{{len(c.Added), "added"}, {len(c.Removed), "removed"}, {len(c.Changed), "changed"}, {c.Omitted, "more"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
			}
		}
	}
	summary := fmt.Sprintf("The %s of %s changed", data.Kind, h.App.Key)
	if len(parts) > 0 {
		summary += ": " + strings.Join(parts, ", ")
	}
	return b.build(h, amp.MethodNotification, amp.TypeCapabilityChanged, summary+".", data)
}

// lossEvent says how many signals of whom found no room in the queue.
func (b *Bridge) lossEvent(lost map[string]int64) *event {
	h := &held{Signal: host.Signal{At: now()}}
	var all int64
	for _, n := range lost {
		all += n
	}
	from := slices.SortedFunc(maps.Keys(lost), func(x, y string) int {
		return cmp.Or(cmp.Compare(lost[y], lost[x]), cmp.Compare(x, y))
	})
	message := fmt.Sprintf("%d signals were dropped, most of them from %s: they came faster than they could be written.", all, from[0])
	if all == 1 {
		message = fmt.Sprintf("1 signal of %s was dropped: it came faster than it could be written.", from[0])
	}
	b.log.Warn("signals were dropped: they came faster than they could be written", "count", all, "most_from", from[0])
	return b.build(h, amp.MethodError, amp.TypeError, message,
		amp.Fault{Code: "EVENTS_DROPPED", Message: message, Count: all, Apps: lost})
}

func toolType(r *call.Result) string {
	if r.Outcome == call.OK {
		return amp.TypeToolCompleted
	}
	return amp.TypeToolFailed
}

func (b *Bridge) toolEnd(h *held) *event {
	r := h.Result
	data := amp.ToolEnd{
		Tool: r.Tool, Caller: string(h.Caller.Kind), Outcome: string(r.Outcome),
		DurationMS: r.Duration.Milliseconds(), Result: b.clean(r.Raw), Omitted: h.omitted,
	}
	if h.Call != nil {
		data.CallID = h.Call.ID
	}
	summary := fmt.Sprintf("%s: %s", r.Tool, r.Outcome)
	if r.Err != nil {
		data.ErrorCode, data.Message, data.Retryable = string(r.Err.Code), r.Err.Message, r.Err.Retryable
		summary += ": " + r.Err.Message
	}
	return b.build(h, amp.MethodToolResult, toolType(r), summary, data)
}

// notification converts what a server sent by itself.
func (b *Bridge) notification(h *held) *event {
	switch {
	case eventMethod(h.Method):
		return b.emission(h, h.Params)
	case h.Method == methodMessage:
		m := readMessage(h.Params)
		if m.event() {
			return b.emission(h, m.Data)
		}
		if len(h.Params) > maxParams {
			h.omitted, h.Params = len(h.Params), nil
		}
		e := b.plainNotification(h)
		if e != nil && !m.grave() {
			e.hidden = true
		}
		return e
	}
	return b.plainNotification(h)
}

func (b *Bridge) plainNotification(h *held) *event {
	typ := amp.NotificationType(h.Method)
	return b.build(h, amp.MethodNotification, typ,
		fmt.Sprintf("%s sent %s.", h.App.Key, h.Method),
		amp.Notification{Method: h.Method, Params: b.clean(h.Params), Omitted: h.omitted})
}

// build makes an event of Aurora's own; nil if nobody wants one.
func (b *Bridge) build(h *held, method amp.Method, typ, summary string, data any) *event {
	if !b.interest(typ, h.Caller.Kind) {
		return nil
	}
	raw, err := encode(data)
	if err != nil {
		b.log.Error("a signal cannot be written as an event", "type", typ, "error", err)
		return nil
	}
	id := newID()
	e := &event{app: h.App, epoch: h.Epoch, caller: h.Caller.Kind, envelope: &amp.Envelope{
		Header: amp.Header{
			Method: method, MessageID: id, Timestamp: h.At,
			Source: amp.Source{App: origin(h.App), Instance: instance(h.App)},
			Aurora: b.extension(h, id),
		},
		Payload: amp.Payload{Type: typ, SessionID: h.Caller.Session, Summary: b.clip(summary), Data: b.mask(raw)},
	}}
	e.envelope.Header.Aurora.Sender = h.Caller.Sender
	e.name = e.envelope.FileName(true)
	return e
}

// extension is what Aurora adds to every header.
func (b *Bridge) extension(h *held, trace string) *amp.Aurora {
	at := h.At.Truncate(time.Microsecond)
	if h.At.IsZero() {
		at = now()
	}
	x := &amp.Aurora{Seq: b.nextSeq(now()), ReceivedAt: at, TraceID: trace, Trust: amp.TrustHigh}
	if h.App != nil {
		x.Trust = amp.Trust(h.App.Trust)
	}
	return x
}

func instance(app *config.App) string {
	if app == nil {
		return ""
	}
	return app.Key
}

// A logMessage is the part of notifications/message that decides its way.
type logMessage struct {
	Level  string          `json:"level"`
	Logger string          `json:"logger"`
	Data   json.RawMessage `json:"data"`
}

func readMessage(params []byte) logMessage {
	var m logMessage
	_ = json.Unmarshal(params, &m) // one that is none is not grave either
	return m
}

// event tells an app's own event in the clothes of a log message.
func (m logMessage) event() bool { return m.Logger == "aurora/event" }

// grave tells messages of a level that makes an event.
func (m logMessage) grave() bool {
	switch m.Level {
	case "error", "critical", "alert", "emergency":
		return true
	}
	return false
}
