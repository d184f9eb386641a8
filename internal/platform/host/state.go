package host

import "time"

// A State says how an app is.
type State string

// The states of an app (DESIGN 5). Exactly one holds at any moment.
const (
	// Disabled: the configuration says that it does not run.
	Disabled State = "disabled"
	// Starting: a start is under way: a process is being made, the handshake
	// or the first lists are awaited. True of every start, not only the first.
	Starting State = "starting"
	// Ready: it answers.
	Ready State = "ready"
	// Degraded: it answers, but a list is stale, pings were missed, or tools
	// of it are withheld.
	Degraded State = "degraded"
	// Restarting: it went away or failed to start, and waits for its next
	// start. A call brings that start forward.
	Restarting State = "restarting"
	// AuthRequired: the server wants somebody to sign in.
	AuthRequired State = "auth_required"
	// Unavailable: it is given up. Only RestartApp, StartApp or a new
	// configuration start it again.
	Unavailable State = "unavailable"
	// Stopped: somebody stopped it, or the host has not started it yet.
	Stopped State = "stopped"
)

// live reports whether an app in state s has a session that takes calls.
func (s State) live() bool { return s == Ready || s == Degraded }

// How long things may take. They are part of the design, not settings.
const (
	slotTime      = time.Second            // a start gives its slot back after this
	drainTime     = time.Second            // the last output of a dead process is awaited
	exitTime      = 2 * time.Second        // the exit of a process that closed its output is awaited
	pingEvery     = 30 * time.Second       // between pings of an idle app
	pingTimeout   = 10 * time.Second       // one ping
	pingMisses    = 3                      // that many in a row restart the app
	healthyAfter  = time.Minute            // a run this long clears the count of failures
	backoffCap    = 5 * time.Minute        // no wait is longer
	debounce      = 150 * time.Millisecond // after the last list_changed
	debounceCap   = 2 * time.Second        // after the first list_changed
	refreshGap    = 500 * time.Millisecond // between refreshes that found a change
	refreshGapCap = 30 * time.Second       // between refreshes that found none
	listTimeout   = 30 * time.Second       // one refresh, all pages of all lists
	retryStale    = 5 * time.Second        // first retry of a failed refresh
	freshTimeout  = 2 * time.Second        // a call waits for a pending refresh
	drainCalls    = 5 * time.Second        // Close waits for calls in flight
)
