package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) resourcesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resources [APP…]",
		Short: "List resources and resource templates",
		Example: `  aurora resources
  aurora resources notes --json`,
		ValidArgsFunction: p.completeApps,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withHouse(cmd.Context(), args, func(ctx context.Context, h control.House) error {
				return p.listResources(ctx, h, args)
			})
		},
	}
}

func (p *program) listResources(ctx context.Context, h control.House, apps []string) error {
	r, err := h.Resources(ctx, control.Filter{Apps: apps})
	if err != nil {
		return err
	}
	s := p.out.style()
	t := table{columns: p.out.columns()}
	t.row(cell{"URI", s.dim}, cell{"TYPE", s.dim}, cell{"APP", s.dim}, cell{"WHAT IT IS", s.dim})
	for _, item := range r.Items {
		kind := item.MIMEType
		if item.Template {
			kind = "template"
		}
		text := cmp.Or(oneLine(item.Title), oneLine(item.Name))
		if d := oneLine(item.Description); d != "" {
			text += ": " + d
		}
		t.row(plain(visible(item.URI)), plain(visible(kind)), plain(visible(item.App)), plain(text))
	}
	if len(r.Items) > 0 {
		p.out.print(t.String())
	} else {
		p.out.none("resources")
	}
	if err := p.out.document(nonNil(r.Items)); err != nil {
		return err
	}
	return p.reportMissing(r.Apps)
}
