package config

import (
	"encoding/json"
	"time"
)

// appEntry is one app in apps/config.yml, below "apps:" and its key. The keys of
// mcp may also stand directly in the entry, without "mcp:".
type appEntry struct {
	// Whether the app takes part.
	Enabled bool `yaml:"enabled" default:"true"`
	// The identity of the app in events, policy and audit, such as `im.polaris.weather`: words of letters, digits, `_` and `-`, joined by dots. No two running apps may share it.
	Package string `yaml:"package" computed:"that of the manifest, else the key"`
	// A name for people.
	Name string `yaml:"name" computed:"that of the manifest"`
	// The version of the app.
	Version string `yaml:"version" computed:"that of the manifest"`
	// What the app is for, in one sentence.
	Description string `yaml:"description" computed:"that of the manifest"`
	// The manifest, relative to the home. A file that is named here must exist.
	Manifest string `yaml:"manifest" computed:"apps/KEY/manifest.yaml if it exists; bundled apps carry theirs"`
	// Parameters that the app itself understands. It gets them as JSON in `AURORA_APP_STARTUP`. `${…}` is not expanded here.
	Startup json.RawMessage `yaml:"startup" computed:"{}"`
	// How to reach the app.
	MCP mcpEntry `yaml:"mcp"`
	// How far the app is believed. `normal` believes its hints that a tool only reads or destroys nothing; `low` ignores hints that lower a risk, and marks its output; `high` believes every hint.
	Trust string `yaml:"trust" one:"low|normal|high" default:"normal"`
	// Whether its tools wait for `aurora apps accept KEY` before the first use (`hold`), or are accepted as first seen (`auto`). A tool that changes later always waits.
	Pin string `yaml:"pin" one:"hold|auto" computed:"auto with trust: high, and for local apps with trust: normal; else hold" later:"tools are accepted as they come"`
	// Whether the app may tell us who spoke, and in which role: a chat platform.
	People bool `yaml:"people" computed:"that of the manifest, else false"`
	// Patterns of the event types it may emit: an exact type, `prefix.*`, or `*`. The types `tool.*`, `lifecycle.*`, `capability.*`, `resource.*` and `mcp.*` are ours.
	Events []string `yaml:"events" computed:"those of the manifest, else none"`
	// The tool of a chat app that answers one of its sessions, such as `send_message`.
	Reply string `yaml:"reply" computed:"that of the manifest"`
	// What its server may ask of us.
	Capabilities capabilitiesEntry `yaml:"capabilities"`
	// What its tools may do.
	Permissions permissionsEntry `yaml:"permissions"`

	connection `yaml:",inline"`
}

// mcpEntry is the part "mcp:" of an app in apps/config.yml.
type mcpEntry struct {
	// `false` keeps the app in the list, but does not connect to it.
	Enabled bool `yaml:"enabled" default:"true"`

	connection `yaml:",inline"`
}

// connection says how to reach an app. It stands in apps/config.yml and in
// manifests; what the former says wins, key by key.
type connection struct {
	// `stdio`, `streamable-http` or `sse`; `http`, `streamableHttp` and `streamable_http` are read as `streamable-http`, in any letter case.
	Transport string `yaml:"transport" alias:"type" computed:"stdio with a command, streamable-http with a url"`
	// The program and its arguments as a list, passed verbatim, without a shell. A single text is accepted if it is one word or an existing file. `aurora` as first word is this very program.
	Command commandLine `yaml:"command" expand:"yes"`
	// More arguments, after those in `command`.
	Args []string `yaml:"args" expand:"yes" computed:"[]"`
	// The working directory.
	Cwd string `yaml:"cwd" expand:"yes" default:"."`
	// Variables for the app, beside the safe ones that every app gets.
	Env map[string]string `yaml:"env" expand:"yes" computed:"{}"`
	// The address of a remote server.
	URL string `yaml:"url" alias:"endpoint" expand:"yes"`
	// Headers of every request to it.
	Headers map[string]string `yaml:"headers" expand:"yes" computed:"{}"`
	// Allows `http://` to another machine, where everybody on the way can read along.
	Insecure bool `yaml:"insecure" default:"false"`
	// Certificates for a remote server that the authorities of this machine do not know, or that wants one of us.
	TLS tlsEntry `yaml:"tls"`
	// The version of MCP to offer, or `auto` for the newest.
	Protocol string `yaml:"protocol" one:"auto|2025-11-25|2025-06-18|2025-03-26|2024-11-05" default:"auto"`
	// The time for the start of the process, the handshake and the first lists together.
	HealthTimeout time.Duration `yaml:"health_timeout_seconds" alias:"health_timeout" default:"10" unit:"s" min:"10ms" max:"1h"`
	// The longest silence in a call; each sign of progress begins it anew.
	CallTimeout time.Duration `yaml:"call_timeout_seconds" default:"30" unit:"s" min:"10ms" max:"1d"`
	// The longest time of a call, progress or not.
	CallMax time.Duration `yaml:"call_max_seconds" default:"600" unit:"s" min:"10ms" max:"7d"`
	// What happens when the process ends by itself.
	Restart restartEntry `yaml:"restart"`
}

// tlsEntry names the certificates for a remote server. Paths are relative to the
// home; the files are PEM.
type tlsEntry struct {
	// A file with the certificates of more authorities to believe in, such as that of a company.
	CA string `yaml:"ca" expand:"yes"`
	// Our own certificate, with those between it and its authority, for a server that asks for one.
	Cert string `yaml:"cert" expand:"yes"`
	// The key of our own certificate.
	Key string `yaml:"key" expand:"yes"`
}

// restartEntry says what happens when the process of an app ends by itself.
type restartEntry struct {
	// Whether it is started again.
	Enabled bool `yaml:"enabled" default:"true"`
	// Attempts in a row; a minute of health begins the count anew. 0 means none.
	MaxAttempts int `yaml:"max_attempts" default:"3" min:"0" max:"1000000"`
	// The wait before the first attempt. It grows from one to the next.
	Backoff time.Duration `yaml:"backoff_seconds" default:"2" unit:"s" min:"10ms" max:"1h"`
}

// capabilitiesEntry is what an app's server may ask of us.
type capabilitiesEntry struct {
	// Folders that it is told to work in. Without any it may not ask.
	Roots []string `yaml:"roots" computed:"[]"`
	// Whether it may ask our language model.
	Sampling string `yaml:"sampling" one:"deny|ask|allow" default:"deny" later:"it is refused"`
	// Whether it may ask the user questions.
	Elicitation string `yaml:"elicitation" one:"deny|ask|allow" default:"deny" later:"it is refused"`
}

// permissionsEntry is what the tools of an app may do.
type permissionsEntry struct {
	// By tool: its canonical name such as `im.polaris.weather.get_weather`, or the name the server gives it.
	Tools map[string]toolEntry `yaml:"tools" computed:"{}"`
}

// toolEntry is what one tool may do.
type toolEntry struct {
	// How much harm the tool can do. It decides together with `policy.defaults` of aurora.yml.
	Risk string `yaml:"risk" one:"low|medium|high|critical" computed:"that of the manifest, else from the server's hints, else high"`
	// `false` refuses every call of the tool.
	Enabled *bool `yaml:"enabled" computed:"true"`
}

// A commandLine is a command as the file has it: words, or one text.
type commandLine struct {
	words []string
	text  bool // written as one text, which is words[0]
}
