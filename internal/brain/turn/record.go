package turn

import (
	"encoding/json"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
)

// A Kind says what a record tells.
type Kind string

// The kinds of records, in the order in which a turn writes them.
const (
	KindBegin       Kind = "begin"        // the turn begins
	KindCommand     Kind = "command"      // a built-in command was answered
	KindRequest     Kind = "request"      // the model is asked
	KindAnswer      Kind = "answer"       // and has answered, or failed to
	KindIntent      Kind = "intent"       // a tool is about to be called; durable before it is
	KindResult      Kind = "result"       // what the model is told of a call
	KindPrompt      Kind = "prompt"       // a prompt was rendered
	KindStop        Kind = "stop"         // a person stopped the turn
	KindReplyIntent Kind = "reply_intent" // the reply is about to be sent; durable before it is
	KindReplyResult Kind = "reply_result" // and how that went
	KindEnd         Kind = "end"          // the turn is over
)

// A Record is one line of a journal. Which fields are set depends on its kind.
type Record struct {
	Kind Kind      `json:"t"`
	At   time.Time `json:"at"`
	// Step numbers requests, answers and what follows from them, from 1.
	Step int `json:"step,omitempty"`
	// MS is how long it took, in milliseconds: an answer, a call, a reply, a turn.
	MS int64 `json:"ms,omitempty"`

	// Begin: whose turn it is. Turn is the id of the unit.
	Turn    string      `json:"turn,omitempty"`
	Trace   string      `json:"trace,omitempty"`
	Session string      `json:"session,omitempty"`
	Source  *amp.Source `json:"source,omitempty"`
	Sender  string      `json:"sender,omitempty"`
	WokenBy string      `json:"woken_by,omitempty"`

	// Request: how much the model is shown; Bound says why it is the last one.
	Messages int    `json:"messages,omitempty"`
	Tools    int    `json:"tools,omitempty"`
	Bound    string `json:"bound,omitempty"`

	// Text is what an answer or command says, what the reply sends, or what a
	// result tells the model.
	Text string `json:"text,omitempty"`
	// Calls, Prompts and Usage are of an answer.
	Calls   []Asked          `json:"calls,omitempty"`
	Prompts []llm.PromptCall `json:"prompts,omitempty"`
	Usage   *llm.Usage       `json:"usage,omitempty"`
	// Error is why there is no answer, or why the turn ended as it did.
	Error string    `json:"error,omitempty"`
	Fault llm.Fault `json:"fault,omitempty"`

	// Call names a call or a reply: "<turn>/<step>/<number>", "<turn>/reply/<number>".
	Call string `json:"call,omitempty"`
	// Name is that of a command, or the canonical one of a prompt or tool.
	Name string          `json:"name,omitempty"`
	App  string          `json:"app,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Outcome is how a call or reply ended; of an end, it is the Ending.
	Outcome string    `json:"outcome,omitempty"`
	Code    call.Code `json:"code,omitempty"`
	// Ours says that the platform did not give this result: there was no call, or
	// its end is not known.
	Ours bool `json:"ours,omitempty"`
	// Size is that of the server's own result, in bytes; Kept is the file that
	// holds all of it, when the model sees only a part.
	Size int    `json:"size,omitempty"`
	Kept string `json:"kept,omitempty"`
	// Again says that a call or reply was surely not delivered, and may be made
	// again.
	Again bool `json:"again,omitempty"`
	// Rendered are the messages of a prompt.
	Rendered []llm.Message `json:"rendered,omitempty"`
	// Tokens are all that the turn cost.
	Tokens int `json:"tokens,omitempty"`
}

// Asked is a tool call as the model is reminded of it, and as it wrote it where
// that differs.
type Asked struct {
	llm.ToolCall
	Wrote *llm.ToolCall `json:"wrote,omitempty"`
}

// written returns the call as the model wrote it.
func (a Asked) written() llm.ToolCall {
	if a.Wrote != nil {
		return *a.Wrote
	}
	return a.ToolCall
}

// An Ending is how a turn ended.
type Ending string

// The endings.
const (
	Answered    Ending = "answered"      // the session got its reply
	Silent      Ending = "silent"        // the model had nothing to say
	Mute        Ending = "no_reply_tool" // the source has no way to be answered
	Undelivered Ending = "undelivered"   // the reply was surely not delivered
	Refused     Ending = "refused"       // policy, or the app, refused the reply
	Uncertain   Ending = "unknown"       // the reply may or may not have been delivered
	Stopped     Ending = "stopped"       // a person stopped it
	Damaged     Ending = "damaged"       // its journal was, and so nothing was done
)

// Read returns the records of a journal, as far as they can be read. whole is
// false when something in the middle of it cannot; a torn end is no such thing.
// size is the length of what is good.
func parse(data []byte) (records []Record, size int64, whole bool) {
	whole = true
	bad := false
	var at int64
	for line := range lines(data) {
		at += int64(len(line))
		var r Record
		if line[len(line)-1] != '\n' || json.Unmarshal(line, &r) != nil || r.Kind == "" {
			bad = true
			continue
		}
		if bad {
			whole = false
		}
		records = append(records, r)
		size = at
	}
	return records, size, whole
}
