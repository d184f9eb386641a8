package control

import (
	"context"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// A Mind is the thinking part of a house: the brain, and the console through
// which people talk with it. The errors of a house that does not think are
// BRAIN_UNAVAILABLE.
type Mind interface {
	// Ask says something in a session of the console and waits for the end of the
	// turn that answers it. Tell, if not nil, is told how the turn goes, by one
	// goroutine; it must not block. When ctx is cancelled the turn is stopped;
	// when the time is over it goes on, and its answer waits for whoever opens
	// the session next.
	Ask(ctx context.Context, r AskRequest, tell func(ChatNews)) Answer
	// Say says something in a session of the console and returns when that is
	// durable.
	Say(ctx context.Context, r SayRequest) (Said, error)
	// Listen makes the caller a screen of a session. Tell is called by one
	// goroutine; an error of it ends listening and is returned. The first news
	// says that nothing is missed from then on. Listen returns when ctx ends, with
	// its error, or when the house stops, with SHUTTING_DOWN.
	Listen(ctx context.Context, r ListenRequest, tell func(ChatNews) error) error
	// StopTurn ends the turn of a session that is under way, if there is one. It
	// does not wait for the end.
	StopTurn(ctx context.Context, session string) (Stopped, error)
	// Suggest says how a line of a chat could go on at the cursor.
	Suggest(ctx context.Context, r SuggestRequest) ([]Suggestion, error)
	// Topology returns the circuit of the brain and how its nodes fare.
	Topology(ctx context.Context) (Topology, error)
}

// MainSession is the session of the console that people mean when they name none.
const MainSession = "main"

// MaxSession bounds the name of a session of the console, in bytes.
const MaxSession = 200

// AskRequest asks the bot for one answer.
type AskRequest struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	// TimeoutMS, if positive, is how long to wait for the answer.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// Answer is how a question was answered. Its JSON form is that of `aurora say
// --json`.
type Answer struct {
	OK      bool   `json:"ok"`
	Session string `json:"session"`
	// Text is the answer; empty when the bot had nothing to say.
	Text string `json:"text"`
	// Turn and TraceID name the turn; empty when it did not begin in time.
	Turn    string `json:"turn"`
	TraceID string `json:"trace_id"`
	// Ending is how the turn ended: answered, silent, stopped and so on; empty when
	// it had not ended.
	Ending     string     `json:"ending"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	DurationMS int64      `json:"duration_ms"`
	// Error says why there is no answer.
	Error *call.Error `json:"error,omitempty"`
}

// ToolCall is one call of a tool within a turn.
type ToolCall struct {
	Call string `json:"call"` // its name in the journal of the turn
	Tool string `json:"tool"` // canonical
	App  string `json:"app"`
	// Outcome is empty while the call runs.
	Outcome    string `json:"outcome"`
	DurationMS int64  `json:"duration_ms"`
}

// SayRequest says something.
type SayRequest struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// Said names what was said.
type Said struct {
	MessageID string `json:"message_id"`
}

// ListenRequest asks to be a screen.
type ListenRequest struct {
	Session string `json:"session"`
}

// SuggestRequest asks how a line could go on.
type SuggestRequest struct {
	Line   string `json:"line"`
	Cursor int    `json:"cursor"` // in bytes
}

// Suggestion is one way in which a line could go on.
type Suggestion struct {
	// Text replaces the bytes From to To of the line.
	Text string `json:"text"`
	From int    `json:"from"`
	To   int    `json:"to"`
	// Help says what it is, in one line.
	Help string `json:"help"`
}

// Stopped says whether there was a turn to stop.
type Stopped struct {
	Stopped bool `json:"stopped"`
}

// A ChatKind says what a piece of news is.
type ChatKind string

// The kinds of news of a session.
const (
	ChatAttached ChatKind = "attached" // the screen is there, and nothing is missed from now on
	ChatBegin    ChatKind = "begin"    // a turn begins, that answers Messages
	ChatDelta    ChatKind = "delta"    // a piece of what the model writes
	ChatCall     ChatKind = "call"     // a tool is called
	ChatResult   ChatKind = "result"   // a call ended
	ChatText     ChatKind = "text"     // a message for the session
	ChatEnd      ChatKind = "end"      // a turn ended
)

// ChatNews is what a screen is told.
type ChatNews struct {
	Kind ChatKind `json:"kind"`
	// Turn is the turn that the news is of; empty for texts.
	Turn string `json:"turn,omitempty"`
	// Messages are the ids of the messages that a turn answers.
	Messages []string `json:"messages,omitempty"`
	Text     string   `json:"text,omitempty"`
	// At is when a text came.
	At time.Time `json:"at,omitzero"`
	// Kept says that a text came when nobody looked.
	Kept bool      `json:"kept,omitempty"`
	Call *ToolCall `json:"call,omitempty"`
	// Ending is how a turn ended, Error why it ended so.
	Ending string `json:"ending,omitempty"`
	Error  string `json:"error,omitempty"`
	// Lost counts texts before this one that were dropped because too many waited.
	Lost int `json:"lost,omitempty"`
}

// The states of a brain.
const (
	BrainOff         = "off"         // the settings say so
	BrainStarting    = "starting"    // it is about to think
	BrainReady       = "ready"       // it thinks
	BrainDegraded    = "degraded"    // it thinks, but some of it fails
	BrainUnavailable = "unavailable" // it does not think, and ought to
	BrainStopped     = "stopped"     // no daemon runs
)

// Brain says how the brain is.
type Brain struct {
	State string `json:"state"`
	// Problems says what is wrong with it, in sentences.
	Problems []string `json:"problems"`
	// Model is what answers.
	Model string `json:"model"`
	// Turns is how many turns are under way.
	Turns int `json:"turns"`
	// Tokens are those of today; TokenLimit is how many there may be, 0: any number.
	Tokens     int `json:"tokens"`
	TokenLimit int `json:"token_limit"`
}

// Topology is the circuit of a brain and how its nodes fare.
type Topology struct {
	Brain
	// File is where it was read from.
	File  string     `json:"file"`
	Nodes []NodeFlow `json:"nodes"`
	Edges []Edge     `json:"edges"`
	// Mermaid draws the circuit as a Mermaid flowchart.
	Mermaid string `json:"mermaid"`
}

// NodeFlow is one node of the circuit. Counts are since the start of the brain,
// and zero while none runs.
type NodeFlow struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Model string `json:"model"` // empty: it asks none
	// State is disabled, idle, running, failing or stopped.
	State       string     `json:"state"`
	Watch       []string   `json:"watch"`
	Emit        []string   `json:"emit"`
	Waiting     int        `json:"waiting"`
	Running     int        `json:"running"`
	Held        int        `json:"held"`
	Retrying    int        `json:"retrying"`
	Done        int64      `json:"done"`
	Dead        int64      `json:"dead"`
	Failed      int64      `json:"failed"`
	LastError   string     `json:"last_error"`
	LastErrorAt *time.Time `json:"last_error_at"` // null: there was none
	LastMS      int64      `json:"last_ms"`
	MeanMS      int64      `json:"mean_ms"`
}

// Edge leads from a node to one that it wakes.
type Edge struct {
	From    string `json:"from"` // empty: the world outside
	To      string `json:"to"`
	Through string `json:"through"` // the queue or state file between them
	// Looks says that To only looks at the queue.
	Looks bool `json:"looks"`
}
