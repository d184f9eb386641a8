package commands

import (
	"context"
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/names"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a house with things in it and nobody to call.
type house struct {
	tools   []brain.Tool
	prompts []brain.Prompt
	apps    []brain.App
}

func (h house) Tools(context.Context) []brain.Tool          { return h.tools }
func (h house) Prompts(context.Context) []brain.Prompt      { return h.prompts }
func (h house) Apps(context.Context) []brain.App            { return h.apps }
func (h house) Call(context.Context, call.Call) call.Result { panic("nobody calls") }
func (h house) Prompt(context.Context, call.Caller, string, json.RawMessage) call.Result {
	panic("nobody asks")
}

func tool(canonical, title, schema string) brain.Tool {
	return brain.Tool{
		Canonical: canonical, Alias: names.Alias(canonical), Title: title, Description: "Does " + canonical + ".",
		Schema: json.RawMessage(schema), App: "app-" + canonical[:5], Enabled: true,
	}
}

// village is the house most tests look at.
func village() house {
	off := tool("im.demo.files.erase_all", "", `{}`)
	off.Enabled = false
	return house{
		tools: []brain.Tool{
			tool("im.polaris.weather.get_weather", "查询天气", `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`),
			tool("im.polaris.clock.set_alarm", "", `{"type":"object","properties":{"kind":{"enum":["once","every day"]},"time":{"type":"string"},"loud":{"type":"boolean"}},"required":["time"]}`),
			tool("im.polaris.clock.list_alarms", "", `{}`),
			tool("im.demo.mail.send_message", "", `{}`),
			tool("im.demo.chat.send_message", "", `{}`),
			tool("im.demo.mail.query_time", "", `{}`),
			tool("im.demo.mail.get_time", "", `{}`),
			tool("im.demo.mail.help", "", `{}`),
			tool("odd.日记 本", "写日记", `{}`),
			off,
		},
		prompts: []brain.Prompt{{
			Canonical: "im.demo.mail.plan_trip", Title: "Plan a trip", App: "app-im.de",
			Arguments: []brain.PromptArgument{{Name: "days"}, {Name: "place", Description: "Where to.", Required: true}},
		}},
		apps: []brain.App{{Key: "app-im.po", Package: "im.polaris.clock", State: "ready"}, {Key: "broken", State: "unavailable", Reason: "no such file"}},
	}
}
