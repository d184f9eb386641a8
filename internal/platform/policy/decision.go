package policy

import (
	"context"
	"fmt"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

// A Request is one call that waits to be judged.
type Request struct {
	Caller call.Caller
	Tool   string // canonical name
	App    *config.App
	Risk   Risk
	// Enabled is false for a tool that is switched off in the configuration.
	Enabled bool
	// Held is true for a tool that waits for somebody to accept it.
	Held bool
	// Args is the raw JSON object of arguments. It must not be changed, and
	// not be kept after Decide returns.
	Args []byte
}

// A Decision is the answer to a Request. The zero Decision refuses.
type Decision struct {
	Allowed bool
	// Outcome and Err say how a refused call ends. Where they are empty it
	// ends as [call.Denied] with POLICY_DENIED.
	Outcome call.Outcome
	Err     *call.Error
}

// Plain is the policy that allows every known caller every tool that is not
// switched off. Its zero value is ready.
type Plain struct{}

// Risk returns [RiskOf].
func (Plain) Risk(app *config.App, canonical string, h Hints) Risk {
	return RiskOf(app, canonical, h)
}

// Decide refuses nobody's calls and calls of tools that are switched off, and
// allows all others.
func (Plain) Decide(_ context.Context, r Request) Decision {
	switch r.Caller.Kind {
	case call.Brain, call.Gateway, call.CLI, call.Console:
	default:
		return refuse("The call names no caller, so it was refused.")
	}
	if r.Held {
		return refuse(fmt.Sprintf("The tool %s is held until somebody accepts it. Run: aurora apps accept %s", r.Tool, r.App.Key))
	}
	if !r.Enabled {
		return refuse(fmt.Sprintf("The tool %s is switched off. To allow it, run: aurora tools enable %s", r.Tool, r.Tool))
	}
	return Decision{Allowed: true}
}

func refuse(why string) Decision {
	return Decision{Outcome: call.Denied, Err: &call.Error{Code: call.PolicyDenied, Message: why}}
}
