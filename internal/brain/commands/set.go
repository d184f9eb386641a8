package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/short"
)

// A Set answers the built-in commands. Its fields are not changed once it is in
// use.
type Set struct {
	House    brain.House
	Language brain.Language
	// Events returns the latest events, the newest first; nil: there are none.
	Events func(ctx context.Context, most int) ([]Event, error)
	// Zone is where times are shown; nil: the system's.
	Zone *time.Location
}

// An Event is one event as /events shows it.
type Event struct {
	At      time.Time
	Type    string
	App     string
	Summary string
	// State is where its file stands: pending, processing, done or dead.
	State string
}

// A Scene is what a command is answered in: who asks, and how things are.
type Scene struct {
	Session  string // empty outside one
	App      string // the package the session belongs to
	Instance string
	Sender   string // empty when nobody is known
	// Model is the name of the model; empty: there is none but reflex.
	Model string
	// Tokens are those of today; Limit is how many a day may cost, 0: any number.
	Tokens, Limit int
	// Turns is how many turns of this session the bot remembers, Running how many
	// turns are under way in all sessions, this one not counted.
	Turns, Running int
	// Uncertain is how many replies of today may or may not have arrived.
	Uncertain int
	// Stopped says that the last answer of the session was stopped.
	Stopped bool
}

// Index returns the index of what the house offers now.
func (s *Set) Index(ctx context.Context) *Index {
	return NewIndex(s.House.Tools(ctx), s.House.Prompts(ctx))
}

// Answer answers a built-in command. What a command does beside answering,
// starting afresh or stopping, is the caller's to do before it asks.
func (s *Set) Answer(ctx context.Context, name, rest string, in Scene) string {
	l := s.Language
	switch name {
	case Help:
		return s.help(ctx, rest)
	case Tools:
		return s.tools(ctx, rest)
	case Apps:
		return s.apps(ctx)
	case Events:
		return s.events(ctx, rest)
	case New:
		return l.Pick("好，我们重新开始。", "All right, we start afresh.")
	case Stop:
		if in.Stopped {
			return l.Pick("已停止。", "Stopped.")
		}
		return l.Pick("现在没有正在进行的回答。", "No answer is under way.")
	case Status:
		return s.status(ctx, in)
	case SID:
		return s.sid(in)
	}
	return ""
}

func (s *Set) help(ctx context.Context, rest string) string {
	x, l := s.Index(ctx), s.Language
	if rest != "" {
		m := x.Resolve(strings.TrimLeft(rest, "/／"))
		switch {
		case m.Target != (Target{}):
			return x.Explain(m.Target, l)
		case m.Candidates != nil:
			return l.Pick("有好几个：", "There are several:") + x.List(m.Candidates)
		}
		return Unknown(x, rest, m.Near, brain.Missing(s.House.Apps(ctx)), l)
	}
	var b strings.Builder
	b.WriteString(l.Pick("可以直接说话，也可以用命令：", "Just talk, or use a command:"))
	for _, c := range builtins() {
		usage := "/" + c.name
		if c.args != "" {
			usage += " " + c.args
		}
		b.WriteString("\n  " + usage + "  " + c.does(l))
	}
	if some := examples(x); len(some) > 0 {
		b.WriteString(l.Pick("\n工具和提示也是命令（/tools 列出全部），例如：", "\nTools and prompts are commands too (/tools lists them all), such as:"))
		b.WriteString(x.List(some))
	}
	return b.String()
}

// examples returns the tool that shows best how a tool is used, and a prompt.
func examples(x *Index) []Target {
	var tool, prompt []Target
	if t := x.Resolve("weather").Target; t.Tool != nil && t.Tool.Enabled {
		tool = []Target{t}
	}
	for _, t := range x.all {
		switch {
		case t.Tool != nil && t.Tool.Enabled && tool == nil:
			tool = []Target{t}
		case t.Prompt != nil && prompt == nil && x.means(t):
			prompt = []Target{t}
		}
	}
	return append(tool, prompt...)
}

// Unknown returns the answer to a command that means nothing. It may belong to an
// app that is missing.
func Unknown(x *Index, name string, near []Target, missing []brain.App, l brain.Language) string {
	text := unknown(x, name, near, l)
	if len(missing) == 0 {
		return text
	}
	names := make([]string, len(missing))
	for i, a := range missing {
		names[i] = fmt.Sprintf("%s (%s)", a.Key, a.State)
	}
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		list += ", …"
	}
	return text + fmt.Sprintf(l.Pick("\n这些应用现在没有运行，它们的命令还不知道：%s。/apps 有详情。", "\nThese apps are not up, so their commands may not be known: %s. /apps says more."), list)
}

// maxNamed is how many apps are named in a line.
const maxNamed = 5

func unknown(x *Index, name string, near []Target, l brain.Language) string {
	text := fmt.Sprintf(l.Pick("没有 /%s 这个命令。", "There is no command /%s."), short.Runes(strings.TrimLeft(name, "/／"), 60))
	if len(near) > 0 {
		return text + l.Pick("是不是想用：", " Did you mean:") + x.List(near)
	}
	return text + l.Pick("/help 显示全部命令。", " /help shows them all.")
}
