package host

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/policy"
	"github.com/aurorabot/aurora/internal/toolschema"
)

// A Tool is one tool of one app. Tools never change; a new list makes new ones.
type Tool struct {
	Name        string // canonical
	Upstream    string // the server's own name
	Alias       string // for model providers
	App         *config.App
	Title       string
	Description string
	Risk        policy.Risk
	Enabled     bool // false: switched off in the configuration
	Held        bool // waits for somebody to accept it

	// InputSchema is never empty; a missing one is {"type":"object"}.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // nil: none
	Annotations  json.RawMessage // nil: none
	// TaskRequired says that the tool can only be called as a task, which
	// Aurora does not do (MCP 2025-11-25, execution.taskSupport).
	TaskRequired bool
	// Definition is the server's own JSON, token for token.
	Definition json.RawMessage

	owner *app

	compile sync.Once // guards the making of checker
	checker *toolschema.Checker
}

// Check checks arguments against the input schema, which is compiled when it
// is first needed. A schema that cannot be compiled checks nothing: then the
// server is the judge.
func (t *Tool) Check(args []byte) error {
	t.compile.Do(func() {
		var err error
		if t.checker, err = toolschema.Compile(t.InputSchema); err != nil {
			t.owner.log.Warn("The arguments of a tool cannot be checked.", "tool", t.Name, "err", err)
		}
	})
	return t.checker.Check(args)
}

// A Resource is one resource of one app.
type Resource struct {
	URI         string
	App         *config.App
	Name        string
	Title       string
	Description string
	MIMEType    string
	Definition  json.RawMessage

	owner *app
}

// A Template is one resource template of one app.
type Template struct {
	URITemplate string // RFC 6570
	App         *config.App
	Name        string
	Title       string
	Description string
	MIMEType    string
	Definition  json.RawMessage

	owner *app
	match *regexp.Regexp // what URIs it can make; nil: cannot be told
}

// A Prompt is one prompt of one app.
type Prompt struct {
	Name        string // canonical
	Upstream    string
	App         *config.App
	Title       string
	Description string
	Arguments   []PromptArgument
	Definition  json.RawMessage

	owner *app
}

// bare returns the name without the package, which people like to type.
func (t *Tool) bare() string { return bare(t.App, t.Name) }

func (p *Prompt) bare() string { return bare(p.App, p.Name) }

func bare(app *config.App, canonical string) string {
	return strings.TrimPrefix(canonical, app.Package+".")
}

// A PromptArgument is one argument of a prompt. Its value is a string.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}
