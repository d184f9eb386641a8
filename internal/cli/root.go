package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/names"
)

const rootHelp = `Aurora joins an AI bot to the world through the Model Context Protocol.

It starts the MCP servers ("apps") of a home folder, keeps them alive, and
offers their tools, resources and prompts under names that never clash.
Without a command it does what "aurora up" does.`

const rootExample = `  aurora                                run everything in the working directory
  aurora init my-bot                    make a home folder
  aurora tools                          what can be called
  aurora call im.polaris.weather.get_weather city=上海`

// The groups of the help text.
const (
	groupRun   = "run"
	groupUse   = "use"
	groupSetUp = "set-up"
)

func (p *program) rootCommand() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:           "aurora",
		Short:         "Join an AI bot to the world through MCP",
		Long:          rootHelp,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return p.version()
			}
			return p.up(cmd, args)
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			p.began = true
			p.out.json, _ = cmd.Flags().GetBool("json")
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Flags().BoolVar(&version, "version", false, "say which aurora this is")
	flags := root.PersistentFlags()
	flags.StringVar(&p.homeFlag, "home", "", "the home `folder` (default $AURORA_HOME, else the working directory)")
	flags.Bool("json", false, "print exactly one JSON document on stdout")
	flags.BoolVar(&p.keepGoing, "keep-going", false, "run the other apps although some are configured wrongly")
	_ = root.MarkPersistentFlagDirname("home") // fails only for an unknown flag

	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Run:"},
		&cobra.Group{ID: groupUse, Title: "Use:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up and look after:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupRun, p.upCommand(), p.chatCommand(), p.sayCommand(), p.appsCommand(), p.eventsCommand(), p.traceCommand(), p.topologyCommand(), p.logsCommand())
	add(groupUse, p.toolsCommand(), p.callCommand(), p.resourcesCommand(), p.readCommand(),
		p.promptsCommand(), p.promptCommand(), p.completeCommand())
	add(groupSetUp, p.initCommand(), p.importCommand(), p.checkCommand(), p.reloadCommand(), p.doctorCommand(), p.appCommand(),
		p.completionCommand(), p.versionCommand())
	root.SetHelpFunc(p.helpFunc(root.HelpFunc()))
	root.SetHelpCommand(p.helpCommand())
	root.SetHelpCommandGroupID(groupSetUp)
	return root
}

// noCommand refuses a word that is no command, and suggests near ones.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	near := names.Near(args[0], known, 3)
	if len(near) == 0 {
		return usagef("unknown command %q", args[0])
	}
	return usagef("unknown command %q; did you mean: %s", args[0], strings.Join(near, ", "))
}

// arguments refuses a wrong number of arguments. Max < 0: any number.
func arguments(min, max int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case max >= 0 && len(args) > max:
			return usagef("%s does not take %q", cmd.CommandPath(), args[max])
		}
		return nil
	}
}
