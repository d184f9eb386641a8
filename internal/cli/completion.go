package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
)

// A completionReport is what `aurora completion SHELL --json` prints.
type completionReport struct {
	OK     bool   `json:"ok"`
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

func (p *program) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands, apps and tools in your shell",
		Long: `Print a completion script. It completes commands and flags, and also the keys of
apps and the names of tools: those of the running daemon, else those that were
last seen.`,
		Example: `  source <(aurora completion bash)
  aurora completion zsh > "${fpath[1]}/_aurora"
  aurora completion fish > ~/.config/fish/completions/aurora.fish`,
		Args:      arguments(1, 1, "a shell: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			var b bytes.Buffer
			var err error
			switch root := cmd.Root(); args[0] {
			case "bash":
				err = root.GenBashCompletionV2(&b, true)
			case "zsh":
				err = root.GenZshCompletion(&b)
			case "fish":
				err = root.GenFishCompletion(&b, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(&b)
			default:
				return usagef("there is no completion for %q; there is for bash, zsh, fish and powershell", args[0])
			}
			if err != nil {
				return fmt.Errorf("making the script: %w", err)
			}
			p.out.print(b.String())
			return p.out.document(completionReport{OK: true, Shell: args[0], Script: b.String()})
		},
	}
}
