package brain

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aurorabot/aurora/internal/call"
)

// A House is the platform as the mind sees it. Its methods may be called from
// any number of goroutines. Lists answer at once, in an order that is the same
// as long as nothing changes.
type House interface {
	// Tools lists all tools, also those that are switched off or whose app is
	// not up.
	Tools(ctx context.Context) []Tool
	// Call calls a tool and waits for its end. Cancelling ctx cancels the call
	// upstream. The result always has an outcome.
	Call(ctx context.Context, c call.Call) call.Result
	// Prompts lists all prompts.
	Prompts(ctx context.Context) []Prompt
	// Prompt renders a prompt. args is an object of strings, nil for none. A
	// good result holds the server's own answer to prompts/get.
	Prompt(ctx context.Context, caller call.Caller, name string, args json.RawMessage) call.Result
	// Apps lists all apps.
	Apps(ctx context.Context) []App
}

// A Tool is one tool of the house.
type Tool struct {
	Canonical   string // its one name
	Alias       string // the form of it that models use
	Title       string
	Description string
	// Schema is the server's own input schema.
	Schema json.RawMessage
	// App is the key of its app.
	App string
	// Enabled says that it may be offered and called.
	Enabled bool
}

// A Prompt is one prompt of the house.
type Prompt struct {
	Canonical   string
	Title       string
	Description string
	App         string
	Arguments   []PromptArgument
}

// A PromptArgument is one argument of a prompt. Its value is always text.
type PromptArgument struct {
	Name        string
	Description string
	Required    bool
}

// An App is one app of the house.
type App struct {
	Key     string
	Package string
	// State is one of the declared states, such as ready or unavailable.
	State string
	// Reason says why it is in that state; empty when that needs no words.
	Reason string
	// Reply is the canonical name of the tool that answers one of the app's
	// sessions; empty when it has none.
	Reply string
	// People says that the app may tell who spoke.
	People bool
}

// Missing reports whether the app should be up and is not, so that its tools may
// not be known.
func (a App) Missing() bool {
	switch a.State {
	case "starting", "restarting", "auth_required", "unavailable":
		return true
	}
	return false
}

// Missing returns the apps that should be up and are not.
func Missing(apps []App) []App {
	return slices.DeleteFunc(slices.Clone(apps), func(a App) bool { return !a.Missing() })
}
