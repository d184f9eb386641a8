package daemon

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/proc"
)

// runtimes are programs that run other people's servers, with what each of
// them needs beside itself.
var runtimes = map[string][]string{
	"npx":     {"npx", "node"},
	"npm":     {"npm", "node"},
	"node":    {"node"},
	"uvx":     {"uvx"},
	"uv":      {"uv"},
	"python":  {"python"},
	"python3": {"python3"},
	"bun":     {"bun"},
	"deno":    {"deno"},
	"docker":  {"docker"},
}

const versionTime = 5 * time.Second // for a program to say its version

// programs looks for the runtimes that the enabled apps need, with the PATH
// that those apps get, and asks them for their version.
func programs(ctx context.Context, apps []*config.App) []Check {
	checks := []Check{}
	for _, app := range apps {
		if app.Disabled != "" || len(app.MCP.Command) == 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(app.MCP.Command[0]), ".exe")
		for _, need := range runtimes[name] {
			if !slices.ContainsFunc(checks, func(c Check) bool { return c.Name == need }) {
				checks = append(checks, program(ctx, need, app))
			}
		}
	}
	return checks
}

func program(ctx context.Context, name string, app *config.App) Check {
	path, err := proc.LookPath(name, app.MCP.Env, app.MCP.Dir)
	if err != nil {
		c := Check{Name: name, Said: err.Error()}
		if e, ok := err.(*proc.StartError); ok {
			c.Said, c.Hint = e.Message(), e.Hint()
		}
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = app.MCP.Env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return Check{Name: name, Said: path + " does not run: " + err.Error(), Hint: "Try it by hand: " + path + " --version"}
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return Check{Name: name, OK: true, Said: version + " (" + path + ")"}
}
