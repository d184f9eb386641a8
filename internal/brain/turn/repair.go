package turn

import (
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/llm"
)

// lostResult stands for a result that is not remembered.
const lostResult = "[The result of this call is not remembered.]"

// repair returns groups as a model can be reminded of them, whatever stood in the
// file: only what came after the last fresh start, each turn once, every call with
// exactly one result, in the order of the calls, every id once.
func repair(groups []group) []group {
	var out []group
	taken := map[string]bool{}
	seen := map[string]bool{}
	for _, g := range groups {
		if g.Fresh {
			out, taken = append(out[:0], group{Turn: g.Turn, At: g.At, Fresh: true}), map[string]bool{}
			continue
		}
		if seen[g.Turn] {
			continue
		}
		seen[g.Turn] = true
		g.Messages = whole(g.Messages, taken)
		if len(g.Messages) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// whole returns the messages of a turn with calls and results in pairs.
func whole(messages []llm.Message, taken map[string]bool) []llm.Message {
	var out []llm.Message
	for i, m := range messages {
		m.Content = utf8Text(m.Content)
		switch m.Role {
		case llm.User:
			if m.Content != "" {
				out = append(out, llm.Message{Role: m.Role, Content: m.Content, Prompt: m.Prompt})
			}
		case llm.Assistant:
			if m.Content == "" && len(m.ToolCalls) == 0 {
				continue
			}
			results := resultsBehind(messages[i+1:])
			said := llm.Message{Role: m.Role, Content: m.Content, Prompt: m.Prompt}
			var told []llm.Message
			for n, c := range m.ToolCalls {
				content := results.take(c.ID)
				if content == "" {
					content = lostResult
				}
				c = fit(c, n, taken)
				said.ToolCalls = append(said.ToolCalls, c)
				told = append(told, llm.Message{Role: llm.Tool, ToolCallID: c.ID, Content: content})
			}
			out = append(append(out, said), told...)
		}
	}
	return out
}

// fit returns a call that every provider takes.
func fit(c llm.ToolCall, n int, taken map[string]bool) llm.ToolCall {
	if !plainID.MatchString(c.ID) || taken[c.ID] {
		c.ID = ownID("history", len(taken), n+1, taken)
	}
	taken[c.ID] = true
	if !plainName.MatchString(c.Name) {
		c.Name = "unnamed"
	}
	if args, err := arguments.FromModel(nil, c.Arguments); err == nil {
		c.Arguments = string(args)
	} else {
		c.Arguments = "{}"
	}
	return c
}

// results are tool messages that wait for their calls.
type results struct{ messages []llm.Message }

// resultsBehind returns the tool messages that follow an answer, up to the next
// message of another role.
func resultsBehind(messages []llm.Message) *results {
	for i, m := range messages {
		if m.Role != llm.Tool {
			return &results{append([]llm.Message(nil), messages[:i]...)}
		}
	}
	return &results{append([]llm.Message(nil), messages...)}
}

// take returns the first result of an id, and does not return it again.
func (r *results) take(id string) string {
	for i, m := range r.messages {
		if m.ToolCallID == id {
			r.messages = append(r.messages[:i], r.messages[i+1:]...)
			return utf8Text(m.Content)
		}
	}
	return ""
}
