package control

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// Version says who answers.
type Version struct {
	Version string    `json:"version"` // of the program
	API     int       `json:"api"`     // of the control interface
	PID     int       `json:"pid"`
	Home    string    `json:"home"`
	Started time.Time `json:"started"`
	// ForCommand says that the house runs only for as long as one command takes.
	ForCommand bool `json:"for_command,omitempty"`
}

// App is the state of one app, in the order of apps/config.yml.
type App struct {
	Key             string    `json:"key"`
	Package         string    `json:"package"`
	State           string    `json:"state"`
	Reason          string    `json:"reason"`
	Transport       string    `json:"transport"`
	ProtocolVersion string    `json:"protocol_version"`
	Era             string    `json:"era"`
	PID             PID       `json:"pid"`
	Restarts        int       `json:"restarts"`
	Exit            *Exit     `json:"exit"` // of the last process; null while none has ended
	Tools           int       `json:"tools"`
	NoiseLines      int64     `json:"noise_lines"`
	Since           time.Time `json:"since"`
	LastStderr      []string  `json:"last_stderr"`
	Warnings        []string  `json:"warnings"`
	// Events say how its events fared; null where no events are made.
	Events *EventCounts `json:"events"`
}

// A PID is the number of a process; 0, in JSON null, means that there is none.
type PID int

// MarshalJSON writes the number, or null.
func (p PID) MarshalJSON() ([]byte, error) {
	if p == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(p), 10), nil
}

// The states of an app (DESIGN 5).
const (
	StateDisabled     = "disabled"
	StateStarting     = "starting"
	StateReady        = "ready"
	StateDegraded     = "degraded"
	StateRestarting   = "restarting"
	StateAuthRequired = "auth_required"
	StateUnavailable  = "unavailable"
	StateStopped      = "stopped"
)

// Missing reports whether the app is enabled and yet cannot be used now.
// An app that is still starting is not missing.
func (a *App) Missing() bool {
	switch a.State {
	case StateUnavailable, StateAuthRequired, StateRestarting:
		return true
	}
	return false
}

// Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal"` // empty: it exited by itself
}

// Tool is one tool of the catalog.
type Tool struct {
	Name         string          `json:"name"` // canonical
	App          string          `json:"app"`  // key
	Package      string          `json:"package"`
	UpstreamName string          `json:"upstream_name"`
	Alias        string          `json:"alias"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Risk         string          `json:"risk"`
	Enabled      bool            `json:"enabled"`
	Held         bool            `json:"held"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"` // null: none
	Definition   json.RawMessage `json:"definition"`    // the server's own JSON
}

// Tools is an answer about tools, resources or prompts: the items, and the
// state of the apps that were asked, so that a caller knows what is missing.
type Tools struct {
	Items []Tool `json:"items"`
	Apps  []App  `json:"apps"`
}

// Export is the catalog in the form of one model provider.
type Export struct {
	Tools []json.RawMessage `json:"tools"` // the items of the provider's array
	Left  []Left            `json:"left"`  // tools that are not among them
	Notes []string          `json:"notes"`
	Apps  []App             `json:"apps"`
}

// Left names a tool that was left out of an export, and why.
type Left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Resource is one resource or resource template of the catalog.
type Resource struct {
	URI         string          `json:"uri"` // of a template: its uriTemplate
	Template    bool            `json:"template"`
	App         string          `json:"app"`
	Package     string          `json:"package"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	MIMEType    string          `json:"mime_type"`
	Definition  json.RawMessage `json:"definition"`
}

// Resources is an answer about resources.
type Resources struct {
	Items []Resource `json:"items"`
	Apps  []App      `json:"apps"`
}

// Prompt is one prompt of the catalog.
type Prompt struct {
	Name         string           `json:"name"` // canonical
	App          string           `json:"app"`
	Package      string           `json:"package"`
	UpstreamName string           `json:"upstream_name"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Arguments    []PromptArgument `json:"arguments"`
	Definition   json.RawMessage  `json:"definition"`
}

// PromptArgument is one argument of a prompt. Its value is always a string.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Prompts is an answer about prompts.
type Prompts struct {
	Items []Prompt `json:"items"`
	Apps  []App    `json:"apps"`
}

// A Filter narrows a question to some apps. The zero value asks all.
type Filter struct {
	Apps []string // keys or packages
}

// CallRequest asks for one tool call.
type CallRequest struct {
	Name string `json:"name"`
	// Args is the raw object of arguments. With Pairs it must be empty.
	Args json.RawMessage `json:"args,omitempty"`
	// Pairs are arguments of the form k=v, typed by the tool's schema where
	// the schema is known: in the house.
	Pairs []string `json:"pairs,omitempty"`
	// TimeoutMS, if positive, is the whole time the call may take.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// ReadRequest asks for the contents of a resource.
type ReadRequest struct {
	URI       string `json:"uri"`
	App       string `json:"app,omitempty"` // needed only if several apps offer the URI
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
}

// PromptRequest asks for the messages of a prompt.
type PromptRequest struct {
	Name      string            `json:"name"`
	Args      map[string]string `json:"args,omitempty"`
	TimeoutMS int64             `json:"timeout_ms,omitempty"`
}

// CompleteRequest asks an app how an argument may go on.
type CompleteRequest struct {
	// Prompt or Template names what the argument belongs to; exactly one is set.
	Prompt    string            `json:"prompt,omitempty"`
	Template  string            `json:"template,omitempty"`
	Argument  string            `json:"argument"`
	Value     string            `json:"value"`
	Context   map[string]string `json:"context,omitempty"` // arguments already chosen
	TimeoutMS int64             `json:"timeout_ms,omitempty"`
}

// Reply is the end of a call, a read, a prompt or a completion.
// Exactly one of Tool, URI, Prompt and Template says of what.
type Reply struct {
	OK         bool            `json:"ok"`
	Tool       string          `json:"tool,omitempty"`
	URI        string          `json:"uri,omitempty"`
	Prompt     string          `json:"prompt,omitempty"`
	Template   string          `json:"template,omitempty"`
	App        string          `json:"app,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	Outcome    call.Outcome    `json:"outcome"`
	Result     json.RawMessage `json:"result,omitempty"` // the server's own JSON
	Error      *call.Error     `json:"error,omitempty"`
}

// Failure is the document of everything else that went wrong.
type Failure struct {
	OK    bool        `json:"ok"` // always false
	Error *call.Error `json:"error"`
}

// An Action is what can be done to an app.
type Action string

// The actions on an app.
const (
	Start   Action = "start"
	Stop    Action = "stop"
	Restart Action = "restart"
)
