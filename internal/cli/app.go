package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps"
	"github.com/aurorabot/aurora/internal/names"
)

func (p *program) appCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Serve a bundled app",
		Example: `  aurora app run weather
  claude mcp add weather -- aurora app run weather`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("%s needs a command: run", cmd.CommandPath())
		},
	}
	cmd.AddCommand(p.appRunCommand())
	return cmd
}

func (p *program) appRunCommand() *cobra.Command {
	var known []string
	for _, a := range apps.All() {
		known = append(known, a.Name)
	}
	return &cobra.Command{
		Use:   "run NAME",
		Short: "Serve a bundled app as an MCP server on stdin and stdout",
		Long: `Serve a bundled app as an MCP server on stdin and stdout, for Aurora or for any
other MCP client. Bundled apps: ` + strings.Join(known, ", ") + `.`,
		Example: `  aurora app run weather
  claude mcp add weather -- aurora app run weather`,
		Args:      arguments(1, 1, "the name of a bundled app: "+strings.Join(known, ", ")),
		ValidArgs: known,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.out.json {
				return usagef("stdout of an app belongs to its protocol: --json cannot be")
			}
			for _, a := range apps.All() {
				if args[0] == a.Name || args[0] == a.Key || args[0] == a.Package {
					return a.Run(cmd.Context(), appkit.Process{})
				}
			}
			message := "there is no bundled app %q; there are: " + strings.Join(known, ", ")
			if near := names.Near(args[0], known, 1); len(near) > 0 {
				message = "there is no bundled app %q; did you mean " + near[0] + "?"
			}
			return usagef(message, args[0])
		},
	}
}
