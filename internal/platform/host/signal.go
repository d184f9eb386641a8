package host

import (
	"encoding/json"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

// A SignalKind says what a Signal is about.
type SignalKind string

// The kinds of signals.
const (
	// SignalStarted: a session is ready.
	SignalStarted SignalKind = "started"
	// SignalStopping and SignalStopped: we end a session, we have ended it.
	SignalStopping SignalKind = "stopping"
	SignalStopped  SignalKind = "stopped"
	// SignalCrashed: a session ended that nobody asked to end, exit code 0 too.
	SignalCrashed SignalKind = "crashed"
	// SignalFault: a start failed, or the peer broke the protocol.
	SignalFault SignalKind = "fault"
	// SignalChanged: a list of an app really changed; Change says how.
	SignalChanged SignalKind = "changed"
	// SignalNotified: the server sent a notification. Progress makes no signal;
	// list_changed makes SignalChanged if anything changed.
	SignalNotified SignalKind = "notified"
	// SignalCalled: a tool call ended.
	SignalCalled SignalKind = "called"
	// SignalRead: a resource was read.
	SignalRead SignalKind = "read"
)

// A Signal is one thing that a session let us observe. It refers to raw bytes
// and is made only if somebody observes.
//
// Signals of one goroutine keep their order: all notifications of one session
// do, and so do all life cycle signals of one app. Epoch tells to which session
// of the app a signal belongs, so that a notification that was read before
// SignalStarted was sent can still be matched with it.
type Signal struct {
	Kind  SignalKind
	App   *config.App // nil only for a call whose app was not found
	Epoch uint64      // which session of the app, from 1; 0: none
	At    time.Time

	// Reason is a sentence, for life cycle signals and faults.
	Reason string
	// Exit is how the process ended, for SignalCrashed and SignalFault of a
	// local app whose process has ended.
	Exit *Exit
	// Stderr holds the last lines of the process, redacted, oldest first, for
	// SignalCrashed and SignalFault of a local app.
	Stderr []string
	// Protocol is the MCP version spoken and Server the serverInfo of the
	// initialize result, token for token (nil: none), for SignalStarted.
	Protocol string
	Server   json.RawMessage
	// Change says what differs, for SignalChanged.
	Change *Change

	// Method is the notification's method, for SignalChanged that of the
	// notification which says so; for SignalCalled and SignalRead the request's
	// method.
	Method string
	// Params are the raw params of a notification. They are valid only until
	// Observe returns.
	Params []byte

	// Call and Result are set for SignalCalled. Result is set for SignalRead,
	// too, with the URI as its Tool. They may be kept and must not be changed.
	Call   *call.Call
	Result *call.Result
	// Caller is who asked, for SignalCalled and SignalRead.
	Caller call.Caller
}
