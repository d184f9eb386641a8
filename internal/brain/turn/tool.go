package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/names"
)

// nameOf returns the canonical name of the tool with an alias.
func nameOf(tools []brain.Tool, alias string) string {
	for _, t := range tools {
		if t.Alias == alias {
			return t.Canonical
		}
	}
	return alias
}

// prepare finds the tool of a call and reads its arguments.
func prepare(tools []brain.Tool, c llm.ToolCall) (brain.Tool, json.RawMessage, *call.Error) {
	tool, ok := find(tools, c.Name)
	if !ok {
		return tool, nil, unknownTool(tools, c.Name)
	}
	args, err := arguments.FromModel(tool.Schema, c.Arguments)
	if err != nil {
		message := err.Error() + ". You wrote: " + cut(utf8Text(c.Arguments), 300, len(c.Arguments), "")
		return tool, nil, &call.Error{Code: call.ArgumentsInvalid, Message: message}
	}
	return tool, args, nil
}

// find returns the tool that a model means. It is the one with that alias. A name
// that is the alias of a canonical name is believed though no such tool is
// offered: it may have been a moment ago, and the house says, and writes down,
// what has become of it. No other name is looked for: nothing is called by guess.
func find(tools []brain.Tool, alias string) (brain.Tool, bool) {
	for _, t := range tools {
		if t.Alias == alias {
			return t, true
		}
	}
	if canonical, ok := names.Unalias(alias); ok && strings.Contains(canonical, ".") {
		return brain.Tool{Canonical: canonical, Alias: alias}, true
	}
	return brain.Tool{}, false
}

// unknownTool tells the model that there is no such tool, and which it may mean
// (field fault Q06).
func unknownTool(tools []brain.Tool, name string) *call.Error {
	aliases := make(map[string]string, len(tools))
	among := make([]string, len(tools))
	for i, t := range tools {
		among[i], aliases[t.Canonical] = t.Canonical, t.Alias
	}
	var near []string
	for _, n := range names.Near(strings.ReplaceAll(name, "__", "."), among, 3) {
		near = append(near, aliases[n])
	}
	message := fmt.Sprintf("There is no tool %q.", cut(utf8Text(name), 200, len(name), ""))
	if near != nil {
		message += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return &call.Error{Code: call.ToolUnknown, Message: message}
}

// tools returns the tools that may be called now.
func (t *turn) tools(ctx context.Context) []brain.Tool {
	all := t.opt.House.Tools(ctx)
	on := make([]brain.Tool, 0, len(all))
	for _, tool := range all {
		if tool.Enabled {
			on = append(on, tool)
		}
	}
	return on
}
