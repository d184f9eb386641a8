package cli

import (
	"context"
	"encoding/base64"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) readCommand() *cobra.Command {
	var app, file string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "read URI",
		Short: "Read a resource",
		Long: `Read a resource by its URI.

Text goes to stdout. Binary contents are described on a terminal, and written
as they are to a pipe or to the file that --output names.`,
		Example: `  aurora read notes://today
  aurora read demo://logo.png --output logo.png
  aurora read file:///notes --app notes --json`,
		Args:              arguments(1, 1, "the URI of a resource"),
		ValidArgsFunction: p.completeResource,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r := control.ReadRequest{URI: args[0], App: app}
			defer func() { p.notCalled(err, control.Reply{URI: r.URI}) }()
			if r.TimeoutMS, err = milliseconds(cmd, timeout); err != nil {
				return err
			}
			var needed []string
			if app != "" {
				needed = []string{app}
			}
			return p.withHouse(cmd.Context(), needed, func(ctx context.Context, h control.House) error {
				return p.read(ctx, h, r, file)
			})
		},
	}
	cmd.Flags().StringVar(&app, "app", "", "the `key` of the app, if several offer this URI")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the contents to a `file`")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the whole `time` it may take, such as 5s")
	_ = cmd.RegisterFlagCompletionFunc("app", p.completeApps)
	return cmd
}

func (p *program) read(ctx context.Context, h control.House, r control.ReadRequest, file string) error {
	rep := h.Read(ctx, r)
	if rep.OK && file != "" {
		if err := writeContents(file, rep.Result); err != nil {
			return err
		}
		return p.out.document(rep)
	}
	if rep.OK && !p.out.terminal && !p.out.json {
		if data, ok := onlyBlob(rep.Result); ok {
			_, err := p.out.stdout.Write(data)
			return err
		}
	}
	return p.endOfCall(ctx, rep, renderer.read)
}

// onlyBlob returns the bytes of contents that are one binary item.
func onlyBlob(raw []byte) ([]byte, bool) {
	contents, ok := decodeContents(raw)
	if !ok || len(contents) != 1 || contents[0].Blob == nil {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(*contents[0].Blob)
	return data, err == nil
}

func writeContents(file string, raw []byte) error {
	data, ok := onlyBlob(raw)
	if !ok {
		data = []byte(renderer{}.read(raw))
	}
	return os.WriteFile(file, data, 0o666)
}
