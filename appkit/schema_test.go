package appkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/aurorabot/aurora/appkit"
	"github.com/google/jsonschema-go/jsonschema"
	independent "github.com/santhosh-tekuri/jsonschema/v6"
)

// definitions lists the tools of an app by name.
func definitions(t *testing.T, app *appkit.App) map[string]map[string]json.RawMessage {
	t.Helper()
	p := serve(t, app)
	p.handshake("2025-11-25")
	var list struct{ Tools []map[string]json.RawMessage }
	if err := json.Unmarshal(p.request("tools/list", `{}`).Result, &list); err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]map[string]json.RawMessage)
	for _, tool := range list.Tools {
		byName[string(bytes.Trim(tool["name"], `"`))] = tool
	}
	return byName
}

func TestInputSchemaIsClosedAndTellsTheLimits(t *testing.T) {
	type step struct {
		To string `json:"to"`
	}
	type journey struct {
		Steps []step   `json:"steps" jsonschema:"where to"`
		Speed *float64 `json:"speed,omitempty" appkit:"max=300"`
		Class string   `json:"class,omitempty" appkit:"enum=first|second,default=second"`
	}
	travel := appkit.NewTool(appkit.ToolInfo{
		Name: "travel",
		Arguments: func(s *jsonschema.Schema) {
			s.Properties["speed"].Description = "in km/h"
		},
	}, func(context.Context, journey) (string, any, error) { return "", nil, nil })

	got := definitions(t, greeter(travel))["org.example.greeter.travel"]["inputSchema"]
	wantJSON(t, got, `{
		"type": "object",
		"properties": {
			"steps": {"type": "array", "description": "where to", "items": {
				"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"], "additionalProperties": false}},
			"speed": {"type": "number", "maximum": 300, "description": "in km/h"},
			"class": {"type": "string", "enum": ["first", "second"], "default": "second"}
		},
		"required": ["steps"],
		"additionalProperties": false
	}`)
}

func TestFaultsInNestedArgumentsAreLocated(t *testing.T) {
	type step struct {
		To string `json:"to"`
	}
	walk := appkit.NewTool(appkit.ToolInfo{Name: "walk"}, func(context.Context, struct {
		Steps []step `json:"steps"`
	}) (string, any, error) {
		return "", nil, nil
	})
	p := serve(t, greeter(walk))
	p.handshake("2025-11-25")
	a := p.call("org.example.greeter.walk", `{"steps":[{"to":"here"},{"to":1},{}]}`)
	if a.Error == nil || a.Error.Message != "invalid arguments: steps[1].to: must be a string, not 1; steps[2].to: is required" {
		t.Errorf("got %+v", a.Error)
	}
}

func TestToolWithoutParametersHasExactlyTheEmptySchema(t *testing.T) {
	ping := appkit.NewTool(appkit.ToolInfo{Name: "ping"}, func(context.Context, struct{}) (string, any, error) { return "", nil, nil })
	app := greeter(ping)
	got := definitions(t, app)["org.example.greeter.ping"]["inputSchema"]
	if string(got) != `{"type":"object","additionalProperties":false}` {
		t.Errorf("got %s", got)
	}

	p := serve(t, app)
	p.handshake("2025-11-25")
	p.resultOf(p.request("tools/call", `{"name":"org.example.greeter.ping"}`))
	p.resultOf(p.call("org.example.greeter.ping", `{}`))
	if a := p.call("org.example.greeter.ping", `{"x":1}`); a.Error == nil || a.Error.Message != "invalid arguments: x: is unknown (there are none)" {
		t.Errorf("got %+v", a.Error)
	}
}

func TestHintsAreStatedOrLeftOut(t *testing.T) {
	silent := appkit.NewTool(appkit.ToolInfo{Name: "silent"}, func(context.Context, struct{}) (string, any, error) { return "", nil, nil })
	tools := definitions(t, greeter(silent))
	if got, there := tools["org.example.greeter.silent"]["annotations"]; there {
		t.Errorf("a tool without hints says %s", got)
	}
	wantJSON(t, tools["org.example.greeter.greet"]["annotations"],
		`{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`)
}

func TestBothResultsFitTheOutputSchema(t *testing.T) {
	app := greeter()
	raw := definitions(t, app)["org.example.greeter.greet"]["outputSchema"]
	doc, err := independent.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := independent.NewCompiler()
	if err := compiler.AddResource("mem:out", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("mem:out")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text []byte) error {
		value, err := independent.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}

	p := serve(t, app)
	p.handshake("2025-11-25")
	for _, arguments := range []string{`{"name":"Ann"}`, `{"name":"nobody"}`} {
		r := p.resultOf(p.call("org.example.greeter.greet", arguments))
		if err := validate(r.StructuredContent); err != nil {
			t.Errorf("%s: %v", r.StructuredContent, err)
		}
	}
	for _, wrong := range []string{
		`{}`, `{"ok":true}`, `{"ok":true,"data":7}`, `{"ok":false,"error_code":"X"}`, `[]`,
		`{"ok":false,"data":{"words":[],"note":null}}`,
	} {
		if validate([]byte(wrong)) == nil {
			t.Errorf("%s fits the output schema", wrong)
		}
	}
}
