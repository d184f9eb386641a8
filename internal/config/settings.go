package config

import "time"

// Settings is the file aurora.yml: the platform's own settings. Each one is
// optional, and so is the file.
type Settings struct {
	// The person whose bot this is.
	User User `yaml:"user"`
	// How the house starts.
	Startup Startup `yaml:"startup"`
	// The language models that think for the bot.
	LLM LLM `yaml:"llm" later:"there is no model client yet; commands work, and limits bound them"`
	// The mind of the bot.
	Brain Brain `yaml:"brain"`
	// Which tool calls are allowed, which are asked about, which are refused.
	Policy Policy `yaml:"policy" later:"every tool that is switched on may be called, and nobody is asked"`
	// Where events go.
	AMP AMP `yaml:"amp"`
	// One MCP server that offers all tools to other AI clients.
	Gateway Listener `yaml:"gateway" later:"there is no gateway yet"`
	// The web pages.
	Console Listener `yaml:"console" later:"there are no web pages yet"`
	// How long finished things are kept.
	Retention Retention `yaml:"retention"`
	// What is logged.
	Log Log `yaml:"log"`
}

// User is the person whose bot this is.
type User struct {
	// The time zone as an IANA name, such as `Asia/Shanghai`. Apps receive it as `AURORA_USER_TZ`.
	TimeZone string `yaml:"time_zone" computed:"$TZ, else the zone of the system"`
	// The language of messages and of the bot. Apps receive it as `AURORA_USER_LANG`.
	Language string `yaml:"language" one:"zh|en" computed:"zh if $LC_ALL, $LC_MESSAGES or $LANG is Chinese, else en"`
}

// Zone returns the user's time zone; that of the system where it is not known.
func (u User) Zone() *time.Location {
	if z, err := time.LoadLocation(u.TimeZone); err == nil && u.TimeZone != "" {
		return z
	}
	return time.Local
}

// Startup is how the house starts.
type Startup struct {
	// Start although some apps are badly configured: exactly those become unavailable. `aurora up --keep-going` does the same once.
	KeepGoing bool `yaml:"keep_going" default:"false"`
	// How many apps may be in the act of being spawned at the same time. 0 means twice the number of processor cores.
	Concurrency int `yaml:"concurrency" default:"0" min:"0" max:"1000"`
}

// A Model is one language model behind an OpenAI-compatible endpoint.
type Model struct {
	// A provider by name, which sets `base_url`.
	Preset string `yaml:"preset" one:"openai|anthropic|gemini|deepseek|qwen|kimi|glm|ollama|llama.cpp|vllm"`
	// The address of an OpenAI-compatible endpoint, up to and including the version, such as `https://host/v1`.
	BaseURL string `yaml:"base_url" expand:"yes"`
	// The key for it. Write `${NAME}` here and the key itself into `.env`.
	APIKey string `yaml:"api_key" expand:"yes"`
	// The name of the model, as the provider writes it.
	Model string `yaml:"model" expand:"yes"`
}

// LLM is the language models that think for the bot. Without any the built-in
// reflex model answers slash commands.
type LLM struct {
	Model `yaml:",inline"`
	// Other models for single tasks. A role takes what it does not set from the keys above.
	Roles Roles `yaml:"roles"`
	// Bounds of what one answer, and one day, may cost.
	Limits TurnLimits `yaml:"limits"`
}

// Roles are models for single tasks; nil means the main one.
type Roles struct {
	// For small, frequent questions.
	Fast *Model `yaml:"fast"`
	// For answers that people read.
	Quality *Model `yaml:"quality"`
	// For pictures.
	Vision *Model `yaml:"vision"`
}

// TurnLimits bound what one answer, and one day, may cost.
type TurnLimits struct {
	// Requests to the model within one turn. At the bound one last request without tools gives the answer.
	TurnSteps int `yaml:"turn_steps" default:"8" min:"1" max:"1000"`
	// The longest time of one turn.
	Turn time.Duration `yaml:"turn_seconds" default:"300" unit:"s" min:"1s" max:"1d"`
	// Tokens of one day, in the user's time zone. 0 means no bound.
	DayTokens int `yaml:"day_tokens" default:"0" min:"0"`
}

// Brain is the mind of the bot.
type Brain struct {
	// Whether events wake it. Without it Aurora is only the platform.
	Enabled bool `yaml:"enabled" default:"true"`
	// The file that describes the circuit, relative to the home. Without a file `topology.yaml` the default circuit runs.
	Topology string `yaml:"topology" default:"topology.yaml"`
	// How long a session must be quiet before the bot thinks about what was said.
	Debounce time.Duration `yaml:"debounce_seconds" default:"2" unit:"s" min:"0" max:"1h"`
	// The longest time an event waits for quiet.
	MaxWait time.Duration `yaml:"max_wait_seconds" default:"10" unit:"s" min:"0" max:"1h"`
	// The time between two heartbeats. 0 means none.
	Heartbeat time.Duration `yaml:"heartbeat_seconds" default:"60" unit:"s" min:"0" max:"1d"`
	// The time of day in which the bot does not speak by itself, such as `23:00-07:30`, in the user's time zone. Empty means never.
	QuietHours string `yaml:"quiet_hours" default:"\"\""`
}

// Policy says which tool calls are allowed, which are asked about, which are refused.
type Policy struct {
	// What happens to a call that no grant and no rule speaks of, by the risk of its tool.
	Defaults PolicyDefaults `yaml:"defaults"`
	// How a person is asked.
	Approval Approval `yaml:"approval"`
	// Whether the built-in rules apply: the bot may answer the session that spoke to it, through that app's `reply` tool.
	Builtin bool `yaml:"builtin" default:"true"`
	// Rules in order; the first that matches decides.
	Rules []Rule `yaml:"rules"`
	// Bounds of all calls together.
	Limits CallLimits `yaml:"limits"`
}

// PolicyDefaults is what happens to a call, by the risk of its tool.
type PolicyDefaults struct {
	// For tools that only look.
	Low string `yaml:"low" one:"allow|ask|deny" default:"allow"`
	// For tools that change what is ours.
	Medium string `yaml:"medium" one:"allow|ask|deny" default:"allow"`
	// For tools that reach other people, or cannot be undone.
	High string `yaml:"high" one:"allow|ask|deny" default:"ask"`
	// For tools that can do anything, such as a shell.
	Critical string `yaml:"critical" one:"allow|ask|deny" default:"deny"`
}

// Approval is how a person is asked.
type Approval struct {
	// How long a question stays open. Then it counts as denied.
	Expires time.Duration `yaml:"expires" default:"10m" min:"1s" max:"30d"`
	// Who may answer: `console`, `cli`, or a person in a chat as `package:user_id`.
	Approvers []string `yaml:"approvers" default:"[console, cli]"`
}

// A Rule decides about the calls it matches. What is not set matches everything.
type Rule struct {
	// The canonical name of a tool, `prefix.*`, or `*`.
	Tool string `yaml:"tool" default:"\"*\""`
	// The key of an app.
	App string `yaml:"app"`
	// The kind of caller.
	Caller string `yaml:"caller" one:"brain|gateway|cli|console"`
	// The session the call belongs to.
	Session string `yaml:"session"`
	// The person who first asked, as `package:user_id`.
	Sender string `yaml:"sender"`
	// A role of that person, as an app with `people: true` told it.
	Role string `yaml:"role"`
	// A condition in CEL, such as `args.to.endsWith("@example.org")`. Variables: `tool, app, risk, caller, session, sender, event, args`. An error in it never allows.
	When string `yaml:"when"`
	// What happens to the call.
	Decide string `yaml:"decide" one:"allow|ask|deny" computed:"required"`
	// At most so many calls per second, minute, hour or day, such as `20/m`; further ones are refused as `RATE_LIMITED`.
	Limit string `yaml:"limit"`
	// Whether an allowing rule holds although the model has read the output of an app of low trust.
	EvenIfTainted bool `yaml:"even_if_tainted" default:"false"`
}

// CallLimits are bounds of all calls together.
type CallLimits struct {
	// Calls that run at the same time.
	Concurrency int `yaml:"concurrency" default:"64" min:"1" max:"100000"`
	// Calls that run at the same time in one app.
	PerApp int `yaml:"per_app" default:"16" min:"1" max:"100000"`
	// The largest arguments of one call.
	Arguments Size `yaml:"arguments" default:"1MiB" min:"1KiB" max:"32MiB"`
	// The largest result of one call.
	Result Size `yaml:"result" default:"32MiB" min:"1KiB" max:"32MiB"`
}

// AMP says where events go.
type AMP struct {
	// The consumers of events, each with its own folder. `inbox` is the brain's and always exists; any other name makes a folder for a program of yours.
	Spools map[string]Spool `yaml:"spools" computed:"inbox"`
}

// A Spool is the folder of one consumer of events. The patterns are exact types,
// "prefix.*", or "*"; exclude wins.
type Spool struct {
	// Patterns of the event types it gets.
	Include []string `yaml:"include" default:"[\"*\"]"`
	// Patterns of the event types it does not get.
	Exclude []string `yaml:"exclude" default:"[resource.observed]"`
	// Whose tool calls make an event for it.
	ToolCallers []string `yaml:"tool_callers" one:"brain|gateway|cli|console" default:"[brain, console, cli]"`
	// Pending events at which it is full. Then further ones are dropped and counted.
	MaxFiles int `yaml:"max_files" default:"100000" min:"1" max:"10000000"`
}

// A Listener is an address to listen on.
type Listener struct {
	// The address as `host:port`. The host must be this machine: `127.0.0.1`, `[::1]` or `localhost`. Empty means off.
	Listen string `yaml:"listen" expand:"yes" default:"\"\""`
}

// Retention is how long finished things are kept. 0 keeps them for ever.
type Retention struct {
	// Events that were handled. 0 keeps them for ever.
	Done time.Duration `yaml:"done" default:"7d" min:"0" max:"36500d"`
	// Events that could not be handled. 0 keeps them for ever.
	Dead time.Duration `yaml:"dead" default:"30d" min:"0" max:"36500d"`
	// Records of calls and decisions. 0 keeps them for ever.
	Audit time.Duration `yaml:"audit" default:"90d" min:"0" max:"36500d"`
}

// Log is what is logged.
type Log struct {
	// The least important level that is written.
	Level string `yaml:"level" one:"debug|info|warn|error" default:"info"`
	// How a line looks: for people, or one JSON object.
	Format string `yaml:"format" one:"text|json" default:"text"`
	// Whether the text of private chats may be logged. Secrets never are.
	PrivateText bool `yaml:"private_text" default:"false" later:"the text of chats is never logged"`
}

// A Size is a number of bytes.
type Size int64
