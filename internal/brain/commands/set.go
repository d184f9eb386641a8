package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
)

// The most lines that a list shows.
const (
	maxTools  = 60
	maxEvents = 50
	fewEvents = 10 // when no number is given
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
		return Unknown(x, rest, m.Near, l)
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
	if t, ok := example(x); ok {
		b.WriteString(l.Pick("\n工具和提示也是命令，例如：", "\nTools and prompts are commands too, such as:"))
		b.WriteString(x.List([]Target{t}))
	}
	return b.String()
}

// example returns the tool that shows best how a tool is used.
func example(x *Index) (Target, bool) {
	if t := x.Resolve("weather").Target; t.Tool != nil && t.Tool.Enabled {
		return t, true
	}
	for _, t := range x.all {
		if t.Tool != nil && t.Tool.Enabled {
			return t, true
		}
	}
	return Target{}, false
}

func (s *Set) tools(ctx context.Context, rest string) string {
	x, l := s.Index(ctx), s.Language
	byApp := map[string][]Target{}
	var apps []string
	shown, all := 0, 0
	for _, t := range x.all {
		app := ""
		if t.Tool != nil {
			app = t.Tool.App
		} else {
			app = t.Prompt.App
		}
		if rest != "" && !strings.Contains(fold(t.Name+" "+t.title()+" "+app), fold(rest)) {
			continue
		}
		if all++; shown == maxTools {
			continue
		}
		shown++
		if byApp[app] == nil {
			apps = append(apps, app)
		}
		byApp[app] = append(byApp[app], t)
	}
	if all == 0 {
		if rest != "" {
			return fmt.Sprintf(l.Pick("没有名字里带“%s”的工具。", "No tool has %q in its name."), rest)
		}
		return l.Pick("现在没有工具。/apps 显示应用的状态。", "There are no tools now. /apps shows the apps and their states.")
	}
	var parts []string
	for _, app := range apps {
		part := app + l.Pick("：", ":")
		for _, t := range byApp[app] {
			part += x.List([]Target{t})
			if !t.enabled() {
				part += l.Pick("（已关闭）", " (switched off)")
			}
		}
		parts = append(parts, part)
	}
	if all > shown {
		parts = append(parts, fmt.Sprintf(l.Pick("还有 %d 个。/tools 加一个词可以筛选。", "And %d more. /tools WORD looks for some."), all-shown))
	}
	return strings.Join(parts, "\n")
}

func (s *Set) apps(ctx context.Context) string {
	apps, l := s.House.Apps(ctx), s.Language
	if len(apps) == 0 {
		return l.Pick("没有应用。", "There are no apps.")
	}
	count := map[string]int{}
	for _, t := range s.House.Tools(ctx) {
		count[t.App]++
	}
	lines := make([]string, len(apps))
	for i, a := range apps {
		lines[i] = fmt.Sprintf(l.Pick("%s  %s  %d 个工具", "%s  %s  %d tools"), a.Key, a.State, count[a.Key])
		if a.Reason != "" {
			lines[i] += "  " + firstLine(a.Reason)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Set) events(ctx context.Context, rest string) string {
	l := s.Language
	most := fewEvents
	if rest != "" {
		n, err := strconv.Atoi(plainText(rest))
		if err != nil || n < 1 {
			return l.Pick("用法：/events [条数]", "Usage: /events [N]")
		}
		most = min(n, maxEvents)
	}
	if s.Events == nil {
		return l.Pick("没有事件。", "There are no events.")
	}
	found, err := s.Events(ctx, most)
	if err != nil {
		return l.Pick("读不到事件：", "The events cannot be read: ") + firstLine(err.Error())
	}
	if len(found) == 0 {
		return l.Pick("没有事件。", "There are no events.")
	}
	zone := cmp.Or(s.Zone, time.Local)
	var lines []string
	for _, e := range slices.Backward(found) { // the newest stands where the eye is
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s  %s  %s  %s  %s",
			e.At.In(zone).Format("01-02 15:04:05"), e.State, e.Type, e.App, firstLine(e.Summary))))
	}
	return strings.Join(lines, "\n")
}

func (s *Set) status(ctx context.Context, in Scene) string {
	l := s.Language
	model := in.Model
	if model == "" {
		model = l.Pick("没有配置（只有命令可用）", "none configured (commands only)")
	}
	tokens := strconv.Itoa(in.Tokens)
	if in.Limit > 0 {
		tokens += " / " + strconv.Itoa(in.Limit)
	}
	apps := s.House.Apps(ctx)
	up := 0
	for _, a := range apps {
		if a.State == "ready" || a.State == "degraded" {
			up++
		}
	}
	lines := []string{
		l.Pick("模型：", "Model: ") + model,
		l.Pick("今天的用量：", "Tokens today: ") + tokens,
		fmt.Sprintf(l.Pick("应用：%d 个，%d 个可用", "Apps: %d, %d of them up"), len(apps), up),
		fmt.Sprintf(l.Pick("其他正在进行的回答：%d", "Other answers under way: %d"), in.Running),
		fmt.Sprintf(l.Pick("本会话记得的轮数：%d", "Turns remembered in this session: %d"), in.Turns),
	}
	if in.Uncertain > 0 {
		lines = append(lines, fmt.Sprintf(l.Pick("今天有 %d 条回复不知是否送达（aurora trace 可查）", "Replies of today that may not have arrived: %d (see aurora trace)"), in.Uncertain))
	}
	return strings.Join(lines, "\n")
}

func (s *Set) sid(in Scene) string {
	l := s.Language
	none := l.Pick("（无）", "(none)")
	source := in.App
	if in.Instance != "" {
		source += " / " + in.Instance
	}
	return strings.Join([]string{
		l.Pick("会话：", "Session: ") + cmp.Or(in.Session, none),
		l.Pick("来源：", "Source: ") + cmp.Or(source, none),
		l.Pick("说话人：", "Sender: ") + cmp.Or(in.Sender, none),
	}, "\n")
}

// Unknown returns the answer to a command that means nothing.
func Unknown(x *Index, name string, near []Target, l brain.Language) string {
	text := fmt.Sprintf(l.Pick("没有 /%s 这个命令。", "There is no command /%s."), clip(strings.TrimLeft(name, "/／"), 60))
	if len(near) > 0 {
		return text + l.Pick("是不是想用：", " Did you mean:") + x.List(near)
	}
	return text + l.Pick("/help 显示全部命令。", " /help shows them all.")
}
