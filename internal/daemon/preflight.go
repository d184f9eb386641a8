package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/names"
)

// A PreflightError says that nothing was started because the configuration is
// wrong. It unwraps to a [*call.Error] CONFIG_INVALID with the problems as data.
type PreflightError struct {
	// Problems are all that are in the way, never empty.
	Problems []config.Problem
	// Relaxed is true if others could run with KeepGoing.
	Relaxed bool
}

// Error says how many problems there are.
func (e *PreflightError) Error() string {
	if len(e.Problems) == 1 {
		return "1 problem in the configuration; nothing was started"
	}
	return fmt.Sprintf("%d problems in the configuration; nothing was started", len(e.Problems))
}

// Unwrap returns the error in the vocabulary of calls.
func (e *PreflightError) Unwrap() error {
	data, err := control.Marshal(map[string]any{"problems": e.Problems})
	if err != nil {
		data = nil // a Problem is plain text and numbers: it always encodes
	}
	return &call.Error{Code: call.ConfigInvalid, Message: e.Error(), Data: data}
}

// preflight returns why apps must not be started, by key. The error is a
// *PreflightError if nothing at all may be started: problems that belong to no
// app always forbid that, problems of the apps that are needed unless the
// caller keeps going.
func preflight(c *config.Config, apps []*config.App, keepGoing bool) (map[string]string, error) {
	var ofAll, ofApps []config.Problem
	faults := make(map[string]string)
	for _, p := range c.Errors() {
		switch {
		case p.App == "":
			ofAll = append(ofAll, p)
		case slices.ContainsFunc(apps, func(a *config.App) bool { return a.Key == p.App }):
			ofApps = append(ofApps, p)
			faults[p.App] = strings.TrimPrefix(faults[p.App]+" "+sentence(p), " ")
		}
	}
	if len(ofAll) == 0 && (keepGoing || len(ofApps) == 0) {
		return faults, nil
	}
	all := slices.DeleteFunc(c.Errors(), func(p config.Problem) bool { return p.App != "" && faults[p.App] == "" })
	return nil, &PreflightError{Problems: all, Relaxed: len(ofAll) == 0 && len(faults) < len(apps)}
}

// sentence says a problem where its app is known already.
func sentence(p config.Problem) string {
	p.App = ""
	return strings.TrimSuffix(p.String(), ".") + "."
}

// needed returns the apps that the names can belong to: keys and packages name
// apps, canonical names and plain aliases begin with a package. All apps are
// needed if there is no name, or one that could belong to any.
func needed(apps []*config.App, wanted []string) []*config.App {
	if len(wanted) == 0 {
		return apps
	}
	need := make(map[*config.App]bool)
	for _, name := range wanted {
		found := false
		forms := []string{name}
		if canonical, ok := names.Unalias(name); ok {
			forms = append(forms, canonical)
		}
		for _, a := range apps {
			for _, form := range forms {
				if form == a.Key || form == a.Package || strings.HasPrefix(form, a.Package+".") {
					need[a], found = true, true
				}
			}
		}
		if !found {
			return apps
		}
	}
	return slices.DeleteFunc(slices.Clone(apps), func(a *config.App) bool { return !need[a] })
}
