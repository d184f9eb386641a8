package reflex_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/reflex"
	"github.com/aurorabot/aurora/internal/call"
)

var (
	weather = brain.Tool{Canonical: "im.polaris.weather.get_weather", Alias: "im__polaris__weather__get_weather", Title: "查询天气", Enabled: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)}
	mail = brain.Tool{Canonical: "im.demo.mail.send", Alias: "im__demo__mail__send", Enabled: true}
	chat = brain.Tool{Canonical: "im.demo.chat.send", Alias: "im__demo__chat__send", Enabled: true}
	trip = brain.Prompt{Canonical: "im.demo.trip.plan", Arguments: []brain.PromptArgument{{Name: "place", Required: true}}}
)

// said is the request of a turn in which people said this.
func said(l brain.Language, texts ...string) llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "Be kind."}, {Role: llm.User, Content: strings.Join(texts, "\n")}},
		Turn:     1, Said: texts, Language: l,
		Tools: []brain.Tool{weather, mail, chat}, Prompts: []brain.Prompt{trip},
	}
}

func ask(t *testing.T, r llm.Request) llm.Answer {
	t.Helper()
	var told strings.Builder
	a, err := reflex.Model{}.Complete(t.Context(), r, func(s string) { told.WriteString(s) })
	if err != nil || told.String() != a.Text {
		t.Fatalf("%v; told %q, answered %q", err, told.String(), a.Text)
	}
	return a
}

func TestACommandCallsItsTool(t *testing.T) {
	a := ask(t, said("zh", "／ｗｅａｔｈｅｒ　上海，3"))
	if len(a.ToolCalls) != 1 || a.ToolCalls[0].Name != weather.Alias || a.ToolCalls[0].Arguments != `{"city":"上海","days":3}` || a.Text != "" {
		t.Errorf("%+v", a)
	}
}

func TestSeveralCommandsAreCalledTogether(t *testing.T) {
	a := ask(t, said("zh", "/weather 上海", "你好", "/weather 北京", "/plan Paris"))
	if len(a.ToolCalls) != 2 || a.ToolCalls[1].Arguments != `{"city":"北京"}` || len(a.Prompts) != 1 || string(a.Prompts[0].Arguments) != `{"place":"Paris"}` {
		t.Errorf("%+v", a)
	}
}

func TestAResultIsShownToPeople(t *testing.T) {
	for _, c := range []struct {
		result llm.Result
		want   string
	}{
		{llm.Result{Outcome: call.OK, Text: "上海：晴，31 ℃"}, "上海：晴，31 ℃"},
		{llm.Result{Outcome: call.OK, Text: `{"temp":31}`}, "{\n  \"temp\": 31\n}"},
		{llm.Result{Outcome: call.OK, Text: " "}, "get_weather 完成了，没有返回内容。"},
		{llm.Result{Outcome: call.ToolError, Text: "没有这个城市"}, "get_weather 报告了错误：没有这个城市"},
		{llm.Result{Outcome: call.Denied, Text: "switched off"}, "get_weather 没有被允许：switched off"},
		{llm.Result{Outcome: call.Waiting, Text: "approval 7"}, "get_weather 在等待批准：approval 7"},
		{llm.Result{Outcome: call.Unknown, Text: "the app died"}, "不知道是否已经生效"},
		{llm.Result{Outcome: call.Unavailable, Text: "not up"}, "get_weather 没有成功：not up"},
	} {
		r := said("zh", "/weather 上海")
		c.result.Tool = weather.Canonical
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.Tool, Content: "framed", Result: &c.result})
		if a := ask(t, r); !strings.Contains(a.Text, c.want) || a.ToolCalls != nil {
			t.Errorf("got  %s\nwant %s", a.Text, c.want)
		}
	}
}

func TestEveryResultAndEveryMistakeIsShown(t *testing.T) {
	r := said("en", "/weather Paris", "/send hi", "/weather", "/weather Rome")
	if a := ask(t, r); len(a.ToolCalls) != 2 {
		t.Fatalf("%+v", a)
	}
	for _, text := range []string{"sunny", "rain"} {
		r.Messages = append(r.Messages, llm.Message{Role: llm.Tool, Result: &llm.Result{Tool: weather.Canonical, Outcome: call.OK, Text: text}})
	}
	want := "/send may mean several commands; use one of:\n  /mail.send\n  /chat.send\n\n" +
		"Missing: city\nUsage: /weather <city> [days]\n查询天气\n  city  required\n  days  integer\nFull name: im.polaris.weather.get_weather\n\n" +
		"[get_weather]\nsunny\n\n[get_weather]\nrain"
	if a := ask(t, r); a.Text != want {
		t.Errorf("got  %s\nwant %s", a.Text, want)
	}
}

func TestAPromptIsShownAsItWasRendered(t *testing.T) {
	r := said("en", "/plan Paris")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.User, Content: "Plan a trip to Paris.", Prompt: trip.Canonical},
		llm.Message{Role: llm.Assistant, Content: "For how long?", Prompt: trip.Canonical})
	if a := ask(t, r); a.Text != "User: Plan a trip to Paris.\n\nAssistant: For how long?" {
		t.Error(a.Text)
	}
}

func TestWhatIsUnclearIsAskedAbout(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"/send hi", "/send 可以指好几个命令"},
		{"/wether 上海", "没有 /wether 这个命令。是不是想用：\n  /weather <city> [days]  查询天气"},
		{"/weather", "还缺：city\n用法：/weather <city> [days]"},
		{"/weather days=x", "参数不对：days: must be an integer"},
		{"/mail.send hello", "没有参数可以放“hello”。"},
	} {
		if a := ask(t, said("zh", c.text)); !strings.HasPrefix(a.Text, c.want) || a.ToolCalls != nil {
			t.Errorf("%s:\n%s", c.text, a.Text)
		}
	}
}

func TestPlainWordsGetAdviceOnceAtLength(t *testing.T) {
	for l, want := range map[brain.Language][]string{
		"zh": {"没有接上语言模型", "aurora.yml", "preset: deepseek", "api_key: ${DEEPSEEK_API_KEY}", "/help", "试试 /weather 上海"},
		"en": {"no language model", "aurora.yml", "preset: deepseek", "api_key: ${DEEPSEEK_API_KEY}", "/help", "try /weather Shanghai"},
	} {
		r := said(l, "今天天气怎么样")
		first := ask(t, r).Text
		for _, w := range want {
			if !strings.Contains(first, w) {
				t.Errorf("no %q in\n%s", w, first)
			}
		}
		r.Messages = append([]llm.Message{{Role: llm.User, Content: "hi"}, {Role: llm.Assistant, Content: first}}, r.Messages...)
		r.Turn += 2
		if again := ask(t, r).Text; strings.Count(again, "\n") > 0 || !strings.Contains(again, "/help") {
			t.Errorf("the second time:\n%s", again)
		}
	}
}

func TestAnEventWithoutWordsIsPassedOn(t *testing.T) {
	r := said("zh")
	r.Messages[1].Content = "[timer.triggered] 茶好了\n[alarm.triggered] 起床"
	if a := ask(t, r); a.Text != "茶好了\n起床" {
		t.Error(a.Text)
	}
}

func TestAPersonIsToldTheWordsOfAnEventAndNotItsData(t *testing.T) {
	for content, want := range map[string]string{
		`[alarm.triggered] 起床 {"alarm_id":"7","at":"07:00"}`:                         "起床",
		`[alarm.triggered] {"alarm_id":"7"}`:                                         `{"alarm_id":"7"}`,
		"[timer.triggered] 茶 {好} 了":                                                  "茶 {好} 了",
		"[message.reaction] 小明点了赞 {\"emoji\":\"👍\"}":                                 "",
		"[message.reaction]\n[alarm.triggered] 起床\n[message.reaction] {\"x\":\"y\"}": "起床",
	} {
		r := said("zh")
		r.Messages[1].Content = content
		if a := ask(t, r); a.Text != want {
			t.Errorf("%s is told as %q, want %q", content, a.Text, want)
		}
	}
}

func TestAGroupIsToldOnceThatThereIsNoModel(t *testing.T) {
	r := said("en", "good morning all")
	r.Group = true
	first := ask(t, r).Text
	if first == "" {
		t.Error("a group is told nothing")
	}
	r.Messages = append([]llm.Message{{Role: llm.User, Content: "hi"}, {Role: llm.Assistant, Content: first}}, r.Messages...)
	r.Turn += 2
	if again := ask(t, r).Text; again != "" {
		t.Errorf("the second time: %q", again)
	}
}

func TestTheFrontTakesCommandsAndLeavesTheRest(t *testing.T) {
	asked := false
	m := llm.Front(reflex.Model{}, model(func(r llm.Request) llm.Answer { asked = true; return llm.Answer{Text: "model"} }))
	prompted := said("zh", "/plan Paris")
	prompted.Messages = append(prompted.Messages, llm.Message{Role: llm.User, Content: "Plan!", Prompt: trip.Canonical})
	for _, c := range []struct {
		r     llm.Request
		model bool
	}{
		{said("zh", "/weather 上海"), false},
		{said("zh", "/wether 上海"), false},
		{said("zh", "/send x"), false},
		{said("zh", "/plan Paris"), false},
		{prompted, true},
		{said("zh", "你好"), true},
		{said("zh", "你好", "/weather 上海"), true},
		{said("zh", "/无关 的"), true},
		{said("zh"), true},
	} {
		asked = false
		if _, err := m.Complete(t.Context(), c.r, nil); err != nil || asked != c.model || llm.Costless(m, c.r) == c.model {
			t.Errorf("%q: the model was asked: %v, %v", c.r.Said, asked, err)
		}
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (reflex.Model{}).Complete(ctx, said("zh", "/weather 上海"), nil); err == nil {
		t.Error("it answered all the same")
	}
}

type model func(llm.Request) llm.Answer

func (m model) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Answer, error) {
	return m(r), nil
}

func TestACommandMayBelongToAnAppThatIsNotUp(t *testing.T) {
	r := said("en", "/files.list")
	r.Missing = []brain.App{{Key: "files", State: "starting"}}
	if a := ask(t, r); !strings.Contains(a.Text, "There is no command /files.list") || !strings.Contains(a.Text, "files (starting)") {
		t.Error(a.Text)
	}
}
