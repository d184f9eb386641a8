package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// suggestTime is how long a shell waits for the daemon when a person presses
// Tab. After it there are no suggestions.
const suggestTime = 400 * time.Millisecond

// seen is what was last seen in a home, for completion without a daemon.
type seen struct {
	Apps  []string `json:"apps"`
	Tools []string `json:"tools"`
}

func seenFile(home string) string {
	return filepath.Join(config.Home{Dir: home}.RunDir(), "seen.json")
}

// remember keeps the names of apps and tools for completion. It is a
// convenience: what goes wrong with it is nobody's concern.
func (p *program) remember(all control.Tools) {
	home, err := p.home()
	if err != nil {
		return
	}
	s := seen{Apps: []string{}, Tools: []string{}}
	for _, a := range all.Apps {
		s.Apps = append(s.Apps, a.Key)
	}
	for _, t := range all.Items {
		s.Tools = append(s.Tools, t.Name)
	}
	b, err := control.Marshal(s)
	if err != nil {
		return
	}
	tmp := seenFile(home) + ".new"
	if os.WriteFile(tmp, b, 0o600) == nil {
		_ = os.Rename(tmp, seenFile(home))
	}
}

func recall(home string) seen {
	var s seen
	if b, err := os.ReadFile(seenFile(home)); err == nil {
		_ = json.Unmarshal(b, &s) // a broken file suggests nothing
	}
	return s
}

// suggest asks the daemon, if there is one, for something to suggest.
func suggest[T any](p *program, ask func(context.Context, control.House) (T, error)) (T, bool) {
	var none T
	home, err := p.home()
	if err != nil {
		return none, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), suggestTime)
	defer cancel()
	client, err := control.Dial(ctx, config.Home{Dir: home}.RunDir())
	if err != nil {
		return none, false
	}
	defer client.Close()
	all, err := ask(ctx, client)
	return all, err == nil
}

func (p *program) appKeys() []string {
	if all, ok := suggest(p, func(ctx context.Context, h control.House) ([]control.App, error) { return h.Apps(ctx) }); ok {
		var keys []string
		for _, a := range all {
			keys = append(keys, a.Key+"\t"+a.State)
		}
		return keys
	}
	c, err := p.loadConfig()
	if err != nil {
		return nil
	}
	var keys []string
	for _, a := range c.Apps {
		keys = append(keys, a.Key)
	}
	return keys
}

func (p *program) toolNames() []string {
	all, ok := suggest(p, func(ctx context.Context, h control.House) (control.Tools, error) {
		return h.Tools(ctx, control.Filter{})
	})
	if ok {
		var names []string
		for _, t := range all.Items {
			names = append(names, t.Name+"\t"+cmp.Or(oneLine(t.Title), oneLine(t.Description)))
		}
		return names
	}
	home, err := p.home()
	if err != nil {
		return nil
	}
	return recall(home).Tools
}

// beginning keeps the suggestions that begin with what was typed. A name of an app
// with control characters in it is not one that a shell can show, or a person type.
func beginning(all []string, typed string) ([]string, cobra.ShellCompDirective) {
	var some []string
	for _, s := range all {
		if word, _, _ := strings.Cut(s, "\t"); strings.HasPrefix(word, typed) && visible(word) == word && !strings.Contains(word, "\n") {
			some = append(some, s)
		}
	}
	return some, cobra.ShellCompDirectiveNoFileComp
}

// completeApps completes any number of app keys.
func (p *program) completeApps(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return beginning(p.appKeys(), typed)
}

// completeApp completes one app key.
func (p *program) completeApp(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeApps(cmd, args, typed)
}

func (p *program) completeAppsAndTools(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return beginning(append(p.appKeys(), p.toolNames()...), typed)
}

// completeTool completes the name of a tool, then names of its arguments.
func (p *program) completeTool(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return beginning(p.toolNames(), typed)
	}
	all, ok := suggest(p, func(ctx context.Context, h control.House) (control.Tools, error) {
		return h.Tools(ctx, control.Filter{})
	})
	if !ok || strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, t := range findTools(all.Items, args[0]) {
		for _, a := range schemaArguments(t.InputSchema) {
			words = append(words, a.Name+"=\t"+oneLine(a.Description))
		}
	}
	some, _ := beginning(words, typed)
	return some, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completePrompt completes the name of a prompt.
func (p *program) completePrompt(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	all, _ := suggest(p, func(ctx context.Context, h control.House) (control.Prompts, error) {
		return h.Prompts(ctx, control.Filter{})
	})
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, item := range all.Items {
		names = append(names, item.Name+"\t"+oneLine(item.Description))
	}
	return beginning(names, typed)
}

// completeResource completes the URI of a resource.
func (p *program) completeResource(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := suggest(p, func(ctx context.Context, h control.House) (control.Resources, error) {
		return h.Resources(ctx, control.Filter{})
	})
	var uris []string
	for _, r := range all.Items {
		if !r.Template {
			uris = append(uris, r.URI+"\t"+cmp.Or(oneLine(r.Title), oneLine(r.Name)))
		}
	}
	return beginning(uris, typed)
}
