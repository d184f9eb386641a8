package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
)

func TestAnswers(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("", 8*3600))
	s := &Set{House: village(), Language: "zh", Zone: time.FixedZone("", 8*3600), Events: func(_ context.Context, most int) ([]Event, error) {
		return []Event{{at, "message.received", "im.polaris.qq", "小明：你好", "done"}, {at.Add(-time.Minute), "lifecycle.started", "im.polaris.qq", "", "pending"}}[:min(most, 2)], nil
	}}
	scene := Scene{Session: "group_1", App: "im.polaris.qq", Instance: "bot", Sender: "im.polaris.qq:42", Tokens: 1200, Limit: 5000, Turns: 3, Running: 1}
	en := &Set{House: s.House, Language: "en"}
	for _, c := range []struct {
		set        *Set
		name, rest string
		want       []string
	}{
		{s, Help, "", []string{"/help [NAME]  说明", "/stop", "/weather <city> [days]"}},
		{en, Help, "", []string{"Just talk", "/weather <city> [days]  查询天气"}},
		{en, Help, "", []string{"/tools lists them all", "/plan_trip <place> [days]  Plan a trip"}},
		{s, Help, "weather", []string{"用法：/weather <city> [days]", "city  必填", "days  integer", "im.polaris.weather.get_weather"}},
		{en, Help, "/plan_trip", []string{"Usage: /plan_trip <place> [days]", "place  required, Where to."}},
		{s, Help, "send_message", []string{"有好几个", "/mail.send_message", "/chat.send_message"}},
		{s, Help, "wether", []string{"没有 /wether 这个命令", "/weather <city> [days]"}},
		{en, Help, "nonsense", []string{"There is no command /nonsense", "/help", "These apps are not up, so their commands may not be known: broken (unavailable)."}},
		{s, Help, "stop", []string{"/stop\n停止正在进行的回答"}},
		{s, Tools, "", []string{"app-im.po：", "/weather <city> [days]  查询天气", "/erase_all", "（已关闭）", "/plan_trip"}},
		{s, Tools, "alarm", []string{"/set_alarm <time>", "/alarms"}},
		{s, Tools, "没有的", []string{"没有名字里带“没有的”的工具"}},
		{s, Apps, "", []string{"app-im.po  ready  3 个工具", "broken  unavailable  0 个工具  no such file"}},
		{en, Apps, "", []string{"app-im.po  ready  3 tools", "broken  unavailable  0 tools"}},
		{s, Events, "", []string{"01-01 00:29:00  pending  lifecycle.started  im.polaris.qq\n01-01 00:30:00  done  message.received  im.polaris.qq  小明：你好"}},
		{s, Events, "１", []string{"00:30:00"}},
		{s, Events, "x", []string{"用法"}},
		{en, Events, "", []string{"no events"}},
		{s, New, "", []string{"重新开始"}},
		{en, Stop, "", []string{"No answer is under way"}},
		{s, Status, "", []string{"没有配置", "1200 / 5000", "2 个，1 个可用", "轮数：3"}},
		{s, SID, "", []string{"会话：group_1", "im.polaris.qq / bot", "im.polaris.qq:42"}},
	} {
		got := c.set.Answer(t.Context(), c.name, c.rest, scene)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("/%s %s has no %q:\n%s", c.name, c.rest, want, got)
			}
		}
	}
}

func TestStopSaysWhetherItStoppedAnything(t *testing.T) {
	s := &Set{House: house{}, Language: "en"}
	if got := s.Answer(t.Context(), Stop, "", Scene{Stopped: true}); got != "Stopped." {
		t.Error(got)
	}
}

func TestEveryBuiltinAnswers(t *testing.T) {
	s := &Set{House: house{}, Language: "en", Events: func(context.Context, int) ([]Event, error) { return nil, errors.New("disk says no") }}
	for _, b := range builtins() {
		if got := s.Answer(t.Context(), b.name, "", Scene{}); got == "" {
			t.Errorf("/%s says nothing", b.name)
		}
	}
}

func TestAThousandToolsStayReadable(t *testing.T) {
	var h house
	for i := range 1000 {
		h.tools = append(h.tools, tool(fmt.Sprintf("im.demo.app%03d.get_thing", i), "", `{}`))
	}
	s := &Set{House: h, Language: "en"}
	got := s.Answer(t.Context(), Tools, "", Scene{})
	if n := strings.Count(got, "\n"); n > 70 || !strings.Contains(got, "And 940 more") {
		t.Errorf("%d lines:\n%s", n, got[len(got)-200:])
	}
	if got := s.Answer(t.Context(), Help, "thing", Scene{}); len(got) > 2000 {
		t.Error(len(got))
	}
}

func TestCompletions(t *testing.T) {
	v := village()
	x := NewIndex(v.tools, v.prompts)
	for _, c := range []struct{ line, want string }{ // the cursor is at |
		{"/he|", "/help /mail.help"},
		{"/wea|", "/weather"},
		{"/get_w|", "/weather"},
		{"/im.polaris.c|", "/alarms /set_alarm"},
		{"/查|", "/weather"},
		{"/er|", ""}, // switched off
		{"/weather |", "city= days="},
		{"/weather d|", "days="},
		{"/weather da| 上海", "days="},
		{"/weather city=上海 |", "days="},
		{"/weather city=上海，|", "days="},
		{"/set_alarm kind=|", `once "every day"`},
		{"/set_alarm kind=e|", `"every day"`},
		{"/set_alarm loud=t|", "true"},
		{"/plan_trip |", "place= days="},
		{"/help pl|", "plan_trip"},
		{"/status |", ""},
		{"/send_message |", ""},
		{"plain words|", ""},
		{"|/help", ""},
		{"／ｗｅ|", "/weather"},
	} {
		line, cursor := strings.Replace(c.line, "|", "", 1), strings.Index(c.line, "|")
		var got []string
		for _, candidate := range x.Complete(line, cursor, brain.Language("en")) {
			got = append(got, candidate.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.line, strings.Join(got, " "), c.want)
		}
	}
	if got := x.Complete("/help", 99, "en"); got != nil {
		t.Error(got)
	}
}

func TestACompletionReplacesWhatWasTyped(t *testing.T) {
	v := village()
	x := NewIndex(v.tools, v.prompts)
	line := " /weather da 上海"
	c := x.Complete(line, 12, "en")
	if len(c) != 1 || line[:c[0].From]+c[0].Text+line[c[0].To:] != " /weather days= 上海" {
		t.Errorf("%+v", c)
	}
}

// The list of commands has one form, wherever it is shown.
func TestFault15_CommandsHaveOneForm(t *testing.T) {
	s := &Set{House: village(), Language: "en"}
	x := s.Index(t.Context())
	for _, target := range x.all {
		if !target.enabled() {
			continue
		}
		short, usage := x.Short(target), x.Usage(target)
		for what, text := range map[string]string{
			"/help NAME": s.Answer(t.Context(), Help, target.Name, Scene{}),
			"/tools":     s.Answer(t.Context(), Tools, "", Scene{}),
			"a list":     x.List([]Target{target}),
		} {
			if !strings.Contains(text, usage) {
				t.Errorf("%s shows %s otherwise:\n%s", what, usage, text)
			}
		}
		found := false
		for _, c := range x.Complete(short, len(short), "en") {
			found = found || c.Text == short
		}
		if !found || !strings.HasPrefix(usage, short) {
			t.Errorf("%s is completed otherwise", short)
		}
	}
}

func TestAPromptThatIsCalledLikeAToolGivesWay(t *testing.T) {
	s := &Set{Language: "en", House: house{
		tools:   []brain.Tool{tool("im.demo.mail.plan", "", `{}`)},
		prompts: []brain.Prompt{{Canonical: "im.demo.mail.plan", App: "app-im.de"}},
	}}
	if got := s.Answer(t.Context(), Tools, "", Scene{}); strings.Count(got, "use aurora prompt") != 1 {
		t.Error(got)
	}
	if got := s.Answer(t.Context(), Help, "", Scene{}); strings.Count(got, "/plan") != 1 {
		t.Error(got)
	}
	if got := s.Complete(t.Context(), "/pl", 3); len(got) != 1 || got[0].Text != "/plan" {
		t.Errorf("%+v", got)
	}
}
