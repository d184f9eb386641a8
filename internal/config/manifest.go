package config

import "encoding/json"

// manifestFile is the file manifest.yaml: what the maker of an app says about it.
// apps/config.yml wins over it, key by key.
type manifestFile struct {
	// The identity of the app, such as `im.polaris.weather`.
	Package string `yaml:"package"`
	// A name for people.
	Name string `yaml:"name"`
	// The version of the app.
	Version string `yaml:"version"`
	// The versions of Aurora it was made for. Not checked.
	BrainVersion string `yaml:"brain_version"`
	// What the app is for, in one sentence.
	Description string `yaml:"description" alias:"app_desc"`
	// `mcp-server`. A `legacy` app speaks no MCP and needs a command or a url.
	Type string `yaml:"type" one:"mcp-server|legacy" default:"mcp-server"`
	// For people: who made it.
	Author string `yaml:"author"`
	// For people: under which terms.
	License string `yaml:"license"`
	// For people: where to read more.
	Homepage string `yaml:"homepage"`
	// How to start or reach the app.
	MCP manifestMCP `yaml:"mcp"`
	// The tools of the app: documentation, and something to compare with what the running server lists.
	Commands []manifestTool `yaml:"commands" alias:"tools" computed:"[]"`
	// Patterns of the event types it emits.
	Events []string `yaml:"events" computed:"[]"`
	// Whether the app tells us who spoke, and in which role.
	People bool `yaml:"people" default:"false"`
	// The tool that answers one of its sessions.
	Reply string `yaml:"reply"`
	// The risks of its tools.
	Permissions permissionsEntry `yaml:"permissions"`
}

// manifestMCP is the part "mcp:" of a manifest: everything that "mcp:" of
// apps/config.yml may hold but "enabled", and an entry.
type manifestMCP struct {
	// The file to run if there is no command, relative to the folder of the manifest: `.py` by python3, `.js` by node, any other by itself.
	Entry string `yaml:"entry"`

	connection `yaml:",inline"`
}

// manifestTool is one tool as a manifest describes it.
type manifestTool struct {
	// The name the server gives it, with or without the package before it.
	Name string `yaml:"name" computed:"required"`
	// What it does.
	Description string `yaml:"description"`
	// Its parameters, in any form. Documentation only.
	Parameters json.RawMessage `yaml:"parameters"`
	// What it returns, in any form. Documentation only.
	Returns json.RawMessage `yaml:"returns"`
	// How much harm it can do.
	Risk string `yaml:"risk" one:"low|medium|high|critical"`
}
