package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
	"github.com/aurorabot/aurora/internal/importer"
)

// An importReport is what `aurora import --json` prints.
type importReport struct {
	OK      bool           `json:"ok"`
	Home    string         `json:"home"`
	DryRun  bool           `json:"dry_run"`
	Apps    []importer.App `json:"apps"`    // one for each server, in the order of the source
	Entries string         `json:"entries"` // what apps/config.yml got, or would get
	Secrets []string       `json:"secrets"` // names of the variables that .env got, or would get
	Written []string       `json:"written"` // files that were changed
	// Reload is what the running daemon made of it; null: none is running.
	Reload *control.Reload `json:"reload"`
	Error  *call.Error     `json:"error,omitempty"`
}

func (p *program) importCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Take over MCP servers from another program",
		Long: `Read the MCP servers that another program has in its configuration, and add them
as apps. Secrets move to .env. What is there already stays as it is, comments too;
the same import twice changes nothing.

Known are the files of
  Claude Desktop   claude_desktop_config.json
  Claude Code      ~/.claude.json, .mcp.json
  Cursor           ~/.cursor/mcp.json, .cursor/mcp.json
  VS Code          .vscode/mcp.json
  Windsurf         ~/.codeium/windsurf/mcp_config.json
  Cline            cline_mcp_settings.json
  Zed              ~/.config/zed/settings.json
and what web pages tell you to paste into them; - reads it from the standard input.

An app that cannot run yet, for a missing program or variable, is added switched
off. Servers that cannot be apps are refused, each with the reason, and the others
are added; exit code 9.`,
		Example: `  aurora import ~/.cursor/mcp.json
  aurora import ~/.claude.json --dry-run
  pbpaste | aurora import -`,
		Args: arguments(1, 1, "a file, or - for the standard input"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.importFrom(cmd.Context(), args[0], dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be written, and write nothing")
	return cmd
}

// maxImport bounds what is read of a file or the standard input; the importer
// has a lower bound.
const maxImport = 65 << 20

// readImport returns the text of a file, which may be a pipe of the shell, up to
// the size that is too large anyway.
func readImport(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxImport))
}

func (p *program) importFrom(ctx context.Context, file string, dry bool) error {
	dir, err := p.home()
	if err != nil {
		return err
	}
	src := importer.Source{Path: file}
	if file == "-" {
		src.Path = ""
		src.Text, err = p.readStdin(ctx, maxImport)
	} else {
		src.Text, err = readImport(file)
	}
	switch {
	case errors.Is(err, errInterrupted):
		return err
	case err != nil:
		return usagef("the file cannot be read: %v", err)
	}
	plan, written, err := p.doImport(dir, src, dry)
	if err != nil {
		return err
	}
	r := importReport{OK: plan.Refused() == 0, Home: dir, DryRun: dry, Apps: nonNil(plan.Apps), Entries: plan.Entries, Secrets: nonNil(plan.Secrets), Written: written}
	p.out.print(p.importText(plan, r))
	if len(written) > 0 {
		r.Reload = p.reloadAfterImport(ctx, dir)
	}
	if !r.OK {
		r.Error = control.Errorf(call.ConfigInvalid, "%s refused", were(plan.Refused(), "server"))
		if err := p.out.document(r); err != nil {
			return err
		}
		p.out.fail(r.Error, "")
		return status(exitConfig)
	}
	return p.out.document(r)
}

func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// imports is how often an import begins anew when somebody else writes the files.
const imports = 3

// doImport imports a source, unless it is only a trial, and returns the files that
// it wrote.
func (p *program) doImport(dir string, src importer.Source, dry bool) (plan *importer.Plan, written []string, err error) {
	o := importer.Options{Home: daemon.ConfigOptions(p.daemonOptions(dir, nil)), Lang: p.language()}
	for range imports {
		plan, err = importer.Make(src, o)
		if err != nil {
			return nil, nil, importError(src, err)
		}
		if dry || len(plan.Files) == 0 {
			return plan, []string{}, nil
		}
		if err = plan.Write(); !errors.Is(err, config.ErrFileChanged) {
			break
		}
	}
	if err != nil {
		return nil, nil, control.Errorf(call.ConfigInvalid, "nothing was imported: %v", err)
	}
	for _, f := range plan.Files {
		name := f.Path
		if inside, err := filepath.Rel(dir, name); err == nil {
			name = filepath.ToSlash(inside)
		}
		written = append(written, name)
	}
	return plan, written, nil
}

// importError says in which file an import found a mistake.
func importError(src importer.Source, err error) error {
	var syntax *importer.SyntaxError
	if !errors.As(err, &syntax) {
		return control.Errorf(call.ConfigInvalid, "nothing was imported: %v", err)
	}
	name := src.Path
	if name == "" {
		name = "the standard input"
	}
	text := syntax.Message
	if syntax.Hint != "" {
		text += " (" + syntax.Hint + ")"
	}
	data, err := control.Marshal(map[string]any{"problems": []control.Problem{{File: name, Line: syntax.Line, Column: syntax.Column, Message: syntax.Message, Hint: syntax.Hint}}})
	if err != nil {
		data = nil // plain text and numbers: it always encodes
	}
	return &call.Error{Code: call.ConfigInvalid, Message: fmt.Sprintf("%s:%d:%d: %s", name, syntax.Line, syntax.Column, text), Data: data}
}

// importText says what an import did, or would do.
func (p *program) importText(plan *importer.Plan, r importReport) string {
	s := p.out.style()
	var b strings.Builder
	for _, a := range plan.Apps {
		name := visible(a.Name)
		if name == "" {
			name = fmt.Sprintf("the server of line %d", a.Line)
		}
		switch a.Result {
		case importer.Added:
			fmt.Fprintf(&b, "%s %s", s.green("+"), s.bold(visible(a.Key)))
			if a.Key != a.Name && a.Name != "" {
				fmt.Fprintf(&b, " (%s)", name)
			}
			switch {
			case a.Reason != "":
				fmt.Fprintf(&b, ": switched off, because %s", visible(a.Reason))
			case !a.Enabled:
				b.WriteString(": switched off, as it was")
			}
		case importer.Present:
			fmt.Fprintf(&b, "%s %s: there already", s.dim("="), s.bold(visible(a.Key)))
		case importer.Refused:
			fmt.Fprintf(&b, "%s %s: %s", s.red("✗"), s.bold(name), visible(a.Reason))
		}
		b.WriteString("\n")
		for _, secret := range a.Secrets {
			fmt.Fprintf(&b, "    %s\n", s.dim("secret moved to .env: "+visible(secret)))
		}
		for _, note := range a.Notes {
			fmt.Fprintf(&b, "    %s\n", visible(note))
		}
		if a.Result == importer.Added && a.Reason != "" {
			fmt.Fprintf(&b, "    %s when that is mended: aurora apps enable %s\n", s.dim("→"), quote(visible(a.Key)))
		}
	}
	switch {
	case len(plan.Files) == 0:
		b.WriteString("nothing to do\n")
	case r.DryRun:
		fmt.Fprintf(&b, "\napps/config.yml would get\n\n%s", visible(plan.Entries))
		if len(plan.Secrets) > 0 {
			fmt.Fprintf(&b, "\n.env would get %s\n", strings.Join(plan.Secrets, ", "))
		}
		b.WriteString("\nnothing was written\n")
	default:
		fmt.Fprintf(&b, "wrote %s\n", strings.Join(r.Written, ", "))
	}
	return b.String()
}

// reloadAfterImport has the daemon take over what was imported, if there is one.
func (p *program) reloadAfterImport(ctx context.Context, dir string) *control.Reload {
	client, err := control.Dial(ctx, config.Home{Dir: dir}.RunDir())
	if err != nil {
		p.out.note("next: aurora up")
		return nil
	}
	defer client.Close()
	r, err := client.Reload(ctx)
	if err != nil {
		p.out.note("aurora: the running aurora could not be told: %v", err)
		return nil
	}
	p.out.print(p.reloadText(r))
	return &r
}
