package cli

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// An initReport is what `aurora init --json` prints.
type initReport struct {
	OK      bool     `json:"ok"`
	Home    string   `json:"home"`
	Written []string `json:"written"` // files that did not exist before
}

func (p *program) initCommand() *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Make a home folder with commented files",
		Long: `Write a home that can be run at once: apps/config.yml, aurora.yml and .env, each
with comments. The folder is made if need be; files that exist are left alone.`,
		Example: `  aurora init my-bot
  cd my-bot && aurora check && aurora up
  aurora init 我的机器人 --lang zh`,
		Args: arguments(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := cmp.Or(p.homeFlag, p.getenv("AURORA_HOME"), ".")
			if len(args) > 0 {
				if p.homeFlag != "" {
					return usagef("name the folder either as an argument or with --home")
				}
				dir = args[0]
			}
			if lang == "" {
				lang = p.language()
			}
			return p.init(dir, lang)
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "the `language` of the comments: zh or en (default: that of the system)")
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions([]string{"zh", "en"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// language returns zh in a Chinese environment, else en.
func (p *program) language() string {
	for _, key := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := p.getenv(key); v != "" {
			if strings.HasPrefix(v, "zh") {
				return "zh"
			}
			break
		}
	}
	return "en"
}

func (p *program) init(dir, lang string) error {
	if lang != "zh" && lang != "en" {
		return usagef("there are comments in zh and en, not in %q", lang)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	written, err := config.Init(abs, lang)
	if err != nil {
		return control.Errorf(call.ConfigInvalid, "%v", err)
	}
	for _, file := range written {
		p.out.printf("wrote %s\n", file)
	}
	if len(written) == 0 {
		p.out.print("nothing to do: all files are there\n")
	}
	flag := ""
	if dir != "." {
		flag = " --home " + quote(dir)
	}
	p.out.note("next: aurora up%s", flag)
	return p.out.document(initReport{OK: true, Home: abs, Written: nonNil(written)})
}
