package host

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/short"
)

// The reasons that a status gives are full sentences that begin with "It", the
// app, where they can. They are kept together here so that they read alike.

const closedReason = "Aurora is stopping."

const leftReason = "It is no longer in apps/config.yml."

func keptReason(fault string) string {
	return "Its new configuration is faulty, so it runs on under the old one. " + fault
}

func disabledReason(key, by string) string {
	return fmt.Sprintf("It is switched off by %q in apps/config.yml. To start it, run: aurora apps enable %s", by, key)
}

func stoppedReason(key string) string {
	return fmt.Sprintf("It was stopped. To start it, run: aurora apps start %s", key)
}

func readyReason(server, version string) string {
	if server == "" {
		return fmt.Sprintf("It answers over MCP %s.", version)
	}
	return fmt.Sprintf("It is %s and answers over MCP %s.", server, version)
}

func missedReason(n int) string {
	if n == 1 {
		return fmt.Sprintf("It did not answer the last ping; after %d in a row it is restarted.", pingMisses)
	}
	return fmt.Sprintf("It did not answer the last %d pings; after %d in a row it is restarted.", n, pingMisses)
}

func clashReason(n int) string {
	if n == 1 {
		return "It answers, but an offer of it is withheld because of its name; see the warnings."
	}
	return fmt.Sprintf("It answers, but %d offers of it are withheld because of their names; see the warnings.", n)
}

func (a *app) startingReason() string {
	what := "It is being started."
	if l := a.now.link; l != nil {
		what = "It was started and has not answered initialize yet."
		if l.Process == nil {
			what = "It has not answered initialize yet."
		}
	}
	if a.now.failures > 0 {
		what += fmt.Sprintf(" This is start %d in a row.", a.now.failures+1)
	}
	return what
}

func nextStart(delay time.Duration, failures, max int, remote bool) string {
	when := fmt.Sprintf(" It is tried again in %s", roughly(delay))
	if remote {
		return when + "."
	}
	return fmt.Sprintf("%s (restart %d of %d).", when, failures, max)
}

// roughly rounds a wait for people.
func roughly(d time.Duration) time.Duration {
	if d >= 2*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Millisecond)
}

func gaveUp(failures int) string {
	if failures == 1 {
		return " It is given up."
	}
	return fmt.Sprintf(" It is given up after %d starts.", failures)
}

func restartHint(key string) string {
	return " When it is mended, run: aurora apps restart " + key
}

func silentHint(c *config.App) string {
	if c.MCP.Transport != config.Stdio {
		return " Check its url in apps/config.yml, or give it more time with health_timeout_seconds."
	}
	return " Check that its command is an MCP server that speaks on stdin and stdout, or give it more time with health_timeout_seconds."
}

func versionReason(e *mcp.VersionError) string {
	return sentence(e.Error()) + " It is not tried again before its configuration changes or somebody restarts it."
}

// serverName is what a server calls itself, short enough for a status.
func serverName(i mcp.Implementation) string {
	return clip(strings.TrimSpace(i.Name + " " + i.Version))
}

// phrase says how a process ended: "exited with code 2".
func (e *Exit) phrase() string {
	if e.Signal != "" {
		return "was killed by " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

func exitOf(e proc.Exit) *Exit { return &Exit{Code: e.Code, Signal: e.Signal} }

// quoted puts a clipped text in quotes and ends the sentence.
func quoted(s string) string { return "“" + clip(s) + "”." }

// clip returns at most about 200 bytes of a text that came from outside,
// without control characters.
func clip(s string) string { return clipTo(s, 200) }

func clipTo(s string, max int) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, short.Bytes(s, max))
}

// sentence makes an error text the beginning of a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	s = strings.ToUpper(string(r)) + s[n:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// orElse returns v unless it is the zero value of its type.
func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// closedBy reports whether an error says that the peer ended.
func closedBy(err error) bool {
	var e *mcp.CallError
	return errors.As(err, &e) && e.Kind == mcp.Closed
}

func (h *Host) appUnknown(name string) *call.Error {
	apps := h.apps()
	keys := make([]string, len(apps))
	for i, a := range apps {
		keys[i] = a.key
	}
	return &call.Error{
		Code:    call.AppUnknown,
		Message: fmt.Sprintf("There is no app %q. The apps are: %s.", clip(name), strings.Join(keys, ", ")),
	}
}

func notStartable(why string) *call.Error {
	return &call.Error{Code: call.ConfigInvalid, Message: "The app cannot be started. " + why}
}

func shuttingDown() *call.Error {
	return &call.Error{Code: call.ShuttingDown, Message: "Aurora is stopping and takes no new calls.", Retryable: true}
}
