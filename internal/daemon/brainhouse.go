package daemon

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/names"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A brainHouse is the platform as the brain sees it.
type brainHouse struct {
	host   *host.Host
	config func() *config.Config
	seen   atomic.Pointer[offers] // of the last catalog that was asked for
}

var _ brain.House = (*brainHouse)(nil)

// offers are the tools and prompts of one catalog in the brain's words. They are
// made once for each catalog, which changes seldom and is looked at often.
type offers struct {
	catalog *host.Catalog
	tools   []brain.Tool
	prompts []brain.Prompt
}

func (h *brainHouse) offers() *offers {
	c := h.host.Catalog()
	if o := h.seen.Load(); o != nil && o.catalog == c {
		return o
	}
	o := &offers{catalog: c}
	for _, t := range c.Tools() {
		o.tools = append(o.tools, brain.Tool{
			Canonical: t.Name, Alias: t.Alias, Title: t.Title, Description: t.Description, Schema: t.InputSchema,
			App: t.App.Key, Enabled: t.Enabled && !t.Held && !t.TaskRequired,
		})
	}
	for _, p := range c.Prompts() {
		one := brain.Prompt{Canonical: p.Name, Title: p.Title, Description: p.Description, App: p.App.Key}
		for _, a := range p.Arguments {
			one.Arguments = append(one.Arguments, brain.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		o.prompts = append(o.prompts, one)
	}
	h.seen.Store(o)
	return o
}

// Tools implements [brain.House].
func (h *brainHouse) Tools(context.Context) []brain.Tool { return h.offers().tools }

// Prompts implements [brain.House].
func (h *brainHouse) Prompts(context.Context) []brain.Prompt { return h.offers().prompts }

// Call implements [brain.House]. A name that nobody has yet may be that of an app
// which is still starting, such as the reply tool of the app whose event was first
// in the inbox: that start is waited for.
func (h *brainHouse) Call(ctx context.Context, c call.Call) call.Result {
	if _, err := h.host.Catalog().Resolve(c.Name); err != nil {
		for _, s := range h.host.Status() {
			if s.State == host.Starting && strings.HasPrefix(c.Name, s.Package+".") {
				_ = h.host.Settled(ctx, s.Key) // when ctx has ended the call says so
			}
		}
	}
	return h.host.Call(ctx, c)
}

// Prompt implements [brain.House].
func (h *brainHouse) Prompt(ctx context.Context, caller call.Caller, name string, args json.RawMessage) call.Result {
	return h.host.Prompt(ctx, caller, name, args)
}

// Apps implements [brain.House].
func (h *brainHouse) Apps(context.Context) []brain.App {
	c := h.config()
	var all []brain.App
	for _, s := range h.host.Status() {
		a := brain.App{Key: s.Key, Package: s.Package, State: string(s.State), Reason: s.Reason}
		if app := c.App(s.Key); app != nil {
			a.People = app.People
			if app.Reply != "" {
				a.Reply = names.Canonical(app.Package, app.Reply)
			}
		}
		all = append(all, a)
	}
	return all
}
