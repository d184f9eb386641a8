package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/names"
)

// nearNames is how many similar names an error suggests.
const nearNames = 3

// Resolve finds a tool by its canonical name, else by its alias, else by its
// name without the package, if only one app has a tool of that name. It looks in tables that were made when
// the tools were listed and never takes a name apart. Letter case matters.
//
// The tool may belong to an app that cannot be reached now. The error is a
// [*call.Error]: TOOL_UNKNOWN with similar names, or TOOL_AMBIGUOUS with the
// canonical names to choose from.
func (c *Catalog) Resolve(name string) (*Tool, error) {
	t, err := c.resolve(name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// resolve is Resolve with the error's own type.
func (c *Catalog) resolve(name string) (*Tool, *call.Error) {
	if t := c.byName[name]; t != nil {
		return t, nil
	}
	if t := c.byAlias[name]; t != nil {
		return t, nil
	}
	if why, ok := c.withheld[name]; ok {
		return nil, &call.Error{Code: call.ToolAmbiguous, Message: why}
	}
	switch found := c.byBare[name]; len(found) {
	case 0:
		return nil, c.unknown(name)
	case 1:
		return found[0], nil
	default:
		list := make([]string, len(found))
		for i, t := range found {
			list[i] = t.Name
		}
		return nil, &call.Error{
			Code:    call.ToolAmbiguous,
			Message: fmt.Sprintf("%d apps have a tool named %q. Use one of these names: %s.", len(list), name, strings.Join(list, ", ")),
		}
	}
}

func (c *Catalog) unknown(name string) *call.Error {
	if name == "" {
		return &call.Error{Code: call.ToolUnknown, Message: "The call names no tool."}
	}
	return &call.Error{Code: call.ToolUnknown, Message: fmt.Sprintf("No app has a tool named %q.", clip(name)) + c.didYouMean(name)}
}

// didYouMean suggests names of listed tools that look like name.
func (c *Catalog) didYouMean(name string) string {
	canonical := make(map[string]string, 3*len(c.tools)) // from any form
	forms := make([]string, 0, 3*len(c.tools))
	for _, t := range c.tools {
		for _, form := range []string{t.Name, t.Alias, t.bare()} {
			if _, ok := canonical[form]; !ok {
				canonical[form] = t.Name
				forms = append(forms, form)
			}
		}
	}
	var near []string
	for _, form := range names.Near(name, forms, 2*nearNames) {
		if n := canonical[form]; !slices.Contains(near, n) && len(near) < nearNames {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return " The command `aurora tools` lists all of them."
	}
	return " Did you mean " + strings.Join(near, " or ") + "?"
}

// resolvePrompt is resolve for prompts, which have no alias.
func (c *Catalog) resolvePrompt(name string) (*Prompt, *call.Error) {
	if p := c.promptByName[name]; p != nil {
		return p, nil
	}
	found := c.promptByBare[name]
	if len(found) == 1 {
		return found[0], nil
	}
	e := &call.Error{Code: call.PromptUnknown}
	if len(found) > 1 {
		list := make([]string, len(found))
		for i, p := range found {
			list[i] = p.Name
		}
		e.Message = fmt.Sprintf("%d apps have a prompt named %q. Use one of these names: %s.", len(list), name, strings.Join(list, ", "))
		return nil, e
	}
	forms := make([]string, len(c.prompts))
	for i, p := range c.prompts {
		forms[i] = p.Name
	}
	e.Message = fmt.Sprintf("No app has a prompt named %q.", clip(name))
	if near := names.Near(name, forms, nearNames); len(near) > 0 {
		e.Message += " Did you mean " + strings.Join(near, " or ") + "?"
	} else {
		e.Message += " The command `aurora prompts` lists all of them."
	}
	return nil, e
}

// resourceOwner finds the app that a URI belongs to: the only one that lists
// it, else the only one with a template that could have made it.
func (c *Catalog) resourceOwner(uri string) (*app, *call.Error) {
	var owners []*app
	add := func(a *app) {
		if !slices.Contains(owners, a) {
			owners = append(owners, a)
		}
	}
	for _, r := range c.resByURI[uri] {
		add(r.owner)
	}
	if len(owners) == 0 {
		for _, t := range c.templates {
			if t.match != nil && t.match.MatchString(uri) {
				add(t.owner)
			}
		}
	}
	return oneOwner(owners, uri)
}

// templateOwner finds the only app that lists a URI template.
func (c *Catalog) templateOwner(template string) (*app, *call.Error) {
	var owners []*app
	for _, t := range c.templates {
		if t.URITemplate == template {
			owners = append(owners, t.owner)
		}
	}
	return oneOwner(owners, template)
}

func oneOwner(owners []*app, uri string) (*app, *call.Error) {
	switch len(owners) {
	case 0:
		return nil, &call.Error{
			Code:    call.ResourceUnknown,
			Message: fmt.Sprintf("No app lists the resource %q, and no template fits it. If you know which app has it, name the app.", clip(uri)),
		}
	case 1:
		return owners[0], nil
	}
	keys := make([]string, len(owners))
	for i, a := range owners {
		keys[i] = a.key
	}
	return nil, &call.Error{
		Code:    call.ResourceUnknown,
		Message: fmt.Sprintf("More than one app could have the resource %q: %s. Name the app.", clip(uri), strings.Join(keys, ", ")),
	}
}
