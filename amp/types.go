package amp

import "strings"

// A Method is the kind of signal an event was made from.
type Method string

// The methods of amp/1.0.
const (
	MethodLifecycle    Method = "mcp.lifecycle"
	MethodNotification Method = "mcp.notification"
	MethodToolResult   Method = "mcp.tool_result"
	MethodResource     Method = "mcp.resource"
	MethodError        Method = "mcp.error"
	MethodEvent        Method = "aurora/event"
)

// Methods lists every method of amp/1.0.
func Methods() []Method {
	return []Method{MethodLifecycle, MethodNotification, MethodToolResult, MethodResource, MethodError, MethodEvent}
}

// The event types that Aurora knows by name. Apps may have others.
const (
	TypeMessageReceived   = "message.received"
	TypeMessageReaction   = "message.reaction"
	TypeSessionCreated    = "session.created"
	TypeSessionClosed     = "session.closed"
	TypeAlarmTriggered    = "alarm.triggered"
	TypeTimerTriggered    = "timer.triggered"
	TypeDiaryWritten      = "diary.written"
	TypeDiaryQueried      = "diary.queried"
	TypeLifecycleStarted  = "lifecycle.started"
	TypeLifecycleStopping = "lifecycle.stopping"
	TypeLifecycleStopped  = "lifecycle.stopped"
	TypeLifecycleCrashed  = "lifecycle.crashed"
	TypeCapabilityChanged = "capability.changed"
	TypeToolCompleted     = "tool.completed"
	TypeToolFailed        = "tool.failed"
	TypeResourceObserved  = "resource.observed"
	TypeError             = "mcp.error"

	// TypeNotificationPrefix begins the type of a notification that has no type
	// of its own: notifications/a/b becomes mcp.notification.a.b.
	TypeNotificationPrefix = "mcp.notification."
)

// reserved are the families only Aurora itself may emit.
var reserved = [...]string{"tool.", "lifecycle.", "capability.", "resource.", "mcp."}

// Reserved reports whether only Aurora itself may emit events of this type.
func Reserved(typ string) bool {
	for _, prefix := range reserved {
		if strings.HasPrefix(typ, prefix) || typ == strings.TrimSuffix(prefix, ".") {
			return true
		}
	}
	return false
}

// NotificationType returns the event type for an MCP notification that has no
// type of its own: the method without "notifications/", slashes as dots, behind
// "mcp.notification.".
func NotificationType(method string) string {
	method = strings.TrimPrefix(method, "notifications/")
	return TypeNotificationPrefix + strings.ReplaceAll(method, "/", ".")
}

// Match reports whether an event type is one that a pattern means. A pattern is
// a type, a family ("message.*"), or "*" for every type.
func Match(pattern, typ string) bool {
	if pattern == "*" {
		return true
	}
	if family, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasSuffix(family, ".") {
		return strings.HasPrefix(typ, family)
	}
	return pattern == typ
}

// MatchAny reports whether one of patterns matches typ.
func MatchAny(patterns []string, typ string) bool {
	for _, p := range patterns {
		if Match(p, typ) {
			return true
		}
	}
	return false
}
