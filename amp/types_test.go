package amp

import "testing"

func TestReservedFamilies(t *testing.T) {
	for typ, want := range map[string]bool{
		"tool.completed": true, "lifecycle.started": true, "capability.changed": true,
		"resource.observed": true, "mcp.error": true, "mcp.notification.x": true, "tool": true,
		"message.received": false, "toolbox.opened": false, "weather.reported": false, "": false,
	} {
		if got := Reserved(typ); got != want {
			t.Errorf("Reserved(%q) = %v", typ, got)
		}
	}
}

func TestNotificationTypes(t *testing.T) {
	for method, want := range map[string]string{
		"notifications/acme/tick": "mcp.notification.acme.tick",
		"notifications/message":   "mcp.notification.message",
		"aurora/event":            "mcp.notification.aurora.event",
		"acme/event":              "mcp.notification.acme.event",
	} {
		if got := NotificationType(method); got != want {
			t.Errorf("NotificationType(%q) = %q, want %q", method, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, typ string
		want         bool
	}{
		{"*", "anything", true},
		{"message.*", "message.received", true},
		{"message.*", "message", false},
		{"message.*", "messages.received", false},
		{"message.received", "message.received", true},
		{"message.received", "message.Received", false},
		{"mess*", "message.received", false},
		{"", "", true},
	}
	for _, tt := range tests {
		if got := Match(tt.pattern, tt.typ); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.typ, got)
		}
	}
}
