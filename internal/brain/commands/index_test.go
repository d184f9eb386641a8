package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/brain"
)

func TestWhatIsACommand(t *testing.T) {
	for _, c := range []struct{ text, name, rest string }{
		{"/help", "help", ""},
		{" /help ", "help", ""},
		{"／ｗｅａｔｈｅｒ　上海", "weather", "上海"},
		{"/weather，上海，3", "weather", "上海，3"},
		{"/weather：上海", "weather", "上海"},
		{"/weather\n上海\n3", "weather", "上海\n3"},
		{"/im.polaris.weather.get_weather {\"city\":1}", "im.polaris.weather.get_weather", `{"city":1}`},
		{"/天气 上海", "天气", "上海"},
		{"\uFEFF/x", "x", ""},
		{"/", "help", ""},
		{" ／ ", "help", ""},
		{"//x", "", ""},
		{"/usr/bin", "", ""},
		{"/1", "", ""},
		{"/x=1", "", ""},
		{"/ x", "", ""},
		{"/help?", "", ""},
		{"help", "", ""},
		{"1/2", "", ""},
		{"", "", ""},
	} {
		line, ok := ParseLine(c.text)
		if line != (Line{c.name, c.rest}) || ok != (c.name != "") {
			t.Errorf("%q: %+v %v", c.text, line, ok)
		}
	}
}

// meaning says what a message means, in one line.
func meaning(x *Index, text string) string {
	r, ok := x.Read(text)
	list := func(targets []Target) string {
		var names []string
		for _, t := range targets {
			names = append(names, t.Name)
		}
		return strings.Join(names, " ")
	}
	switch {
	case !ok:
		return "no command"
	case r.Candidates != nil:
		return "several: " + list(r.Candidates)
	case r.Target == (Target{}):
		return strings.TrimSpace("unknown: " + list(r.Near))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s | %s", r.Target.Kind, r.Target.Name, r.Rest))
}

func TestWhatACommandMeans(t *testing.T) {
	v := village()
	x := NewIndex(v.tools, v.prompts)
	for _, c := range []struct{ text, want string }{
		{"/help", "builtin help |"},
		{"/HELP", "builtin help |"},
		{"/帮助", "builtin help |"},
		{"/weather 上海", "tool im.polaris.weather.get_weather | 上海"},
		{"/weather上海 3", "tool im.polaris.weather.get_weather | 上海 3"},
		{"/Weather", "tool im.polaris.weather.get_weather |"},
		{"/get_weather", "tool im.polaris.weather.get_weather |"},
		{"/get-weather", "tool im.polaris.weather.get_weather |"},
		{"/weather.get_weather", "tool im.polaris.weather.get_weather |"},
		{"/im.polaris.weather.get_weather", "tool im.polaris.weather.get_weather |"},
		{"/im__polaris__weather__get_weather", "tool im.polaris.weather.get_weather |"},
		{"/查询天气 上海", "tool im.polaris.weather.get_weather | 上海"},
		{"/mail.help", "tool im.demo.mail.help |"},
		{"/alarms", "tool im.polaris.clock.list_alarms |"},
		{"/plan_trip Paris", "prompt im.demo.mail.plan_trip | Paris"},
		{"/send_message hi", "several: im.demo.mail.send_message im.demo.chat.send_message"},
		{"/time", "several: im.demo.mail.query_time im.demo.mail.get_time"},
		{"/clock", "several: im.polaris.clock.set_alarm im.polaris.clock.list_alarms"},
		{"/erase_all", "tool im.demo.files.erase_all |"},
		{"/wether 上海", "unknown: im.polaris.weather.get_weather"},
		{"/halp", "unknown: help im.demo.mail.help"},
		{"/无关", "unknown:"},
		{"hello /help", "no command"},
	} {
		if got := meaning(x, c.text); got != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.text, got, c.want)
		}
	}
}

// A tool that is called just so wins over one whose name would have to be cut.
func TestAnExactNameBeatsAShortenedOne(t *testing.T) {
	x := NewIndex([]brain.Tool{tool("a.b.get_weather", "", `{}`), tool("c.d.weather", "", `{}`)}, nil)
	if got := meaning(x, "/weather"); got != "tool c.d.weather |" {
		t.Error(got)
	}
	if got := x.Short(x.Resolve("get_weather").Target); got != "/get_weather" {
		t.Error(got)
	}
}

func TestAToolAndAPromptOfOneName(t *testing.T) {
	x := NewIndex([]brain.Tool{tool("a.b.plan", "", `{}`)}, []brain.Prompt{{Canonical: "a.b.plan"}})
	if got := meaning(x, "/plan"); got != "tool a.b.plan |" {
		t.Error(got)
	}
}

func TestEveryTargetHasAShortNameThatMeansIt(t *testing.T) {
	v := village()
	x := NewIndex(v.tools, v.prompts)
	var got []string
	for _, target := range x.all {
		short := x.Short(target)
		r, ok := x.Read(short)
		if !ok || r.Target != target || r.Rest != "" {
			t.Errorf("%s is called %s, which means %s", target.Name, short, meaning(x, short))
		}
		got = append(got, short)
	}
	want := "/weather /set_alarm /alarms /mail.send_message /chat.send_message /query_time /get_time /mail.help"
	if !strings.HasPrefix(strings.Join(got, " "), want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestVerbsAreNotCutOutOfWords(t *testing.T) {
	for name, want := range map[string]string{
		"get_weather": "weather", "getWeather": "Weather", "list-alarms": "alarms", "getaway": "getaway", "get": "get",
		"get_": "get_", "listen": "listen", "readme": "readme", "GET_x": "x", "query_": "query_",
	} {
		if got := noun(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestStopIsSeenBeforeItIsRead(t *testing.T) {
	for text, want := range map[string]bool{"/stop": true, "／ＳＴＯＰ": true, "/停止": true, "/stop it": true, "stop": false, "/stopwatch": false} {
		if IsStop(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func FuzzRead(f *testing.F) {
	v := village()
	x := NewIndex(v.tools, v.prompts)
	for _, s := range []string{"/weather 上海", "／ｗｅａｔｈｅｒ，", "/a.b.c{", "/\xff", "/weather上海", "//", "/get_", "/日记\u3000本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := x.Read(text)
		if !ok {
			return
		}
		if r.Name == "" || strings.ContainsAny(r.Name, " \t\n/") {
			t.Errorf("%q is called %q", text, r.Name)
		}
		if r.Target != (Target{}) && (r.Candidates != nil || r.Near != nil) {
			t.Errorf("%q means one thing and several", text)
		}
		for cursor := range len(text) + 1 {
			for _, c := range x.Complete(text, cursor, "zh") {
				if c.From > c.To || c.To != cursor {
					t.Errorf("%q at %d: %+v", text, cursor, c)
				}
			}
		}
	})
}
