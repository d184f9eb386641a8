package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

const (
	chatPrompt = "> "
	// suggestPatience is how long a press of Tab may wait for the house.
	suggestPatience = 500 * time.Millisecond
)

// terminal talks with a person at a terminal: lines are edited while news comes
// in above them.
func (c *chat) terminal(ctx context.Context, stdin *os.File) error {
	fd := int(stdin.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() {
		_ = term.Restore(fd, was)
		c.p.out.print("\n") // away from the prompt
	}()
	keys := &keyboard{in: stdin, out: c.p.out.stdout, interrupt: make(chan struct{}, 1)}
	t := term.NewTerminal(keys, chatPrompt)
	t.SetBracketedPasteMode(true)
	defer t.SetBracketedPasteMode(false)
	if dir, err := c.p.home(); err == nil {
		t.History = openHistory(config.Home{Dir: dir}.Data("chat_history"))
	}
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return c.complete(ctx, t, line, pos)
	}
	c.resize(t)
	s := c.p.out.style()
	c.view = &chatView{
		style: s,
		write: func(text string) { _, _ = io.WriteString(t, text) },
		aside: func(text string) { _, _ = io.WriteString(t, text+"\n") },
	}
	c.view.aside(s.dim("session " + visible(c.session) + "; /help shows commands, Tab completes, /quit leaves"))

	lines := make(chan string)
	read := make(chan error, 1)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	// A read of a terminal cannot be cut short: this goroutine ends with the next
	// key, or with the process, which is about to end when we leave.
	go func() { read <- readLines(reading, t, lines) }()
	return c.talk(ctx, lines, read, keys.interrupt)
}

// talk brings together what the person types and what the house tells. Lines are
// said one after the other, in the order in which they were typed, and also those
// that were typed just before the person leaves.
func (c *chat) talk(ctx context.Context, lines <-chan string, read <-chan error, interrupt <-chan struct{}) error {
	said := make(chan error, 1)
	var waiting []string // to be said; the first one is on its way
	say := func() {
		text := waiting[0]
		go func() {
			_, err := c.house.Say(ctx, control.SayRequest{Session: c.session, Text: text})
			said <- err
		}()
	}
	asked := false // Ctrl-C once already, and nothing was there to stop
	leaving := false
	for {
		if leaving && len(waiting) == 0 {
			return errLeft
		}
		select {
		case n := <-c.news:
			c.view.show(n)
		case line := <-lines:
			asked = false
			if quits(line) {
				leaving, lines, read = true, nil, nil
				continue
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			if waiting = append(waiting, line); len(waiting) == 1 {
				say()
			}
		case err := <-said:
			if err != nil && ctx.Err() == nil {
				c.view.aside(c.view.style.red(visible(control.AsError(err).Error())))
			}
			if waiting = waiting[1:]; len(waiting) > 0 {
				say()
			}
		case <-interrupt:
			if leaving {
				return errLeft
			}
			stopped, err := c.house.StopTurn(ctx, c.session)
			if err == nil && stopped.Stopped {
				continue
			}
			if asked {
				return errLeft
			}
			asked = true
			c.view.aside(c.view.style.dim("(Ctrl-C again or /quit leaves)"))
		case err := <-read:
			if !errors.Is(err, io.EOF) {
				return err
			}
			leaving, lines, read = true, nil, nil
		case <-c.ended:
			if len(waiting) > 0 && <-said == nil {
				waiting = waiting[1:]
			}
			for _, line := range waiting {
				c.view.aside(c.view.style.red("not said: " + oneLine(line)))
			}
			return c.houseLeft(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readLines reads lines until the input ends. Lines that were pasted together are
// one message.
func readLines(ctx context.Context, t *term.Terminal, lines chan<- string) error {
	var pasted []string
	for {
		line, err := t.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			pasted = append(pasted, line)
			continue
		}
		if err != nil {
			return err
		}
		if pasted != nil {
			line, pasted = strings.Join(append(pasted, line), "\n"), nil
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resize tells the line editor how wide the terminal is.
func (c *chat) resize(t *term.Terminal) {
	if w, h := c.p.out.size(); w > 0 {
		_ = t.SetSize(w, h) // fails only when it cannot draw, which the next write says too
	}
}

// complete goes on with a line at the cursor: with what is certain, or by showing
// what it could be.
func (c *chat) complete(ctx context.Context, t *term.Terminal, line string, pos int) (string, int, bool) {
	c.resize(t)
	ctx, cancel := context.WithTimeout(ctx, suggestPatience)
	defer cancel()
	found, _ := c.house.Suggest(ctx, control.SuggestRequest{Line: line, Cursor: pos}) // who does not answer knows nothing
	if pos == len(line) && line != "" && strings.HasPrefix(quit, line) {
		found = append(found, control.Suggestion{Text: quit, To: pos, Help: "leave"})
	}
	if len(found) == 0 {
		return line, pos, true
	}
	first := found[0]
	text := first.Text
	for _, f := range found[1:] {
		text = commonPrefix(text, f.Text)
	}
	if len(found) == 1 && !strings.HasSuffix(text, "=") {
		text += " "
	}
	if first.From < 0 || first.From > first.To || first.To > len(line) {
		return line, pos, true
	}
	if len(found) == 1 || len(text) > first.To-first.From {
		return line[:first.From] + text + line[first.To:], first.From + len(text), true
	}
	c.offer(t, found) // the line editor lets go of its lock while it asks
	return line, pos, true
}

// maxOffered is how many ways to go on are shown.
const maxOffered = 20

// offer shows how a line could go on.
func (c *chat) offer(t *term.Terminal, found []control.Suggestion) {
	width := 0
	shown := found[:min(len(found), maxOffered)]
	for _, f := range shown {
		width = max(width, textWidth(f.Text))
	}
	var b strings.Builder
	for _, f := range shown {
		b.WriteString("  " + visible(f.Text) + strings.Repeat(" ", width-textWidth(f.Text)+gap) + c.view.style.dim(oneLine(f.Help)) + "\n")
	}
	if more := len(found) - len(shown); more > 0 {
		b.WriteString(c.view.style.dim("  … and "+count(more, "more")) + "\n")
	}
	_, _ = io.WriteString(t, b.String())
}

// commonPrefix returns the longest beginning that both texts have, in whole
// characters.
func commonPrefix(x, y string) string {
	for i, r := range x {
		if !strings.HasPrefix(y[min(i, len(y)):], string(r)) {
			return x[:i]
		}
	}
	return x
}

// A keyboard reads keys. Ctrl-C is told of and goes no further, for the line
// editor would take it for the end of the input.
type keyboard struct {
	in        io.Reader
	out       io.Writer
	interrupt chan struct{} // cap 1
}

const ctrlC = 0x03

func (k *keyboard) Read(b []byte) (int, error) {
	for {
		n, err := k.in.Read(b)
		if i := bytes.IndexByte(b[:n], ctrlC); i >= 0 {
			select {
			case k.interrupt <- struct{}{}:
			default:
			}
			n = copy(b, bytes.ReplaceAll(b[:n], []byte{ctrlC}, nil))
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (k *keyboard) Write(b []byte) (int, error) { return k.out.Write(b) }
