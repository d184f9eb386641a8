package llm

import (
	"context"
	"encoding/json"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/call"
)

// A Role says who speaks in a message.
type Role string

// The roles, as chat completions name them.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Message is one message of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// ToolCalls are what an assistant message asks for.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID names the call whose result a tool message is.
	ToolCallID string `json:"tool_call_id,omitempty"`
	// Prompt is the canonical name of the prompt that the message was rendered
	// from; empty for what people and models say. Providers pass over it.
	Prompt string `json:"prompt,omitempty"`
	// Result is what a tool message of this turn says, without the frame that
	// Content has; nil in messages of earlier turns. Providers pass over it.
	Result *Result `json:"-"`
}

// A ToolCall asks for one call of a tool.
type ToolCall struct {
	ID string `json:"id"`
	// Name is the alias of the tool.
	Name string `json:"name"`
	// Arguments is a JSON object as text. In an answer it is whatever the model
	// wrote.
	Arguments string `json:"arguments"`
}

// A Result is the end of a tool call, for who shows it to people.
type Result struct {
	Tool    string // canonical name
	App     string
	Outcome call.Outcome
	// Text is what the tool said, or what went wrong.
	Text string
}

// A PromptCall asks for a prompt of the house to be rendered into the
// conversation.
type PromptCall struct {
	Name      string          `json:"name"` // canonical
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// A Request asks a model to go on with a conversation.
type Request struct {
	Messages []Message
	// Turn is the index in Messages where this turn begins: its user message.
	// What stands before is instructions and history.
	Turn int
	// Said are the words of people that this turn answers, each message by
	// itself and as it was said. It is empty when something else woke the bot.
	Said []string
	// Group says that some of it was said in a group, where not every word is for
	// the bot.
	Group bool
	// Tools may be called; none: the answer must be text.
	Tools []brain.Tool
	// Prompts may be asked for by a model that knows what a slash command is.
	Prompts []brain.Prompt
	// Missing are the apps that should be up and are not: Tools may lack theirs.
	Missing []brain.App
	// Language is the user's.
	Language brain.Language
	// Session names the conversation, the same for all its requests and telling
	// nothing about it.
	Session string
}

// An Answer is how a model goes on.
type Answer struct {
	Text string
	// ToolCalls is not empty when the model wants to see results first.
	ToolCalls []ToolCall
	// Prompts is not empty when prompts are to be rendered first. Only reflex
	// asks for them.
	Prompts []PromptCall
	Usage   Usage
}

// Usage counts what an answer cost, in tokens; zero when the provider does not
// say, or it cost nothing.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Total returns all tokens.
func (u Usage) Total() int { return u.Input + u.Output }

// A Model goes on with conversations. See the package comment for what it
// promises. An error that is not of ctx is best an [*Error].
type Model interface {
	Complete(ctx context.Context, r Request, onDelta func(text string)) (Answer, error)
}

// Free is a model that can tell which requests cost no tokens: no budget bounds
// those.
type Free interface {
	Free(r Request) bool
}

// Costless reports whether a model answers a request without tokens.
func Costless(m Model, r Request) bool {
	f, ok := m.(Free)
	return ok && f.Free(r)
}
