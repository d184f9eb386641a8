package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/brain/llm"
)

var (
	validID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// Check reports why a provider would refuse a request; nil when it would not.
func Check(r llm.Request) error {
	if r.Turn < 0 || r.Turn >= len(r.Messages) || r.Messages[r.Turn].Role != llm.User {
		return fmt.Errorf("the turn does not begin with a user message at %d", r.Turn)
	}
	ids := map[string]bool{}
	var open []string // calls without a result yet, in order
	for i, m := range r.Messages {
		if !utf8.ValidString(m.Content) {
			return fmt.Errorf("message %d is not UTF-8", i)
		}
		if len(open) > 0 && m.Role != llm.Tool {
			return fmt.Errorf("message %d comes before the result of %s", i, open[0])
		}
		switch m.Role {
		case llm.System:
			if i > 0 {
				return fmt.Errorf("message %d is a system message and not the first", i)
			}
		case llm.User:
			if m.Content == "" {
				return fmt.Errorf("message %d is empty", i)
			}
		case llm.Assistant:
			if m.Content == "" && len(m.ToolCalls) == 0 {
				return fmt.Errorf("message %d is empty", i)
			}
			for _, c := range m.ToolCalls {
				var args map[string]json.RawMessage
				switch {
				case !validID.MatchString(c.ID):
					return fmt.Errorf("message %d has a call with the id %q", i, c.ID)
				case ids[c.ID]:
					return fmt.Errorf("message %d has a call with the id %q, which was there before", i, c.ID)
				case !validName.MatchString(c.Name):
					return fmt.Errorf("message %d calls %q", i, c.Name)
				case json.Unmarshal([]byte(c.Arguments), &args) != nil || args == nil:
					return fmt.Errorf("message %d calls %s with %q, which is no object", i, c.Name, c.Arguments)
				}
				ids[c.ID] = true
				open = append(open, c.ID)
			}
		case llm.Tool:
			if len(open) == 0 || open[0] != m.ToolCallID {
				return fmt.Errorf("message %d is the result of %q, awaited is %s", i, m.ToolCallID, strings.Join(open, ", "))
			}
			if m.Content == "" {
				return fmt.Errorf("message %d is empty", i)
			}
			open = open[1:]
		default:
			return fmt.Errorf("message %d has the role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for %s", strings.Join(open, ", "))
	}
	return nil
}
