package events

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/amp"
)

// plain is a server that knows nothing of Aurora.
const plain = `
tool works {"annotations": {"readOnlyHint": true}}
tool fails
tool grows
tool ticks
tool dies
resource plain://note {"name": "note"}
on tools/call fails
  reply fail no such city
on tools/call grows
  add tool extra
  notify notifications/tools/list_changed
  reply text grown
on tools/call ticks
  notify notifications/acme/tick {"n": 12345678901234567890, "big": 1e400}
  reply text ticked
on tools/call dies
  stderr out of cheese
  exit 0
`

// The first must-show: everything a plain server does becomes the right event,
// and each fits the schema.
func TestAPlainServerMakesTheEventsOfTheManual(t *testing.T) {
	h := newHouse(t, `apps:
  plain:
    package: org.example.plain
    mcp:
      command: ["BIN/peer", "HOME/plain.mcp"]
      restart: {enabled: false}
`, `amp:
  spools:
    inbox: {include: ["*"], exclude: []}
`)
	h.Put("plain.mcp", plain)
	r := h.Up().Settled()
	h.await("connect", has("lifecycle.started"))
	h.Run(0, "call", "works")
	h.Run(3, "call", "fails")
	h.Run(0, "call", "grows")
	h.await("the change of the list", has("capability.changed"))
	h.Run(0, "call", "ticks")
	h.Run(0, "read", "plain://note")
	h.Run(10, "call", "dies")
	h.await("the crash", has("lifecycle.crashed", "resource.observed"))
	r.Stop()

	type want struct {
		method amp.Method
		typ    string
		data   []string // parts of the data
	}
	wants := []want{
		{amp.MethodLifecycle, "lifecycle.started", []string{`"state":"ready"`, `"protocol_version":"2025-11-25"`, `"server":{`}},
		{amp.MethodToolResult, "tool.completed", []string{`"tool":"org.example.plain.works"`, `"outcome":"ok"`, `"caller":"cli"`, `"result":{`}},
		{amp.MethodToolResult, "tool.failed", []string{`"tool":"org.example.plain.fails"`, `"outcome":"tool_error"`, `"message":"no such city"`}},
		{amp.MethodToolResult, "tool.completed", []string{`"tool":"org.example.plain.grows"`}},
		{amp.MethodNotification, "capability.changed", []string{`"kind":"tools"`, `"added":["org.example.plain.extra"]`}},
		{amp.MethodNotification, "mcp.notification.acme.tick", []string{`"method":"notifications/acme/tick"`, `12345678901234567890`, `1e400`}},
		{amp.MethodToolResult, "tool.completed", []string{`"tool":"org.example.plain.ticks"`}},
		{amp.MethodResource, "resource.observed", []string{`"uri":"plain://note"`, `"contents"`}},
		{amp.MethodToolResult, "tool.failed", []string{`"tool":"org.example.plain.dies"`, `"outcome":"unknown"`, `"error_code":"OUTCOME_UNKNOWN"`}},
		{amp.MethodLifecycle, "lifecycle.crashed", []string{`"exit":{"code":0}`, `"stderr":["out of cheese"]`}},
	}
	events := h.inbox()
	for _, e := range events {
		if e.Header.Source != (amp.Source{App: "org.example.plain", Instance: "plain"}) || e.Header.Aurora.TraceID == "" {
			t.Errorf("header %+v %+v", e.Header, e.Header.Aurora)
		}
	}
	// A change of a list and a crash are noticed by other goroutines than the
	// call that caused them, so those may change places.
	for _, w := range wants {
		found := false
		for i, e := range events {
			if found = e.Header.Method == w.method && e.Payload.Type == w.typ && holds(e.Payload.Data, w.data); found {
				events = append(events[:i:i], events[i+1:]...)
				break
			}
		}
		if !found {
			t.Errorf("there is no %s %s with %q", w.method, w.typ, w.data)
		}
	}
	if len(events) > 0 {
		t.Errorf("besides there are:\n%s", list(events))
	}
	// The order is that in which things happened.
	order := h.inbox()
	if order[0].Payload.Type != "lifecycle.started" || order[1].Payload.Type != "tool.completed" || order[2].Payload.Type != "tool.failed" {
		t.Errorf("order:\n%s", list(order))
	}
}

func holds(data json.RawMessage, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(string(data), p) {
			return false
		}
	}
	return true
}
