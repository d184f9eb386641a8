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
			switch {
			case !t.enabled():
				part += l.Pick("（已关闭）", " (switched off)")
			case !x.means(t):
				part += l.Pick("（与同名工具冲突，请用 aurora prompt）", " (a tool has the same name: use aurora prompt)")
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
		n := count[a.Key]
		lines[i] = fmt.Sprintf("%s  %s  %s", a.Key, a.State, l.Pick(fmt.Sprintf("%d 个工具", n), brain.Count(n, "tool")))
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
