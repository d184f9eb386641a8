package host

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/policy"
)

func TestT05NamesLeadWhereTheTablesSay(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		// "a.b" + "c" and "a" + "b.c" would be told apart by no separator.
		h.app("a", "tool b.c\ntool b.d\ntool x")
		h.app("a.b", "tool c\ntool e\ntool a.b.f\non tools/call\n  reply text from the second")
		h.open()

		// What is unique is found, whoever's package looks like a fit.
		wantOK(t, h.call("a.b.d", `{"first":1}`), "first")
		wantOK(t, h.call("a.b.e", ""), "from the second")
		wantOK(t, h.call("a.b.f", ""), "from the second")
		if got := h.last("a.b").params("tools/call"); !strings.Contains(strings.Join(got, " "), `"name":"a.b.f"`) {
			t.Errorf("the server got %q: its own name for the tool was changed", got)
		}

		// The one name that two tools have leads to neither of them.
		wantEnd(t, h.call("a.b.c", ""), call.ProtocolError, call.ToolAmbiguous, `"b.c" of app "a"`, `"c" of app "a.b"`)

		// Unknown names lead nowhere, never to the first app that fits.
		for _, name := range []string{"a.zzz", ".c", "a.", "", "a.b", "zzz.x"} {
			wantEnd(t, h.call(name, ""), call.ProtocolError, call.ToolUnknown)
		}
	})
}

func TestTwoAppsWithOneNameAreBothWithheld(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		one := h.app("one", "tool run\ntool mine\nprompt hi")
		two := h.app("two", "tool run\ntool other\nprompt hi")
		one.Package, two.Package = "im.demo", "im.demo"
		h.open()
		h.wantTools("im.demo.mine", "im.demo.other")
		for _, key := range []string{"one", "two"} {
			s := h.wantState(key, Degraded)
			if len(s.Warnings) != 2 || !strings.Contains(s.Warnings[1], "im.demo.run") && !strings.Contains(s.Warnings[0], "im.demo.run") {
				t.Errorf("app %s has the warnings %q", key, s.Warnings)
			}
			if s.Tools != 1 {
				t.Errorf("app %s shows %d tools, want 1", key, s.Tools)
			}
		}
		wantEnd(t, h.call("im.demo.run", ""), call.ProtocolError, call.ToolAmbiguous, "withheld", `app "one"`, `app "two"`)
		wantEnd(t, h.call("im__demo__run", ""), call.ProtocolError, call.ToolAmbiguous)
		wantEnd(t, h.Prompt(t.Context(), cli, "im.demo.hi", nil), call.ProtocolError, call.PromptUnknown)

		// When one of them is stopped the other has the name.
		if err := h.StopApp(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		h.wantState("one", Ready)
		h.wantTools("im.demo.mine", "im.demo.run")
		if r := h.call("im.demo.run", ""); r.App != "one" {
			t.Errorf("the call went to %q: %v", r.App, r.Err)
		}
	})
}

func TestAliasesThatMeetAreBothWithheld(t *testing.T) {
	a := newApp(New(Options{}), &config.App{Key: "a"}, "")
	tool := func(name, alias string) *Tool {
		return &Tool{Name: name, Upstream: name, Alias: alias, App: a.config(), owner: a}
	}
	x, y, z := tool("a.x", "same"), tool("a.y", "same"), tool("a.z", "other")
	c := join([]*part{{app: a.config(), tools: []*Tool{x, y, z}}})
	if got := c.Tools(); len(got) != 1 || got[0] != z {
		t.Errorf("%d tools are listed, want the one with its own alias", len(got))
	}
	for _, name := range []string{"a.x", "a.y", "same"} {
		if _, err := c.Resolve(name); err == nil || !strings.Contains(err.Error(), "same") {
			t.Errorf("resolving %s: %v", name, err)
		}
	}
}

func TestNamesAreResolvedInAllForms(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		w := h.app("weather", "tool get_weather\ntool ping\ntool im.polaris.weather.get_tide")
		w.Package = "im.polaris.weather"
		h.app("other", "tool ping\ntool 天气")
		h.open()
		for name, want := range map[string]string{
			"im.polaris.weather.get_weather":     "im.polaris.weather.get_weather",
			"im__polaris__weather__get_weather":  "im.polaris.weather.get_weather",
			"get_weather":                        "im.polaris.weather.get_weather",
			"im.polaris.weather.get_tide":        "im.polaris.weather.get_tide",
			"get_tide":                           "im.polaris.weather.get_tide", // the server put the package there itself
			"天气":                                 "other.天气",
			h.Catalog().byName["other.天气"].Alias: "other.天气",
		} {
			if r := h.call(name, ""); r.Tool != want || r.Outcome != call.OK {
				t.Errorf("%s led to %s: %s %v", name, r.Tool, r.Outcome, r.Err)
			}
		}
		wantEnd(t, h.call("ping", ""), call.ProtocolError, call.ToolAmbiguous, "im.polaris.weather.ping", "other.ping")
		wantEnd(t, h.call("get_wether", ""), call.ProtocolError, call.ToolUnknown, "Did you mean im.polaris.weather.get_weather?")
		wantEnd(t, h.call("Get_Weather", ""), call.ProtocolError, call.ToolUnknown, "Did you mean im.polaris.weather.get_weather?")
		wantEnd(t, h.call("im.polaris.weather.GET_WEATHER", ""), call.ProtocolError, call.ToolUnknown)
		if n := len(h.last("weather").params("tools/call")); n != 5 {
			t.Errorf("%d calls reached the server, want 5: near names are suggested, never called", n)
		}
	})
}

func TestC10ABrokenToolIsSetAside(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool normal
tool newer {"title":"New","_meta":{"x":1},"icons":[{"src":"data:,"}],"annotations":{"readOnlyHint":true,"mood":"good"},"execution":{"taskSupport":"optional"}}
tool raw {"inputSchema":{"type":"object"}}
tool raw {"name":"string-schema","inputSchema":"x"}
tool raw {"name":"odd-description","description":{"en":"x"},"inputSchema":{}}
tool raw {"name":"no-schema"}
tool raw {"name":"null-schema","inputSchema":null}
tool raw "just a string"
tool raw {"name":7,"inputSchema":{}}
tool raw {"Name":"wrong-case","inputSchema":{}}
`)
		h.open()
		h.wantTools("demo.newer", "demo.no-schema", "demo.normal", "demo.null-schema")
		s := h.wantState("demo", Ready)
		if len(s.Warnings) != 6 {
			t.Errorf("%d warnings, want 6: %q", len(s.Warnings), s.Warnings)
		}
		all := strings.Join(s.Warnings, "\n")
		for _, want := range []string{"no name", `"string-schema"`, "inputSchema is not an object", "description is not a string", "not an object", "name is not a string"} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is missing in the warnings %q", want, s.Warnings)
			}
		}
		wantOK(t, h.call("demo.no-schema", ""), "{}")
		newer := h.Catalog().byName["demo.newer"]
		if newer.Title != "New" || newer.Risk != policy.Low || newer.TaskRequired || !strings.Contains(string(newer.Annotations), `"mood":"good"`) {
			t.Errorf("the newer tool is %s, risk %s", newer.Definition, newer.Risk)
		}
	})
}

func TestT09OfTwoEqualNamesTheFirstIsKept(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool run {"description":"the first"}
tool run {"description":"the second"}
resource demo://x {"title":"first"}
resource demo://x {"title":"second"}
`)
		h.open()
		h.wantTools("demo.run")
		if d := h.Catalog().Tools()[0].Description; d != "the first" {
			t.Errorf("%q was kept", d)
		}
		if r := h.Catalog().Resources(); len(r) != 1 || r[0].Title != "first" {
			t.Errorf("resources: %+v", r)
		}
		s := h.wantState("demo", Ready)
		if len(s.Warnings) != 2 || !strings.Contains(s.Warnings[0], `"run" is listed twice`) {
			t.Errorf("warnings: %q", s.Warnings)
		}
	})
}

func TestT07AllPagesAreRead(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "page 2\ntool a\ntool b\ntool c\ntool d\ntool e\ntool f\nprompt p\nprompt q\nprompt r\nresource x://1\nresource x://2\nresource x://3")
		h.open()
		h.wantTools("demo.a", "demo.b", "demo.c", "demo.d", "demo.e", "demo.f")
		if n := len(h.Catalog().Prompts()); n != 3 {
			t.Errorf("%d prompts, want 3", n)
		}
		if n := len(h.Catalog().Resources()); n != 3 {
			t.Errorf("%d resources, want 3", n)
		}
	})
}

func TestDefinitionsAreTheServersOwnTokens(t *testing.T) {
	const definition = `{"zzz":1e400,"name":"big","inputSchema":{"type":"object","properties":{"n":{"maximum":12345678901234567890,"x-é":"\u00e9<>&"}},"b":1.0,"a":null},"_meta":{"k":[1,2.50]}}`
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool raw "+definition)
		h.open()
		tool := h.Catalog().Tools()[0]
		if string(tool.Definition) != definition {
			t.Errorf("the definition is\n%s\nwant\n%s", tool.Definition, definition)
		}
		if want := `{"type":"object","properties":{"n":{"maximum":12345678901234567890,"x-é":"\u00e9<>&"}},"b":1.0,"a":null}`; string(tool.InputSchema) != want {
			t.Errorf("the schema is %s", tool.InputSchema)
		}
	})
}

func TestTheOrderOfTheCatalogIsStable(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("zebra", "tool c\ntool a\ntool b\non tools/list #2\n  reply {\"tools\":[{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}]}\non tools/call a\n  notify notifications/tools/list_changed\n  reply {}")
		h.app("ant", "tool z\ntool y")
		h.open()
		h.wantTools("zebra.a", "zebra.b", "zebra.c", "ant.y", "ant.z")
		before := h.Catalog()

		// A server that shuffles its list has not changed it.
		h.call("zebra.a", "")
		h.pass(refreshGapCap)
		if n := h.last("zebra").received("tools/list"); n != 2 {
			t.Fatalf("%d lists were read, want 2", n)
		}
		if h.Catalog() != before || len(h.ofKind(SignalChanged)) > 0 {
			t.Error("another order was taken for a change")
		}
	})
}

func TestEachRiskHasItsReason(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", `
tool configured {"annotations":{"readOnlyHint":true}}
tool reads {"annotations":{"readOnlyHint":true}}
tool writes {"annotations":{"destructiveHint":false}}
tool odd {"annotations":{"readOnlyHint":"yes"}}
tool silent
`)
		c.Tools = map[string]config.ToolPermission{"demo.configured": {Risk: "critical"}}
		h.open()
		var got []string
		for _, tool := range h.Catalog().Tools() {
			got = append(got, tool.Upstream+"="+string(tool.Risk))
		}
		want := []string{"configured=critical", "odd=high", "reads=low", "silent=high", "writes=medium"}
		if !slices.Equal(got, want) {
			t.Errorf("risks are %q, want %q", got, want)
		}
	})
}

func TestToolsThatDidNotChangeAreKept(t *testing.T) {
	a := newApp(New(Options{}), appConfig("demo"), "")
	items := make([]json.RawMessage, 1000)
	for i := range items {
		items[i] = json.RawMessage(`{"name":"tool_` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + `","inputSchema":{"type":"object"}}`)
	}
	tools, warned := a.decodeTools(a.config(), items, nil)
	if len(warned) > 0 || len(tools) != 1000 {
		t.Fatalf("%d tools, warnings %q", len(tools), warned)
	}
	again, _ := a.decodeTools(a.config(), items, tools)
	if !slices.Equal(tools, again) {
		t.Error("tools that did not change were made anew")
	}
}

func TestURITemplatesMatchWhatTheyCanMake(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"file:///{name}", "file:///a.txt", true},
		{"file:///{name}", "file:///", false},
		{"file:///{name}", "file:///a/b.txt", false},
		{"file:///{+path}", "file:///a/b.txt", true},
		{"demo://{a}/x/{b}", "demo://1/x/2", true},
		{"demo://{a}/x/{b}", "demo://1/y/2", false},
		{"demo://(.*)", "demo://anything", false},
		{"demo://x{?q}", "demo://x?q=1", true},
		{"demo://x", "demo://x", true},
		{"demo://x", "demo://xy", false},
	} {
		p := templatePattern(c.template)
		if p == nil {
			t.Errorf("%s cannot be matched", c.template)
		} else if got := p.MatchString(c.uri); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.template, c.uri, got, c.want)
		}
	}
	for _, bad := range []string{"demo://{", "demo://{}", strings.Repeat("x", maxTemplate+1)} {
		if templatePattern(bad) != nil {
			t.Errorf("%.20s is no template", bad)
		}
	}
}

// A permission with a mistyped name protects nothing, so it is told.
func TestToolsThatAreSpokenOfButNotListed(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		off := false
		c := h.app("demo", "tool delete_all\ntool find\n")
		c.ManifestTools = []string{"demo.find", "demo.write"}
		c.Tools = map[string]config.ToolPermission{
			"demo.write":      {Risk: "low"},
			"demo.delete_all": {Enabled: &off},
			"demo.delte_all":  {Enabled: &off},
		}
		h.open()
		s := h.wantState("demo", Ready)
		if want := []string{
			`The manifest names the tool "demo.write", which the server does not list.`,
			`The permissions name the tool "demo.delte_all", which the server does not list.`,
		}; !slices.Equal(s.Warnings, want) {
			t.Errorf("warnings %q", s.Warnings)
		}

		// When the file is mended, the warning is gone.
		mended := *c
		mended.ManifestTools = mended.ManifestTools[:1]
		mended.Tools = map[string]config.ToolPermission{"demo.delete_all": {Enabled: &off}}
		h.reloadTo(nil, &mended)
		if s := h.wantState("demo", Ready); len(s.Warnings) > 0 {
			t.Errorf("warnings %q", s.Warnings)
		}
	})
}
