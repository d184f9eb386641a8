package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func (p *program) chatCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with the bot",
		Long: `Talk with the bot. With a daemon you talk with it there; without one the whole
house runs until you leave.

On a terminal Tab completes commands, tools and the names of their arguments,
the arrow keys walk through what you said before, Ctrl-C stops the answer that is
under way, and a second Ctrl-C, Ctrl-D or /quit leaves. Otherwise every line of
stdin is said in turn, and answers go to stdout.

What the bot says while nobody looks waits for the next chat of its session.`,
		Example: `  aurora chat
  aurora chat --session work
  echo "/weather 上海" | aurora chat`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withMind(cmd.Context(), func(ctx context.Context, h control.House) error {
				return p.chat(ctx, h, session)
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", control.MainSession, "the `name` of the conversation")
	return cmd
}

// errLeft ends a chat that the person has left.
var errLeft = errors.New("left")

// quit is the word that leaves a chat.
const quit = "/quit"

// quits reports whether a line leaves a chat, as some words do.
func quits(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case quit, "/exit", "／quit", "／exit":
		return true
	}
	return false
}

// A chat is one person in one session.
type chat struct {
	p       *program
	house   control.House
	session string
	view    *chatView
	news    chan control.ChatNews // from the house, in order
	ended   chan struct{}         // closed when no more news comes
	err     error                 // why; valid after ended
}

func (p *program) chat(ctx context.Context, h control.House, session string) error {
	c := &chat{p: p, house: h, session: session, news: make(chan control.ChatNews), ended: make(chan struct{})}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	go func() {
		defer close(c.ended)
		c.err = h.Listen(ctx, control.ListenRequest{Session: session}, func(n control.ChatNews) error {
			select {
			case c.news <- n:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	talk := c.lines
	if stdin, ok := p.stdin.(*os.File); ok && isTerminal(stdin) && p.out.terminal && !p.out.json {
		talk = func(ctx context.Context) error { return c.terminal(ctx, stdin) }
	}
	err := talk(ctx)
	leave(errLeft)
	<-c.ended
	if errors.Is(err, errLeft) {
		return nil
	}
	return err
}

// lines says every line of stdin and waits for the end of the turn that answers
// it, so that a script gets its answers in order. What the bot says while no line
// comes is shown when it says it.
func (c *chat) lines(ctx context.Context) error {
	c.view = &chatView{write: func(text string) { c.p.out.print(text) }, aside: func(text string) { c.p.out.note("%s", text) }}
	if err := c.attached(ctx); err != nil {
		return err
	}
	lines := make(chan string)
	read := make(chan error, 1)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	// A read cannot be cut short: this goroutine ends with the next line, or with
	// the process, which is about to end when we leave.
	go func() { read <- scanLines(reading, c.p.stdin, lines) }()
	for {
		select {
		case line := <-lines:
			if quits(line) {
				return errLeft
			}
			if err := c.exchange(ctx, line); err != nil {
				return err
			}
		case n := <-c.news:
			c.show(n)
		case err := <-read:
			if errors.Is(err, io.EOF) {
				return errLeft
			}
			return err
		case <-c.ended:
			return c.houseLeft(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// scanLines reads lines that are not blank until the input ends.
func scanLines(ctx context.Context, in io.Reader, lines chan<- string) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			select {
			case lines <- line:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return err
		}
	}
}

// attached waits until nothing is missed any more.
func (c *chat) attached(ctx context.Context) error {
	for {
		n, err := c.next(ctx)
		if err != nil {
			return err
		}
		c.show(n)
		if n.Kind == control.ChatAttached {
			return nil
		}
	}
}

// exchange says one thing and shows what comes until its turn has ended.
func (c *chat) exchange(ctx context.Context, text string) error {
	type spoken struct {
		said control.Said
		err  error
	}
	done := make(chan spoken, 1)
	go func() {
		said, err := c.house.Say(ctx, control.SayRequest{Session: c.session, Text: text})
		done <- spoken{said, err}
	}()
	// What is said is often answered before the house says that it is said.
	turns := map[string]string{} // by message
	over := map[string]bool{}    // by turn
	id := ""
	for {
		if id != "" && turns[id] != "" && over[turns[id]] {
			return nil
		}
		select {
		case s := <-done:
			if s.err != nil {
				return s.err
			}
			id = s.said.MessageID
		case n := <-c.news:
			c.show(n)
			for _, m := range n.Messages {
				turns[m] = n.Turn
			}
			if n.Kind == control.ChatEnd {
				over[n.Turn] = true
			}
		case <-c.ended:
			return c.houseLeft(ctx)
		case <-ctx.Done():
			_, _ = c.house.StopTurn(context.WithoutCancel(ctx), c.session) // we leave: an error changes nothing
			return context.Cause(ctx)
		}
	}
}

// next waits for news.
func (c *chat) next(ctx context.Context) (control.ChatNews, error) {
	select {
	case n := <-c.news:
		return n, nil
	case <-c.ended:
		return control.ChatNews{}, c.houseLeft(ctx)
	case <-ctx.Done():
		return control.ChatNews{}, context.Cause(ctx)
	}
}

// show shows news: as a line of JSON, or for people.
func (c *chat) show(n control.ChatNews) {
	if c.p.out.json {
		_ = c.p.out.line(n) // a reader that has gone away is no error
		return
	}
	c.view.show(n)
}

// houseLeft says why a chat ended although nobody left it.
func (c *chat) houseLeft(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *call.Error
	if errors.As(c.err, &e) && e.Code == call.ShuttingDown {
		return control.Errorf(call.ShuttingDown, "Aurora has been stopped")
	}
	return c.err
}
