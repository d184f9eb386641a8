package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
)

// request returns what the model is shown: instructions, what is remembered, and
// this turn so far.
func (t *turn) request(ctx context.Context, said []string) llm.Request {
	var messages []llm.Message
	if text := t.opt.Instructions(t.unit); text != "" {
		messages = append(messages, llm.Message{Role: llm.System, Content: utf8Text(text)})
	}
	messages = append(messages, t.history.messages(t.opt.History)...)
	r := llm.Request{
		Turn: len(messages), Said: said, Group: !t.unit.Private(),
		Tools: t.tools(ctx), Prompts: t.opt.House.Prompts(ctx), Missing: brain.Missing(t.opt.House.Apps(ctx)),
		Language: t.opt.Language, Session: sessionName(t.unit.Lane()),
	}
	r.Messages = append(messages, t.messages()...)
	return r
}

// lastRequest turns a request into one that only text can answer.
func (t *turn) lastRequest(r llm.Request, st *step) llm.Request {
	r.Tools, r.Prompts = nil, nil
	if before := t.state.step(st.number - 1); before != nil && before.answer.Fault == llm.FaultTooLong {
		r.Messages = append(r.Messages[:0:0], r.Messages[r.Turn:]...)
		r.Turn = 0
	}
	if len(r.Messages) > 0 && r.Messages[0].Role == llm.System {
		r.Messages = append(r.Messages[:0:0], r.Messages...)
		r.Messages[0].Content += "\n\n" + noTools
	}
	return r
}

// messages returns this turn: what woke it, and every step that has its results.
func (t *turn) messages() []llm.Message {
	out := []llm.Message{{Role: llm.User, Content: userText(t.unit.Text)}}
	for _, st := range t.state.steps {
		if st.answer == nil || st.answer.Error != "" || st.bound != "" {
			continue
		}
		if len(st.calls) > 0 {
			m := llm.Message{Role: llm.Assistant, Content: st.answer.Text}
			for _, c := range st.calls {
				m.ToolCalls = append(m.ToolCalls, c.asked.ToolCall)
			}
			out = append(out, m)
			for _, c := range st.calls {
				out = append(out, c.message())
			}
		}
		for _, p := range st.prompts {
			out = append(out, p.Rendered...)
		}
	}
	return out
}

// userText returns what woke a turn, as a message that providers take.
func userText(text string) string {
	if text = utf8Text(text); strings.TrimSpace(text) == "" {
		return "(nothing was said)"
	}
	return text
}

// message returns the result of a call as a tool message.
func (c *called) message() llm.Message {
	r := c.result
	return llm.Message{
		Role: llm.Tool, ToolCallID: c.asked.ID, Content: frame(r),
		Result: &llm.Result{Tool: r.Name, App: r.App, Outcome: call.Outcome(r.Outcome), Text: r.Text},
	}
}

// ids returns the ids of all calls in messages.
func ids(messages []llm.Message) map[string]bool {
	taken := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			taken[c.ID] = true
		}
	}
	return taken
}

// group returns what is remembered of the turn; nil when that is nothing.
func (t *turn) group(ending Ending) []llm.Message {
	if len(t.state.steps) == 0 || ending == Damaged {
		return nil // commands are no conversation
	}
	messages := t.messages()
	switch text := t.text; {
	case ending == Stopped:
		messages = append(messages, llm.Message{Role: llm.Assistant, Content: says(t.opt.Language).stopped})
	case text != "":
		messages = append(messages, llm.Message{Role: llm.Assistant, Content: text})
	}
	return messages
}

// sessionName names a conversation without telling anything of it.
func sessionName(lane string) string {
	sum := sha256.Sum256([]byte(lane))
	return hex.EncodeToString(sum[:16])
}
