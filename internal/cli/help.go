package cli

import (
	"bytes"

	"github.com/spf13/cobra"
)

// A helpText is what --help prints with --json.
type helpText struct {
	OK      bool   `json:"ok"` // always true
	Command string `json:"command"`
	Help    string `json:"help"`
}

// helpFunc makes one JSON document of a help text where one is asked for.
func (p *program) helpFunc(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if !p.out.json {
			help(cmd, args)
			return
		}
		var text bytes.Buffer
		cmd.SetOut(&text)
		help(cmd, args)
		_ = p.out.document(helpText{OK: true, Command: cmd.CommandPath(), Help: text.String()}) // plain data: it always encodes
	}
}

func (p *program) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND…]",
		Short: "Show the help of a command",
		Example: `  aurora help call
  aurora help apps restart`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return beginning(names, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noCommand(at, rest)
			}
			return at.Help()
		},
	}
}
