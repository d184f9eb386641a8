package console

import (
	"bytes"
	"context"
	_ "embed" // for the manifest
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
)

// Who the app is.
const (
	Package = "im.polaris.console"
	Key     = "aurora-app-console" // in apps/config.yml
	Version = "0.1.0"
)

// Owner is the id of the person who speaks: whoever may open the home's control
// endpoint is its owner.
const Owner = "owner"

//go:embed manifest.yaml
var manifest []byte

// Manifest returns the app's manifest.yaml.
func Manifest() []byte { return bytes.Clone(manifest) }

// A Text is one message to a session.
type Text struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	// Kept says that it came when no screen was there.
	Kept bool `json:"-"`
}

// A Show puts a text on a screen and reports whether the screen took it. It must
// not block, and not call the console.
type Show func(Text) bool

// A Console is the app and its screens. Create it with [New]. Its methods may be
// called from any number of goroutines.
type Console struct {
	emitter *appkit.Emitter
	app     *appkit.App
	kept    shelf
	chinese bool // what it says is Chinese, and else English

	serving sync.Mutex // held while a session is served: an emitter has one at a time

	mu    sync.Mutex // guards rooms; never held over I/O
	rooms map[string]*room
}

// A room is a session that somebody is in, or that a text is on its way to.
type room struct {
	users int // of this struct; Console.mu guards it

	mu      sync.Mutex // guards what follows; held while a text is shown or kept
	screens []*Screen
}

// A Screen is one place that shows a session. Close takes it away.
type Screen struct {
	console *Console
	session string
	room    *room
	show    Show
	once    sync.Once
}

// New makes the console of a process, which says where its data lies and whom it
// logs to. It does no I/O.
func New(p appkit.Process) *Console {
	env := p.Env()
	c := &Console{
		emitter: p.NewEmitter(Package), kept: shelf{log: p.Logger()}, rooms: map[string]*room{},
		chinese: strings.HasPrefix(strings.ToLower(env.Language), "zh"),
	}
	if dir := env.DataDir; dir != "" {
		c.kept.dir = filepath.Join(dir, "kept")
	}
	c.app = &appkit.App{
		Package: Package, Title: "Console", Version: Version,
		Instructions: "The people at this machine. send_message shows a text in one of their sessions.",
		Tools:        []appkit.Tool{c.sendMessage()},
		Emitter:      c.emitter,
		Logger:       c.kept.log,
	}
	return c
}

// message holds the arguments of send_message.
type message struct {
	SessionID string `json:"session_id" jsonschema:"the session, such as main" appkit:"minLength=1,maxLength=200"`
	Text      string `json:"text" jsonschema:"what to say" appkit:"minLength=1"`
}

// Sent is the data of a result of send_message.
type Sent struct {
	Screens int  `json:"screens" jsonschema:"how many screens took it"`
	Kept    bool `json:"kept" jsonschema:"whether it waits for the next screen"`
}

func (c *Console) sendMessage() appkit.Tool {
	return appkit.NewTool(appkit.ToolInfo{
		Name:        "send_message",
		Title:       "Send a message",
		Description: "Shows a text to the person who sits at this machine, in one session of the console. When nobody looks, it waits for them.",
		Hints:       &appkit.Hints{},
	}, func(_ context.Context, m message) (string, Sent, error) {
		n, err := c.send(m.SessionID, Text{Text: m.Text, At: time.Now()})
		switch {
		case err != nil:
			return "", Sent{}, err
		case n == 0:
			return c.pick("现在没有人在看这个会话，内容已保留给下一个打开它的人。",
				"Nobody looks at the session now. The text is kept for whoever opens it next."), Sent{Kept: true}, nil
		}
		return c.pick("已显示。", "Shown."), Sent{Screens: n}, nil
	})
}

func (c *Console) pick(zh, en string) string {
	if c.chinese {
		return zh
	}
	return en
}

// send shows a text on the screens of a session, or keeps it.
func (c *Console) send(session string, t Text) (screens int, err error) {
	r := c.enter(session)
	defer c.leave(session, r)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.screens {
		if s.show(t) {
			screens++
		}
	}
	if screens > 0 {
		return screens, nil
	}
	if err := c.kept.put(session, t); err != nil {
		return 0, fmt.Errorf("%s: %w", c.pick("没有人在看这个会话，内容也无法保留", "no screen shows the session, and the text cannot be kept"), err)
	}
	return 0, nil
}

// Keep gives back a text that a screen took and could not show. Another screen of
// the session may have shown it: then there is nothing to do.
func (c *Console) Keep(session string, t Text) error {
	r := c.enter(session)
	defer c.leave(session, r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.screens) > 0 {
		return nil
	}
	return c.kept.put(session, t)
}

// Attach makes a screen of a session. With kept it first shows the texts that
// wait for one; lost is how many more there were.
func (c *Console) Attach(session string, show Show, kept bool) (s *Screen, lost int, err error) {
	r := c.enter(session)
	s = &Screen{console: c, session: session, room: r, show: show}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept {
		if lost, err = c.kept.take(session, show); err != nil {
			c.leave(session, r)
			return nil, 0, fmt.Errorf("texts that wait for the session %q: %w", session, err)
		}
	}
	r.screens = append(r.screens, s)
	return s, lost, nil
}

// Close takes the screen away. It shows nothing afterwards.
func (s *Screen) Close() {
	s.once.Do(func() {
		s.room.mu.Lock()
		for i, other := range s.room.screens {
			if other == s {
				s.room.screens = append(s.room.screens[:i:i], s.room.screens[i+1:]...)
				break
			}
		}
		s.room.mu.Unlock()
		s.console.leave(s.session, s.room)
	})
}

func (c *Console) enter(session string) *room {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rooms[session]
	if r == nil {
		r = new(room)
		c.rooms[session] = r
	}
	r.users++
	return r
}

func (c *Console) leave(session string, r *room) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.users--; r.users == 0 {
		delete(c.rooms, session)
	}
}

// maxSummary bounds the line for people, in characters.
const maxSummary = 200

// Say tells the bot what the owner says in a session. It returns nil when that is
// durable at Aurora. id names the message: the same id is delivered once. An
// error that is [appkit.ErrKept] means that it is delivered later.
func (c *Console) Say(ctx context.Context, id, session, text string) error {
	return c.emitter.Emit(ctx, appkit.Event{
		ID: id, Type: amp.TypeMessageReceived, SessionID: session, Summary: summary(text),
		Data: amp.Message{Text: text, UserID: Owner},
	})
}

// summary returns the beginning of a text, on one line.
func summary(text string) string {
	s := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(s) <= maxSummary {
		return s
	}
	return string([]rune(s)[:maxSummary-1]) + "…"
}

// Serve serves the app on the streams of a process until its input ends or ctx is
// done, when it returns nil. A second session waits for the end of the first.
func (c *Console) Serve(ctx context.Context, p appkit.Process) error {
	c.serving.Lock()
	defer c.serving.Unlock()
	return p.Serve(ctx, c.app)
}
