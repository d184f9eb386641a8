package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/names"
)

func (p *program) toolsCommand() *cobra.Command {
	var dialect string
	cmd := &cobra.Command{
		Use:   "tools [APP|TOOL…]",
		Short: "List tools, show what one takes, switch them on and off",
		Long: `List the tools of all apps, of some apps, or show single tools with their
arguments.

With --dialect it prints exactly the array of tools that a model provider would
get, at most 128; what was left out is said on stderr.`,
		Example: `  aurora tools
  aurora tools aurora-app-weather
  aurora tools im.polaris.weather.get_weather
  aurora tools --dialect openai > tools.json`,
		ValidArgsFunction: p.completeAppsAndTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withHouse(cmd.Context(), args, func(ctx context.Context, h control.House) error {
				if dialect != "" {
					return p.exportTools(ctx, h, dialect, args)
				}
				return p.listTools(ctx, h, args)
			})
		},
	}
	cmd.AddCommand(
		p.toolSwitchCommand(true, "Switch tools on in apps/config.yml"),
		p.toolSwitchCommand(false, "Switch tools off in apps/config.yml; every call of them is refused"),
	)
	cmd.Flags().StringVar(&dialect, "dialect", "", "print the array for a model `provider`: openai, anthropic or gemini")
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions([]string{"openai", "anthropic", "gemini"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *program) listTools(ctx context.Context, h control.House, args []string) error {
	all, err := h.Tools(ctx, control.Filter{})
	if err != nil {
		return err
	}
	if len(args) == 0 {
		p.remember(all)
	}
	pick, err := pickTools(all, args)
	if err != nil {
		return err
	}
	switch {
	case pick.single:
		for i, t := range pick.tools {
			if i > 0 {
				p.out.print("\n")
			}
			p.out.print(p.describeTool(t))
		}
	case len(pick.tools) > 0:
		p.out.print(p.toolTable(pick.tools))
	default:
		p.out.none("tools")
	}
	if err := p.out.document(pick.tools); err != nil {
		return err
	}
	return p.reportMissing(pick.apps)
}

// A toolPick is what the arguments of `aurora tools` select.
type toolPick struct {
	tools  []control.Tool
	apps   []control.App // that were needed
	single bool          // tools were named, not only apps
}

// pickTools selects the tools that are named or whose app is named.
func pickTools(all control.Tools, args []string) (toolPick, error) {
	if len(args) == 0 {
		return toolPick{tools: nonNil(all.Items), apps: all.Apps}, nil
	}
	pick := toolPick{tools: []control.Tool{}, single: true}
	for _, arg := range args {
		if i := slices.IndexFunc(all.Apps, func(a control.App) bool { return a.Key == arg || a.Package == arg }); i >= 0 {
			pick.single = false
			pick.apps = append(pick.apps, all.Apps[i])
			for _, t := range all.Items {
				if t.App == all.Apps[i].Key {
					pick.tools = append(pick.tools, t)
				}
			}
			continue
		}
		found := findTools(all.Items, arg)
		if len(found) == 0 {
			return pick, toolUnknown(arg, all)
		}
		pick.tools = append(pick.tools, found...)
	}
	return pick, nil
}

// findTools returns the tool with this canonical name or alias, or else all
// with this upstream name.
func findTools(items []control.Tool, name string) []control.Tool {
	var bare []control.Tool
	for _, t := range items {
		switch name {
		case t.Name, t.Alias:
			return []control.Tool{t}
		case t.UpstreamName:
			bare = append(bare, t)
		}
	}
	return bare
}

func toolUnknown(name string, all control.Tools) error {
	for _, a := range all.Apps {
		if a.Missing() && strings.HasPrefix(name, a.Package+".") {
			return control.Errorf(call.AppUnavailable, "app %q is %s: %s", a.Key, a.State, a.Reason)
		}
	}
	var known []string
	for _, t := range all.Items {
		known = append(known, t.Name)
	}
	for _, a := range all.Apps {
		known = append(known, a.Key)
	}
	message := fmt.Sprintf("there is no tool or app %q", name)
	if near := names.Near(name, known, 3); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return control.Errorf(call.ToolUnknown, "%s", message)
}

func (p *program) toolTable(tools []control.Tool) string {
	s := p.out.style()
	t := table{columns: p.out.columns()}
	t.row(cell{"NAME", s.dim}, cell{"RISK", s.dim}, cell{"WHAT IT DOES", s.dim})
	for _, tool := range tools {
		text := oneLine(tool.Description)
		if text == "" {
			text = oneLine(tool.Title)
		}
		switch {
		case !tool.Enabled:
			text = "(switched off) " + text
		case tool.Held:
			text = "(held) " + text
		}
		t.row(plain(visible(tool.Name)), cell{tool.Risk, s.risk}, plain(text))
	}
	return t.String()
}

// describeTool shows all a person needs to call a tool.
func (p *program) describeTool(t control.Tool) string {
	s := p.out.style()
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.bold(visible(t.Name)))
	if title := oneLine(t.Title); title != "" {
		fmt.Fprintf(&b, "  %s", title)
	}
	fmt.Fprintf(&b, "\n%s\n", s.dim(fmt.Sprintf("app %s, risk %s, alias %s", visible(t.App), t.Risk, t.Alias)))
	if t.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", visible(strings.TrimSpace(t.Description)))
	}
	args := schemaArguments(t.InputSchema)
	if len(args) == 0 {
		fmt.Fprintf(&b, "\nIt takes no arguments.\n")
		return b.String()
	}
	rows := table{columns: p.out.columns()}
	example := "aurora call " + quote(visible(t.Name))
	for _, a := range args {
		note := oneLine(a.Description)
		if a.Required {
			note = strings.TrimSpace("(required) " + note)
			example += " " + quote(visible(a.Name)+"=…")
		}
		rows.row(plain("  "+visible(a.Name)), cell{visible(a.Type), s.dim}, plain(note))
	}
	fmt.Fprintf(&b, "\nArguments:\n%s\n%s\n", rows.String(), s.dim(example))
	return b.String()
}

// A schemaArgument is one property of an input schema.
type schemaArgument struct {
	Name        string
	Type        string
	Description string
	Required    bool
}

// schemaArguments returns the properties of an object schema in its own order.
// What it does not understand it leaves out.
func schemaArguments(schema json.RawMessage) []schemaArgument {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var args []schemaArgument
	for name, raw := range members(s.Properties) {
		var prop struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
		}
		_ = json.Unmarshal(raw, &prop) // a property may be true or anything
		args = append(args, schemaArgument{
			Name:        name,
			Type:        typeText(prop.Type, prop.Enum),
			Description: prop.Description,
			Required:    slices.Contains(s.Required, name),
		})
	}
	return args
}

func typeText(t any, enum []any) string {
	if len(enum) > 0 {
		var words []string
		for _, v := range enum {
			words = append(words, fmt.Sprint(v))
		}
		return strings.Join(words, "|")
	}
	switch t := t.(type) {
	case string:
		return t
	case []any:
		var words []string
		for _, v := range t {
			words = append(words, fmt.Sprint(v))
		}
		return strings.Join(words, "|")
	}
	return ""
}

func (p *program) exportTools(ctx context.Context, h control.House, dialect string, apps []string) error {
	x, err := h.Export(ctx, dialect, control.Filter{Apps: apps})
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(leftOut(x.Left), x.Notes) {
		p.out.note("aurora: %s", oneLine(n))
	}
	// This command prints JSON with and without --json.
	p.out.json = true
	if err := p.out.document(nonNil(x.Tools)); err != nil {
		return err
	}
	return p.reportMissing(x.Apps)
}

// nonNil returns s, or an empty slice for nil: JSON arrays are never null.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// namesShown is how many of the tools are named that were left out for one
// reason. The rest is counted.
const namesShown = 20

// leftOut says which tools were left out, a line for each reason.
func leftOut(left []control.Left) []string {
	var reasons []string
	named := map[string][]string{}
	for _, l := range left {
		if named[l.Reason] == nil {
			reasons = append(reasons, l.Reason)
		}
		named[l.Reason] = append(named[l.Reason], l.Name)
	}
	lines := make([]string, len(reasons))
	for i, reason := range reasons {
		all := named[reason]
		lines[i] = fmt.Sprintf("left out %s: %s", strings.Join(all[:min(len(all), namesShown)], ", "), reason)
		if more := len(all) - namesShown; more > 0 {
			lines[i] = fmt.Sprintf("left out %s and %d more: %s", strings.Join(all[:namesShown], ", "), more, reason)
		}
	}
	return lines
}
