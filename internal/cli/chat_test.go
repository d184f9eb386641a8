package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/term"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// viewed plays news to a view and returns what a person sees.
func viewed(news ...control.ChatNews) string {
	var b strings.Builder
	v := &chatView{
		write: func(text string) { b.WriteString(text) },
		aside: func(text string) { b.WriteString("[" + text + "]\n") },
	}
	for _, n := range news {
		v.show(n)
	}
	return b.String()
}

func TestWhatAPersonSeesOfAChat(t *testing.T) {
	delta := func(text string) control.ChatNews {
		return control.ChatNews{Kind: control.ChatDelta, Turn: "t", Text: text}
	}
	text := func(text string) control.ChatNews { return control.ChatNews{Kind: control.ChatText, Text: text} }
	begin := control.ChatNews{Kind: control.ChatBegin, Turn: "t"}
	end := control.ChatNews{Kind: control.ChatEnd, Turn: "t", Ending: "answered"}
	result := control.ChatNews{Kind: control.ChatResult, Turn: "t", Call: &control.ToolCall{Tool: "a.b", Outcome: "ok", DurationMS: 12}}
	for name, c := range map[string]struct {
		news []control.ChatNews
		want string
	}{
		"an answer that grows is shown once":        {[]control.ChatNews{begin, delta("one\ntw"), delta("o"), text("one\ntwo"), end}, "one\ntwo\n"},
		"an answer at once":                         {[]control.ChatNews{begin, text("hello"), end}, "hello\n"},
		"words, a call, an answer":                  {[]control.ChatNews{begin, delta("let me see"), result, delta("six"), text("six"), end}, "let me see\n[· a.b ok, 12 ms]\nsix\n"},
		"what another says comes between":           {[]control.ChatNews{begin, delta("half"), text("an alarm"), end}, "half\nan alarm\n"},
		"what waited has its time":                  {[]control.ChatNews{{Kind: control.ChatText, Text: "late", Kept: true, At: time.Date(2026, 11, 30, 5, 6, 0, 0, time.Local)}}, "[… 2026-11-30 05:06]\nlate\n"},
		"what was too much is told":                 {[]control.ChatNews{{Kind: control.ChatText, Text: "x", Lost: 2}}, "[… 2 earlier messages came while nobody looked, and could not be kept]\nx\n"},
		"a stopped turn":                            {[]control.ChatNews{begin, delta("ha"), {Kind: control.ChatEnd, Turn: "t", Ending: "stopped"}}, "ha\n[… stopped]\n"},
		"a reply that was refused":                  {[]control.ChatNews{begin, {Kind: control.ChatEnd, Turn: "t", Ending: "refused", Error: "denied\nby policy"}}, "[… the turn ended as refused: denied]\n"},
		"nobody moves the cursor":                   {[]control.ChatNews{text("\x1b[2Jboo")}, "\\x1b[2Jboo\n"},
		"a turn that began before we looked":        {[]control.ChatNews{delta("rest"), end}, "rest\n"},
		"the next turn does not go on with the old": {[]control.ChatNews{begin, delta("old"), {Kind: control.ChatBegin, Turn: "u"}, {Kind: control.ChatDelta, Turn: "u", Text: "new"}}, "old\n"},
	} {
		if got := viewed(c.news...); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestWhatWasSaidIsRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chat_history")
	h := openHistory(file)
	for _, line := range []string{"one", "two", "two", "", " a secret", "three\nlines"} {
		h.Add(line)
	}
	again := openHistory(file)
	var all []string
	for i := range again.Len() {
		all = append(all, again.At(i))
	}
	if got := strings.Join(all, "|"); got != "three lines|two|one" {
		t.Errorf("the history is %q", got)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", st.Mode(), err)
	}
	again.Add(strings.Repeat("a long paste ", 10_000))
	again.Add("after it")
	if h := openHistory(file); h.Len() != 5 || h.At(0) != "after it" {
		t.Errorf("behind a long line %d lines are remembered", h.Len())
	}
	for i := range 3 * maxHistory {
		again.Add(fmt.Sprint("line ", i))
	}
	if n := openHistory(file).Len(); n > maxHistory {
		t.Errorf("%d lines are remembered", n)
	}
	if data, err := os.ReadFile(file); err != nil || bytes.Count(data, []byte("\n")) > 2*maxHistory+1 {
		t.Errorf("the file has %d lines (%v)", bytes.Count(data, []byte("\n")), err)
	}
}

func TestCtrlCDoesNotEndTheInput(t *testing.T) {
	k := &keyboard{in: strings.NewReader("ab\x03\x03c"), interrupt: make(chan struct{}, 1)}
	got, err := io.ReadAll(k)
	if err != nil || string(got) != "abc" || len(k.interrupt) != 1 {
		t.Errorf("it reads %q (%v) and tells of %d", got, err, len(k.interrupt))
	}
}

// A suggester is a house that knows how lines go on.
type suggester struct {
	control.House
	found []control.Suggestion
}

func (s suggester) Suggest(context.Context, control.SuggestRequest) ([]control.Suggestion, error) {
	return s.found, nil
}

func TestTabGoesOn(t *testing.T) {
	for _, c := range []struct {
		line  string
		pos   int
		found []control.Suggestion
		want  string
		at    int
	}{
		{"/to", 3, []control.Suggestion{{Text: "/tools", From: 0, To: 3}}, "/tools ", 7},
		{"/get_weather ci", 15, []control.Suggestion{{Text: "city=", From: 13, To: 15}}, "/get_weather city=", 18},
		{"/s", 2, []control.Suggestion{{Text: "/status", To: 2}, {Text: "/stop", To: 2}}, "/st", 3},
		{"/天", 4, []control.Suggestion{{Text: "/天气", To: 4}, {Text: "/天文", To: 4}}, "/天", 4},
		{"/x", 2, nil, "/x", 2},
		{"/q", 2, nil, "/quit ", 6},
		{"/quit x", 2, nil, "/quit x", 2},
		{"/x", 2, []control.Suggestion{{Text: "/y", From: 7, To: 9}}, "/x", 2},
	} {
		out := newOutput(io.Discard, io.Discard, func(string) string { return "" })
		talk := &chat{p: &program{out: out}, house: suggester{found: c.found}, view: &chatView{}}
		got, at, ok := talk.complete(t.Context(), term.NewTerminal(&keyboard{in: strings.NewReader(""), out: io.Discard}, ""), c.line, c.pos)
		if !ok || got != c.want || at != c.at {
			t.Errorf("%q at %d goes on as %q at %d, want %q at %d", c.line, c.pos, got, at, c.want, c.at)
		}
	}
}

// A listener is a house that hears one thing after the other, the first the
// slowest, until it leaves.
type listener struct {
	control.House
	heard []string
	leave func() // called with the second thing, which is not heard
}

func (l *listener) Say(_ context.Context, r control.SayRequest) (control.Said, error) {
	time.Sleep(time.Second / time.Duration(1+len(l.heard)))
	if l.leave != nil && len(l.heard) == 1 {
		l.leave()
		return control.Said{}, control.Errorf(call.ShuttingDown, "Aurora is stopping")
	}
	l.heard = append(l.heard, r.Text)
	return control.Said{}, nil
}

// typed is a chat whose person types these lines at once.
func typed(house control.House, seen *strings.Builder, lines ...string) (c *chat, typed chan string) {
	typed = make(chan string, len(lines))
	for _, line := range lines {
		typed <- line
	}
	view := &chatView{write: func(text string) { seen.WriteString(text) }, aside: func(text string) { seen.WriteString(text + "\n") }}
	return &chat{house: house, session: "main", view: view, ended: make(chan struct{})}, typed
}

func TestWhatIsTypedAtOnceIsSaidInOrderBeforeThePersonLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := new(listener)
		c, lines := typed(house, new(strings.Builder), "one", "two", "", "three", "/quit")
		if err := c.talk(t.Context(), lines, nil, nil); err != errLeft {
			t.Errorf("it ends with %v", err)
		}
		if got := strings.Join(house.heard, " "); got != "one two three" {
			t.Errorf("the house heard %q", got)
		}
	})
}

func TestWhatCouldNotBeSaidIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen strings.Builder
		house := new(listener)
		c, lines := typed(house, &seen, "one", "two", "three")
		house.leave = func() { close(c.ended) }
		c.err = control.Errorf(call.ShuttingDown, "stopped")
		if err := c.talk(t.Context(), lines, nil, nil); err == nil || !strings.Contains(err.Error(), "has been stopped") {
			t.Errorf("it ends with %v", err)
		}
		if got := seen.String(); !strings.Contains(got, "not said: three") || strings.Contains(got, "one") {
			t.Errorf("the person sees %q", got)
		}
	})
}

func TestPastedLinesAreOneMessage(t *testing.T) {
	k := &keyboard{in: strings.NewReader("\x1b[200~one\rtwo\x1b[201~\rthree\r"), out: io.Discard}
	terminal := term.NewTerminal(k, "")
	terminal.SetBracketedPasteMode(true)
	lines := make(chan string, 4)
	if err := readLines(t.Context(), terminal, lines); err != io.EOF {
		t.Fatal(err)
	}
	if a, b := <-lines, <-lines; a != "one\ntwo" || b != "three" {
		t.Errorf("the messages are %q and %q", a, b)
	}
}

// A script that has nothing to say yet hears the bot all the same, and Ctrl-C
// ends it though no line comes.
func TestAChatWithoutATerminalWaitsForLinesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typist := io.Pipe()
		defer typist.Close()
		var seen strings.Builder
		c := &chat{
			p:     &program{stdin: in, out: newOutput(&seen, io.Discard, func(string) string { return "" })},
			house: new(listener), session: "main", news: make(chan control.ChatNews), ended: make(chan struct{}),
		}
		ctx, interrupt := context.WithCancelCause(t.Context())
		left := make(chan error, 1)
		go func() { left <- c.lines(ctx) }()
		c.news <- control.ChatNews{Kind: control.ChatAttached}
		select {
		case c.news <- control.ChatNews{Kind: control.ChatText, Text: "an alarm"}:
		case <-time.After(time.Minute):
			t.Error("the bot is not heard before somebody speaks")
		}
		interrupt(errInterrupted)
		select {
		case err := <-left:
			if err != errInterrupted || seen.String() != "an alarm\n" {
				t.Errorf("it ends with %v and has shown %q", err, seen.String())
			}
		case <-time.After(time.Minute):
			t.Error("it waits for a line")
		}
	})
}
