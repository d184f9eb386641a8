package host

import (
	"time"

	"github.com/aurorabot/aurora/internal/config"
)

// A Status is what is known of one app at one moment. The JSON form is that of
// `aurora apps --json` and of data/platform/health.json.
type Status struct {
	Key       string           `json:"key"`
	Package   string           `json:"package"`
	State     State            `json:"state"`
	Reason    string           `json:"reason"` // a full sentence: what happened and what to do
	Transport config.Transport `json:"transport"`
	// ProtocolVersion and Era are those of the current or last session.
	ProtocolVersion string `json:"protocol_version"`
	Era             string `json:"era"`
	PID             int    `json:"pid"`      // 0: no process, as with a remote app
	Restarts        int    `json:"restarts"` // starts after the first, since the host began
	Exit            *Exit  `json:"exit"`     // of the last process that ended
	Tools           int    `json:"tools"`    // offered in the catalog
	NoiseLines      int64  `json:"noise_lines"`
	// Since is when the app came into this state.
	Since      time.Time `json:"since"`
	LastStderr []string  `json:"last_stderr"` // redacted, oldest first
	Warnings   []string  `json:"warnings"`
	// Server is the name and version that the server gave itself.
	Server string `json:"server,omitempty"`
	// Attempts is how many starts in a row have failed or were not healthy for
	// long; it is back at 0 after a minute of health.
	Attempts int `json:"attempts,omitempty"`
}

// An Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal"` // empty: it exited by itself
}

// stderrLines is how many last lines of stderr a Status shows.
const stderrLines = 10

// Status returns the status of all apps in the order of the configuration.
// It never waits for an app.
func (h *Host) Status() []Status {
	cat, apps := h.catalog.Load(), h.apps()
	all := make([]Status, len(apps))
	for i, a := range apps {
		all[i] = a.status(cat)
	}
	return all
}

// AppStatus returns the status of the app with a key or package.
func (h *Host) AppStatus(name string) (Status, bool) {
	a := h.app(name)
	if a == nil {
		return Status{}, false
	}
	return a.status(h.catalog.Load()), true
}

func (a *app) status(cat *Catalog) Status {
	s, conf := a.snap.Load(), a.config()
	st := Status{
		Key:             a.key,
		Package:         conf.Package,
		State:           s.state,
		Reason:          s.reason,
		Transport:       conf.MCP.Transport,
		ProtocolVersion: s.version,
		Era:             s.era,
		Restarts:        s.restarts,
		Exit:            s.exit,
		NoiseLines:      s.noise,
		Since:           s.since,
		LastStderr:      s.stderr,
		Server:          s.server,
		Attempts:        s.failures,
		Tools:           cat.offered[a.key],
	}
	if l := s.link; l != nil {
		st.NoiseLines += l.noise()
		if l.Process != nil {
			st.PID = l.Process.PID()
			st.LastStderr = l.Process.StderrTail(stderrLines)
		}
	}
	if clashes := cat.clashes[a.key]; len(clashes) > 0 {
		if st.State == Ready {
			st.State = Degraded
			st.Reason = clashReason(len(clashes))
		}
		st.Warnings = append(st.Warnings, clashes...)
	}
	st.Warnings = append(st.Warnings, cat.warnings[a.key]...)
	st.Warnings = append(st.Warnings, s.warnings...)
	if s.kept != "" {
		st.Warnings = append(st.Warnings, s.kept)
	}
	if st.LastStderr == nil {
		st.LastStderr = []string{}
	}
	if st.Warnings == nil {
		st.Warnings = []string{}
	}
	return st
}
