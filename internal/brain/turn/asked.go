package turn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/llm"
)

// callID names the call with an index within the step.
func (st *step) callID(turn string, index int) string {
	return fmt.Sprintf("%s/%d/%d", turn, st.number, index+1)
}

var (
	plainID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	odd       = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// asked makes the calls of an answer fit for every provider: an id that is empty,
// odd or taken becomes one of ours (field fault Q12), arguments that are no object
// are remembered as none. What the model wrote stands beside it.
func (t *turn) asked(st *step, calls []llm.ToolCall, taken map[string]bool) []Asked {
	out := make([]Asked, len(calls))
	for i, c := range calls {
		a := Asked{ToolCall: c}
		if !plainID.MatchString(a.ID) || taken[a.ID] {
			a.ID = ownID(t.unit.ID, st.number, i+1, taken)
		}
		taken[a.ID] = true
		if !plainName.MatchString(a.Name) {
			a.Name = cmp.Or(strings.Trim(odd.ReplaceAllString(a.Name, "_"), "_"), "unnamed")
			a.Name = a.Name[:min(len(a.Name), 64)]
		}
		args, err := arguments.FromModel(nil, c.Arguments)
		if err != nil {
			args = json.RawMessage("{}")
		}
		a.Arguments = string(args)
		if a.ToolCall != c {
			wrote := c
			wrote.ID, wrote.Name, wrote.Arguments = utf8Text(wrote.ID), utf8Text(wrote.Name), utf8Text(wrote.Arguments)
			a.Wrote = &wrote
		}
		out[i] = a
	}
	return out
}

func utf8Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ownID returns an id of ours that is not taken.
func ownID(turn string, step, number int, taken map[string]bool) string {
	head, _, _ := strings.Cut(turn, "-")
	id := odd.ReplaceAllString(fmt.Sprintf("call_%s_%d_%d", head[:min(len(head), 16)], step, number), "_")
	for taken[id] {
		id += "x"
	}
	return id
}
