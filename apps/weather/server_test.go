package weather_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/weather"
	"github.com/aurorabot/aurora/apps/weather/weathertest"
	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// run runs the app against a provider played by the server and returns the
// streams to talk to it. It ends with the test.
func run(t *testing.T, server *weathertest.Server, startup string) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	if server != nil {
		startup = strings.TrimSuffix(startup, "}")
		if startup != "{" {
			startup += ","
		}
		startup += fmt.Sprintf(`"base_url":%q}`, server.URL)
	}
	inside, outside := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- weather.Run(t.Context(), appkit.Process{
			Stdin: inside, Stdout: inside, Stderr: io.Discard, Environ: []string{"AURORA_APP_STARTUP=" + startup},
		})
		inside.Close()
	}()
	t.Cleanup(func() {
		outside.Close()
		if err := <-done; err != nil {
			t.Errorf("the app ended with %v", err)
		}
	})
	return outside, outside
}

// connect opens a session with the official SDK's client.
func connect(t *testing.T, server *weathertest.Server, startup, version string) *mcp.ClientSession {
	t.Helper()
	in, out := run(t, server, startup)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// onlyTool returns the app's one tool.
func onlyTool(t *testing.T, session *mcp.ClientSession) *mcp.Tool {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("got %v, %v, want one tool", list, err)
	}
	return list.Tools[0]
}

func call(t *testing.T, session *mcp.ClientSession, arguments string) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "im.polaris.weather.get_weather", Arguments: json.RawMessage(arguments),
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func text(result *mcp.CallToolResult) string { return result.Content[0].(*mcp.TextContent).Text }

func TestTheOfficialClientIsServedInEveryVersion(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			session := connect(t, server, "{}", version)
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s", got)
			}
			if tool := onlyTool(t, session); tool.Name != "im.polaris.weather.get_weather" {
				t.Errorf("the tool is called %s", tool.Name)
			}
			result := call(t, session, `{"city":"上海","days":2}`)
			if result.IsError || !strings.HasPrefix(text(result), "上海（中国上海市）：现在 12.3°C，小雨") {
				t.Errorf("got %s", text(result))
			}
		})
	}
}

func TestRawLines(t *testing.T) {
	server := weathertest.NewServer(t)
	in, out := run(t, server, "{}")
	lines := bufio.NewReader(out)
	ask := func(line string) (answer struct {
		ID     int
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    struct{ Field string }
		}
	}) {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		raw, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		return answer
	}

	a := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	for _, want := range []string{`"capabilities":{"tools":{}}`, `"name":"im.polaris.weather"`, `"protocolVersion":"2025-11-25"`} {
		if !bytes.Contains(a.Result, []byte(want)) {
			t.Errorf("initialize answers %s, without %s", a.Result, want)
		}
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if a = ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !bytes.Contains(a.Result, []byte(`"additionalProperties":false`)) {
		t.Errorf("tools/list answers %s", a.Result)
	}
	a = ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"im.polaris.weather.get_weather","arguments":{"city":"北京"}}}`)
	if a.Error != nil || !bytes.Contains(a.Result, []byte(`"structuredContent":{"ok":true,"data":{"city":"北京市"`)) {
		t.Errorf("a call answers %s %v", a.Result, a.Error)
	}
	for arguments, field := range map[string]string{
		`{"city":"北京","days":8}`: "arguments.days", `{"city":"北京","days":"two"}`: "arguments.days", `{}`: "arguments.city",
		`{"city":7}`: "arguments.city", `{"city":"北京","country":"CN"}`: "arguments.country",
	} {
		a = ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"im.polaris.weather.get_weather","arguments":%s}}`, arguments))
		if a.Error == nil || a.Error.Code != -32602 || a.Error.Data.Field != field {
			t.Errorf("%s: got %s %+v, want -32602 about %s", arguments, a.Result, a.Error, field)
		}
	}
	a = ask(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"im.polaris.weather.get_wether","arguments":{"city":"北京"}}}`)
	if a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("an unknown tool: got %s %+v", a.Result, a.Error)
	}
	if a = ask(`{"jsonrpc":"2.0","id":6,"method":"resources/list"}`); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("resources, which are not declared: got %s", a.Result)
	}
}

func TestFailuresAreResultsThatTheModelCanActOn(t *testing.T) {
	server := weathertest.NewServer(t)
	session := connect(t, server, `{"timeout_seconds":1}`, "2025-11-25")
	for _, c := range []struct {
		city, code string
		retryable  bool
		candidates int
	}{
		{"朝阳", "CITY_AMBIGUOUS", false, 2},
		{"某某城", "CITY_UNKNOWN", false, 0},
		{" ", "ARGUMENTS_INVALID", false, 0},
		{"限流", "WEATHER_RATE_LIMITED", true, 0},
		{"网页", "WEATHER_PROVIDER_UNAVAILABLE", true, 0},
		{"慢城", "WEATHER_PROVIDER_TIMEOUT", true, 0},
	} {
		result := call(t, session, fmt.Sprintf(`{"city":%q}`, c.city))
		raw, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			OK        *bool
			ErrorCode string `json:"error_code"`
			Message   string
			Retryable bool
			Data      struct {
				Candidates []struct{ Name, Query, Admin1 string }
			}
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if !result.IsError || got.OK == nil || *got.OK || got.ErrorCode != c.code || got.Retryable != c.retryable ||
			len(got.Data.Candidates) != c.candidates || got.Message != text(result) {
			t.Errorf("%q: got %s with text %q, isError %v", c.city, raw, text(result), result.IsError)
		}
	}
}

func TestResultsFitTheOutputSchema(t *testing.T) {
	server := weathertest.NewServer(t)
	session := connect(t, server, "{}", "2025-11-25")
	compiler := jsonschema.NewCompiler()
	raw, err := json.Marshal(onlyTool(t, session).OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("mem:out", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("mem:out")
	if err != nil {
		t.Fatal(err)
	}
	for _, city := range []string{"上海", "泗县", "朝阳", "兰州安宁区", "某某城"} {
		raw, err := json.Marshal(call(t, session, fmt.Sprintf(`{"city":%q,"days":7}`, city)).StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", city, err, raw)
		}
	}
}

func TestTheToolSpeaksTheConfiguredLanguage(t *testing.T) {
	for startup, want := range map[string][3]string{
		`{"language":"zh"}`: {"查询天气", "查询一个城市现在的天气", "城市名，"},
		`{"language":"en"}`: {"Get weather", "Tells the weather of a city", "Name of the city,"},
	} {
		tool := onlyTool(t, connect(t, nil, startup, "2025-11-25"))
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if tool.Title != want[0] || !strings.HasPrefix(tool.Description, want[1]) || !bytes.Contains(schema, []byte(want[2])) {
			t.Errorf("%s: %s, %s, %s", startup, tool.Title, tool.Description, schema)
		}
		if a := tool.Annotations; !a.ReadOnlyHint || !*a.OpenWorldHint || *a.DestructiveHint {
			t.Errorf("annotations are %+v", a)
		}
	}
}

func TestTheCityIsRequiredUnlessThereIsADefault(t *testing.T) {
	server := weathertest.NewServer(t)
	input := func(tool *mcp.Tool) string {
		raw, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	without := input(onlyTool(t, connect(t, server, "{}", "2025-11-25")))
	if !strings.Contains(without, `"required":["city"]`) {
		t.Errorf("without a default: %s", without)
	}
	session := connect(t, server, `{"default_city":"北京"}`, "2025-11-25")
	if with := input(onlyTool(t, session)); strings.Contains(with, "required") || !strings.Contains(with, "不填则查询北京。") {
		t.Errorf("with a default: %s", with)
	}
	for _, arguments := range []string{`{}`, `{"city":" "}`} {
		if got := text(call(t, session, arguments)); !strings.HasPrefix(got, "北京市（中国）：") {
			t.Errorf("%s: got %s", arguments, got)
		}
	}
}

func TestTheManifestAgreesWithTheServer(t *testing.T) {
	var manifest struct {
		Package  string
		Name     string
		Version  string
		Type     string
		MCP      struct{ Command []string }
		Commands []struct{ Name, Risk string }
	}
	if err := yaml.Unmarshal(weather.Manifest(), &manifest); err != nil {
		t.Fatal(err)
	}
	session := connect(t, nil, "{}", "2025-11-25")
	server := session.InitializeResult().ServerInfo
	if manifest.Package != weather.Package || server.Name != weather.Package ||
		manifest.Version != server.Version || manifest.Name != server.Title || manifest.Type != "mcp-server" {
		t.Errorf("the manifest says %+v, the server %+v", manifest, server)
	}
	if got := strings.Join(manifest.MCP.Command, " "); got != "aurora app run weather" {
		t.Errorf("the command is %s", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := make(map[string]bool)
	for _, tool := range list.Tools {
		tools[tool.Name] = true
	}
	for _, command := range manifest.Commands {
		if !tools[manifest.Package+"."+command.Name] {
			t.Errorf("the server has no tool %s", command.Name)
		}
		if command.Risk != "low" {
			t.Errorf("%s has the risk %q", command.Name, command.Risk)
		}
	}
	if len(manifest.Commands) != len(tools) {
		t.Errorf("the manifest lists %d commands, the server %d tools", len(manifest.Commands), len(tools))
	}
}

func TestAnEndedContextEndsTheApp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	if err := weather.Run(ctx, appkit.Process{Stdin: r, Stdout: io.Discard, Stderr: io.Discard, Environ: []string{}}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAReportIsToldAsAnEventIfTheKeeperWants(t *testing.T) {
	dir := t.TempDir()
	server := weathertest.NewServer(t)
	inside, outside := net.Pipe()
	served := make(chan error)
	go func() {
		served <- weather.Run(t.Context(), appkit.Process{
			Stdin: inside, Stdout: inside, Stderr: io.Discard,
			Environ: []string{
				"AURORA_APP_PACKAGE=" + weather.Package, "AURORA_APP_DATA_DIR=" + dir,
				fmt.Sprintf(`AURORA_APP_STARTUP={"emit_event":true,"language":"zh","base_url":%q}`, server.URL),
			},
		})
	}()
	lines := bufio.NewScanner(outside)
	say := func(line string) {
		if _, err := io.WriteString(outside, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	lines.Scan()
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"im.polaris.weather.get_weather","arguments":{"city":"上海"}}}`)
	var event *amp.Emission
	for lines.Scan() && event == nil {
		var m struct {
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "aurora/event" {
			var err error
			if event, err = amp.ParseEmission(m.Params); err != nil {
				t.Fatal(err)
			}
		}
	}
	var report weather.Report
	if err := json.Unmarshal(event.Data, &report); err != nil || event.Type != weather.EventReported || report.City != "上海" || !strings.HasPrefix(report.Text, event.Summary) {
		t.Errorf("%+v, %v", event, err)
	}
	outside.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
