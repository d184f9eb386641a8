package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) promptsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prompts [APP…]",
		Short: "List prompts and their arguments",
		Example: `  aurora prompts
  aurora prompts notes --json`,
		ValidArgsFunction: p.completeApps,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withHouse(cmd.Context(), args, func(ctx context.Context, h control.House) error {
				return p.listPrompts(ctx, h, args)
			})
		},
	}
}

func (p *program) listPrompts(ctx context.Context, h control.House, apps []string) error {
	r, err := h.Prompts(ctx, control.Filter{Apps: apps})
	if err != nil {
		return err
	}
	s := p.out.style()
	t := table{columns: p.out.columns()}
	t.row(cell{"NAME", s.dim}, cell{"ARGUMENTS", s.dim}, cell{"WHAT IT IS", s.dim})
	for _, item := range r.Items {
		text := cmp.Or(oneLine(item.Description), oneLine(item.Title))
		t.row(plain(visible(item.Name)), plain(promptArguments(item.Arguments)), plain(text))
	}
	if len(r.Items) > 0 {
		p.out.print(t.String())
	} else {
		p.out.none("prompts")
	}
	if err := p.out.document(nonNil(r.Items)); err != nil {
		return err
	}
	return p.reportMissing(r.Apps)
}

// promptArguments lists arguments, optional ones in brackets.
func promptArguments(args []control.PromptArgument) string {
	var words []string
	for _, a := range args {
		word := visible(a.Name)
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
