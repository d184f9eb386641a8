package config

import (
	"encoding/json"
	"time"
)

// An App is one app as it shall run: entry and manifest joined, variables
// expanded, paths absolute. Nobody changes it after [Load].
type App struct {
	// Key is its name in apps/config.yml.
	Key string
	// Package is its identity in events, policy and audit; the key if nothing
	// else is said.
	Package string
	// Name, Version and Description are for people, from the entry or the manifest.
	Name, Version, Description string
	// Enabled is the app-level switch. See Disabled for whether it runs.
	Enabled bool
	// Startup is the startup mapping as a JSON object, "{}" if there is none.
	// Key order and number text are those of the file.
	Startup json.RawMessage
	// Disabled says why the app does not run although it is listed: "enabled:
	// false" or "mcp.enabled: false". It is empty for an app that runs.
	Disabled string
	// MCP says how to reach it.
	MCP MCP
	// Trust is how far its tool annotations are believed (DESIGN section 11).
	Trust Trust
	// Pin says whether new and changed tools wait for "apps accept".
	Pin Pin
	// People tells whether it may say who spoke, with roles.
	People bool
	// Events are the patterns of the event types it may emit.
	Events []string
	// Reply is the tool that answers one of its sessions; empty for none.
	Reply string
	// Capabilities is what its server may ask of us.
	Capabilities Capabilities
	// Tools holds the permissions of single tools by canonical name; those of the
	// entry win over those of the manifest.
	Tools map[string]ToolPermission
	// ManifestTools are the canonical names of the tools that its manifest lists.
	ManifestTools []string
}

// MCP says how to reach an app.
type MCP struct {
	// Transport decides which of the fields below have a meaning.
	Transport Transport
	// Command is the program and its arguments, expanded; it is passed verbatim,
	// without a shell. Command[0] is an absolute path once preflight found it.
	Command []string
	// Dir is the absolute working directory of the child.
	Dir string
	// Env is the complete environment of the child, sorted.
	Env []string
	// URL and Headers are those of a remote server, expanded.
	URL     string
	Headers map[string]string
	// HeaderSources tells, for headers whose values hold expansions, what they
	// come from: "${TOKEN}". It is for messages about them.
	HeaderSources map[string][]string
	// TLS names the certificates for a remote server.
	TLS TLS
	// Protocol is "auto" or one version of MCP.
	Protocol string
	// HealthTimeout covers spawn, handshake and first lists.
	HealthTimeout time.Duration
	// CallTimeout is the soft limit of a call, which progress prolongs; CallMax
	// is the hard one.
	CallTimeout, CallMax time.Duration
	// Restart says what happens when the process ends by itself.
	Restart Restart
	// Insecure allows http:// to a host that is not this machine.
	Insecure bool
}

// TLS names files with certificates, all absolute; empty for none.
type TLS struct {
	// CA holds authorities to believe in, beside those of this machine.
	CA string
	// Cert and Key are our own certificate and its key; both or none are set.
	Cert, Key string
	// Digest tells files that hold something else apart: a certificate that was
	// renewed in its place is another one.
	Digest string
}

// Restart says what happens when the process of an app ends by itself.
type Restart struct {
	Enabled bool
	// MaxAttempts in a row, then the app is unavailable.
	MaxAttempts int
	// Backoff is the wait before the first attempt; it grows from there.
	Backoff time.Duration
}

// Capabilities is what an app's server may ask of us. The zero value refuses
// everything.
type Capabilities struct {
	// Roots are absolute paths that the server is told of; empty refuses roots.
	Roots []string
	// Sampling and Elicitation are "deny", "ask" or "allow".
	Sampling, Elicitation string
}

// A ToolPermission is what the configuration says about one tool.
type ToolPermission struct {
	// Risk is "low", "medium", "high" or "critical"; empty if nothing is said.
	Risk string
	// Enabled is nil if nothing is said.
	Enabled *bool
}

// A Transport is a way to speak MCP with an app.
type Transport string

// The transports.
const (
	Stdio          Transport = "stdio"
	StreamableHTTP Transport = "streamable-http"
	SSE            Transport = "sse"
)

// A Trust is how far an app is believed.
type Trust string

// The degrees of trust.
const (
	TrustLow    Trust = "low"
	TrustNormal Trust = "normal"
	TrustHigh   Trust = "high"
)

// A Pin says whether tools wait for a first acceptance.
type Pin string

// The two ways to pin.
const (
	PinHold Pin = "hold"
	PinAuto Pin = "auto"
)
