package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/daemon"
)

// A program is one run of a command: where it stands, and its global flags.
type program struct {
	args  []string // without the name of the program
	stdin io.Reader
	out   *output
	env   []string

	signals *signals
	began   bool // cobra accepted the command line

	// Global flags.
	homeFlag  string
	keepGoing bool
}

// Main runs the command line of this process and returns its exit code.
func Main() int {
	p := &program{args: os.Args[1:], stdin: os.Stdin, env: os.Environ()}
	p.out = newOutput(os.Stdout, os.Stderr, p.getenv)
	p.signals = catchSignals()
	defer p.signals.stop()
	return p.run(p.signals.ctx)
}

func (p *program) run(ctx context.Context) int {
	// A command line that cannot be read has no flags yet, but a script that
	// asked for JSON shall get it all the same.
	p.out.json = wantsJSON(p.args)
	root := p.rootCommand()
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.out.stdout)
	root.SetErr(p.out.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	code := p.end(ctx, cmd, err)
	if err := p.out.stdout.lost(); err != nil {
		p.out.note("aurora: the output is not complete: %v", err)
		return cmp.Or(code, exitInternal)
	}
	return code
}

// end tells an error and returns the exit code.
func (p *program) end(ctx context.Context, cmd *cobra.Command, err error) int {
	var s exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return int(s)
	}
	hint := ""
	e := p.errorOf(err)
	if e.Code == call.UsageInvalid {
		hint = "see: " + cmd.CommandPath() + " --help"
	}
	var preflight *daemon.PreflightError
	if errors.As(err, &preflight) {
		for _, problem := range preflight.Problems {
			p.out.note("%s", visible(problem.String()))
		}
		if preflight.Relaxed {
			hint = "--keep-going runs the other apps"
		}
	}
	p.out.fail(e, hint)
	if e.Code == call.CallCancelled && ctx.Err() != nil {
		return exitInterrupted
	}
	return exitOf(e.Code)
}

// errorOf returns an error in the form that people and programs see.
func (p *program) errorOf(err error) *call.Error {
	var e *call.Error
	switch {
	case errors.Is(err, errInterrupted):
		return control.AsError(context.Canceled)
	case !errors.As(err, &e) && !p.began:
		return control.Errorf(call.UsageInvalid, "%s", tidy(err.Error()))
	}
	return control.AsError(err)
}

// tidy brings the errors of cobra into one line.
func tidy(message string) string {
	message = strings.ReplaceAll(message, "\n\nDid you mean this?\n\t", "; did you mean: ")
	return strings.Join(strings.Fields(message), " ")
}

func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// getenv returns a variable of the environment; the last setting wins.
func (p *program) getenv(key string) string {
	for _, kv := range slices.Backward(p.env) {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			return v
		}
	}
	return ""
}

// home returns the home folder: --home, $AURORA_HOME or the working directory.
// A folder that was named must exist.
func (p *program) home() (string, error) {
	dir, from := p.homeFlag, "--home"
	if dir == "" {
		dir, from = p.getenv("AURORA_HOME"), "AURORA_HOME"
	}
	if dir == "" {
		dir, from = ".", "the working directory"
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", control.Errorf(call.ConfigInvalid, "the home folder %s (from %s) does not exist; `aurora init %s` makes one", abs, from, quote(dir))
	case err != nil:
		return "", control.Errorf(call.ConfigInvalid, "the home folder (from %s): %v", from, err)
	case !st.IsDir():
		return "", control.Errorf(call.ConfigInvalid, "the home %s (from %s) is not a folder", abs, from)
	}
	return abs, nil
}

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
