package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/daemon"
)

// A logReport is what `aurora logs --json` prints.
type logReport struct {
	OK    bool     `json:"ok"`
	File  string   `json:"file"`
	Lines []string `json:"lines"` // oldest first
}

// A logLine is what `aurora logs --follow --json` prints for each line.
type logLine struct {
	Line string `json:"line"`
}

func (p *program) logsCommand() *cobra.Command {
	var follow bool
	var n int
	cmd := &cobra.Command{
		Use:   "logs [KEY]",
		Short: "Show the log, or what an app wrote on stderr",
		Long: `Show the last lines of Aurora's own log or, with the key of an app, of what that
app wrote on stderr. It needs no daemon. Secrets are masked.`,
		Example: `  aurora logs
  aurora logs aurora-app-weather -n 200
  aurora logs --follow`,
		Args:              arguments(0, 1, ""),
		ValidArgsFunction: p.completeApp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 0 {
				return usagef("-n must not be negative")
			}
			key := ""
			if len(args) > 0 {
				key = args[0]
			}
			return p.logs(cmd.Context(), key, n, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines until Ctrl-C")
	cmd.Flags().IntVarP(&n, "lines", "n", 50, "how many last lines")
	return cmd
}

func (p *program) logs(ctx context.Context, key string, n int, follow bool) error {
	dir, err := p.home()
	if err != nil {
		return err
	}
	file := daemon.LogFile(config.Home{Dir: dir}, key)
	t := &tail{path: file}
	defer t.close()
	last, err := t.last(n)
	if errors.Is(err, fs.ErrNotExist) {
		if err := p.knownApp(key); err != nil {
			return err
		}
		if !follow {
			p.out.note("aurora: nothing has been logged yet (%s)", file)
		}
	} else if err != nil {
		return err
	}
	if !follow {
		for _, line := range last {
			p.out.print(p.logText(line) + "\n")
		}
		return p.out.document(logReport{OK: true, File: file, Lines: nonNil(last)})
	}
	show := func(line string) error {
		if p.out.json {
			return p.out.line(logLine{line})
		}
		_, err := io.WriteString(p.out.stdout, p.logText(line)+"\n")
		return err
	}
	for _, line := range last {
		if show(line) != nil {
			return nil // nobody reads any more
		}
	}
	return p.follow(ctx, t, show)
}

// knownApp returns an error for a key that the configuration does not have.
func (p *program) knownApp(key string) error {
	c, err := p.loadConfig()
	if err != nil || key == "" || c.App(key) != nil {
		return err
	}
	var known []string
	for _, a := range c.Apps {
		known = append(known, a.Key)
	}
	return appUnknown(key, known)
}

func (p *program) logText(line string) string {
	if p.out.terminal {
		return visible(line)
	}
	return line
}

const followEvery = 200 * time.Millisecond

func (p *program) follow(ctx context.Context, t *tail, show func(string) error) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		lines, err := t.more()
		if err != nil {
			return err
		}
		for _, line := range lines {
			if show(line) != nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// A tail reads the end of a log file that is written, and replaced, by others.
type tail struct {
	path string
	f    *os.File
	rest []byte // the beginning of a line whose end is not written yet
}

// last returns the last n whole lines and stands behind them. Log files are
// bounded, so it reads all of it.
func (t *tail) last(n int) ([]string, error) {
	f, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	t.f = f
	lines, err := t.read()
	return lines[max(len(lines)-n, 0):], err
}

// more returns the whole lines that have come since. It goes on in a new file
// when the log was replaced; a file that does not exist yet has none.
func (t *tail) more() ([]string, error) {
	var lines []string
	if t.f != nil {
		// Asked before the last read: nobody writes to a file that was replaced, but
		// to one that is about to be.
		replaced := t.replaced()
		var err error
		if lines, err = t.read(); err != nil || !replaced {
			return lines, err
		}
		t.close()
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return lines, nil
	}
	if err != nil {
		return lines, err
	}
	t.f, t.rest = f, nil
	fresh, err := t.read()
	return append(lines, fresh...), err
}

// replaced reports whether the path leads to another file by now.
func (t *tail) replaced() bool {
	now, err := os.Stat(t.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	mine, err := t.f.Stat()
	return err == nil && !os.SameFile(now, mine)
}

func (t *tail) read() ([]string, error) {
	b, err := io.ReadAll(t.f)
	t.rest = append(t.rest, b...)
	var lines []string
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 {
			return lines, err
		}
		lines = append(lines, string(bytes.TrimSuffix(t.rest[:i], []byte("\r"))))
		t.rest = t.rest[i+1:]
	}
}

func (t *tail) close() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}
