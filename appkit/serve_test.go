package appkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/aurorabot/aurora/appkit"
)

type greeting struct {
	Name  string `json:"name" jsonschema:"whom to greet" appkit:"maxLength=10"`
	Times int    `json:"times,omitempty" jsonschema:"how often" appkit:"min=1,max=3,default=1"`
	Tone  string `json:"tone,omitempty" appkit:"enum=warm|cool"`
}

type greeted struct {
	Words []string `json:"words"`
	Note  *string  `json:"note"`
}

// greeter is the app most tests serve.
func greeter(more ...appkit.Tool) *appkit.App {
	greet := appkit.NewTool(appkit.ToolInfo{
		Name: "greet", Title: "Greet", Description: "Greets somebody.", Hints: &appkit.Hints{ReadOnly: true},
	}, func(_ context.Context, in greeting) (string, greeted, error) {
		if in.Name == "nobody" {
			return "", greeted{}, &appkit.Failure{
				Code: "NOBODY", Message: "Nobody is there.", Retryable: true, Text: "没有人。",
				Data: map[string]any{"candidates": []string{"Ann"}},
			}
		}
		words := make([]string, in.Times)
		for i := range words {
			words[i] = "hello <" + in.Name + ">"
		}
		return strings.Join(words, " "), greeted{Words: words}, nil
	})
	return &appkit.App{
		Package: "org.example.greeter", Title: "Greeter", Version: "1.2.3", Instructions: "Be polite.",
		Tools: append([]appkit.Tool{greet}, more...),
	}
}

func TestHandshakeDeclaresToolsAndNothingElse(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			p := serve(t, greeter())
			var got struct {
				ProtocolVersion string
				Capabilities    map[string]json.RawMessage
				ServerInfo      struct{ Name, Title, Version string }
				Instructions    string
			}
			if err := json.Unmarshal(p.handshake(version), &got); err != nil {
				t.Fatal(err)
			}
			if got.ProtocolVersion != version {
				t.Errorf("negotiated %s, want %s", got.ProtocolVersion, version)
			}
			if len(got.Capabilities) != 1 || string(got.Capabilities["tools"]) != "{}" {
				t.Errorf("declares %v, want plain tools only", got.Capabilities)
			}
			if got.ServerInfo.Name != "org.example.greeter" || got.ServerInfo.Title != "Greeter" ||
				got.ServerInfo.Version != "1.2.3" || got.Instructions != "Be polite." {
				t.Errorf("introduces itself as %+v, %q", got.ServerInfo, got.Instructions)
			}
		})
	}
}

func TestResultHasTheOneShapeWithTextBesideIt(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")

	r := p.resultOf(p.call("org.example.greeter.greet", `{"name":"Ann","times":2}`))
	if r.IsError || r.Content[0].Text != "hello <Ann> hello <Ann>" {
		t.Errorf("got %+v", r)
	}
	wantJSON(t, r.StructuredContent, `{"ok":true,"data":{"words":["hello <Ann>","hello <Ann>"],"note":null}}`)
}

func TestBusinessFailureIsAResultWithIsError(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")

	r := p.resultOf(p.call("org.example.greeter.greet", `{"name":"nobody"}`))
	if !r.IsError || r.Content[0].Text != "没有人。" {
		t.Errorf("got %+v", r)
	}
	wantJSON(t, r.StructuredContent,
		`{"ok":false,"error_code":"NOBODY","message":"Nobody is there.","retryable":true,"data":{"candidates":["Ann"]}}`)
}

func TestArgumentsThatBreakTheSchemaAreInvalidParams(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")
	for _, c := range []struct{ arguments, want, field string }{
		{`{}`, "name: is required", "arguments.name"},
		{`{"name":7}`, "name: must be a string of at most 10 characters, not 7", "arguments.name"},
		{`{"name":"Ann","times":4}`, "times: must be a whole number from 1 to 3, not 4", "arguments.times"},
		{`{"name":"Ann","times":1.5}`, "times: must be a whole number from 1 to 3, not 1.5", "arguments.times"},
		{`{"name":"Ann","times":"2"}`, `times: must be a whole number from 1 to 3, not "2"`, "arguments.times"},
		{`{"name":"Ann","tone":"loud"}`, `tone: must be one of "warm", "cool", not "loud"`, "arguments.tone"},
		{`{"name":"Ann","nmae":1}`, "nmae: is unknown (known: name, times, tone)", "arguments.nmae"},
		{`{"times":0}`, "name: is required; times: must be a whole number from 1 to 3, not 0", "arguments.name"},
		{`[1]`, "arguments: must be an object, not [1]", "arguments"},
		{`{"name":"Ann","times":1e400}`, `times: must be a whole number from 1 to 3, not "1e400"`, "arguments.times"},
	} {
		a := p.call("org.example.greeter.greet", c.arguments)
		if a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%s: got %s %v, want error -32602", c.arguments, a.Result, a.Error)
			continue
		}
		if a.Error.Message != "invalid arguments: "+c.want {
			t.Errorf("%s: says %q, want %q", c.arguments, a.Error.Message, c.want)
		}
		var data struct {
			ErrorCode string `json:"error_code"`
			Field     string
		}
		if err := json.Unmarshal(a.Error.Data, &data); err != nil || data.ErrorCode != "ARGUMENTS_INVALID" || data.Field != c.field {
			t.Errorf("%s: data is %s", c.arguments, a.Error.Data)
		}
	}
}

func TestArgumentsAreForgivingWhereTheMeaningIsClear(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")
	for arguments, want := range map[string]string{
		`{"name":"Ann"}`:             "hello <Ann>",             // the default
		`{"name":"Ann","times":2.0}`: "hello <Ann> hello <Ann>", // a whole number, however written
		`{"name":"Ann","times":2e0}`: "hello <Ann> hello <Ann>",
	} {
		if r := p.resultOf(p.call("org.example.greeter.greet", arguments)); r.Content[0].Text != want {
			t.Errorf("%s: got %q, want %q", arguments, r.Content[0].Text, want)
		}
	}
}

func TestIntegersOf64BitsReachTheHandlerExactly(t *testing.T) {
	echo := appkit.NewTool(appkit.ToolInfo{Name: "echo"}, func(_ context.Context, in struct {
		N int64  `json:"n"`
		U uint64 `json:"u,omitempty"`
	}) (string, any, error) {
		return fmt.Sprint(in.N, in.U), in, nil
	})
	p := serve(t, greeter(echo))
	p.handshake("2025-11-25")
	r := p.resultOf(p.call("org.example.greeter.echo", `{"n":9007199254740993,"u":18446744073709551615}`))
	if r.Content[0].Text != "9007199254740993 18446744073709551615" {
		t.Errorf("got %s", r.Content[0].Text)
	}
	if !strings.Contains(string(r.StructuredContent), `"n":9007199254740993`) {
		t.Errorf("structured content is %s", r.StructuredContent)
	}
}

func TestUnknownToolIsInvalidParams(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")
	if a := p.call("org.example.greeter.bow", `{}`); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("got %s %v, want error -32602", a.Result, a.Error)
	}
}

func TestFeaturesThatAreNotDeclaredAreNotFound(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")
	for _, method := range []string{
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "vendor/anything",
	} {
		if a := p.request(method, `{}`); a.Error == nil || a.Error.Code != -32601 {
			t.Errorf("%s: got %s %+v, want error -32601", method, a.Result, a.Error)
		}
	}
	if a := p.request("ping", `{}`); a.Error != nil {
		t.Errorf("ping: %+v", a.Error)
	}
}

func TestFaultsOfTheAppStayInItsLog(t *testing.T) {
	broken := appkit.NewTool(appkit.ToolInfo{Name: "break"}, func(_ context.Context, in struct {
		How string `json:"how"`
	}) (string, any, error) {
		switch in.How {
		case "panic":
			panic("password hunter2")
		case "unencodable":
			return "", func() {}, nil
		}
		return "", nil, errors.New("password hunter2")
	})
	p := serve(t, greeter(broken))
	p.handshake("2025-11-25")
	for _, how := range []string{"panic", "error", "unencodable"} {
		r := p.resultOf(p.call("org.example.greeter.break", fmt.Sprintf(`{"how":%q}`, how)))
		if !r.IsError || !strings.Contains(string(r.StructuredContent), `"error_code":"INTERNAL"`) {
			t.Errorf("%s: got %+v", how, r)
		}
		if strings.Contains(string(r.StructuredContent)+r.Content[0].Text, "hunter2") {
			t.Errorf("%s: the caller sees the inner error", how)
		}
	}
	if !strings.Contains(p.stderr.String(), "hunter2") || !strings.Contains(p.stderr.String(), "stack=") {
		t.Errorf("the log does not say what went wrong: %s", p.stderr)
	}
	if r := p.resultOf(p.call("org.example.greeter.greet", `{"name":"Ann"}`)); r.IsError {
		t.Error("the app does not work any more")
	}
}

func TestLinesThatAreNoMessageAreAnsweredAndSkipped(t *testing.T) {
	p := serve(t, greeter())
	for line, code := range map[string]int{
		"hello":                        -32700,
		`{"jsonrpc":"2.0","id":1,`:     -32700,
		`{"jsonrpc":"2.0","id":1} {}`:  -32700,
		`7`:                            -32600,
		`{"id":1,"method":"ping"}`:     -32600,
		`{"jsonrpc":"2.0","method":7}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600,
	} {
		p.send(line)
		if a := p.read(); a.Error == nil || a.Error.Code != code || string(a.ID) != "null" {
			t.Errorf("%s: got %+v, want error %d with a null id", line, a, code)
		}
	}
	p.send("\n\r") // blank lines are nothing
	p.send("\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":"bom","method":"ping"}` + "\r")
	if a := p.read(); string(a.ID) != `"bom"` || a.Error != nil {
		t.Errorf("a message with BOM and CR is answered by %+v", a)
	}
	p.handshake("2025-11-25")
}

func TestAMessageThatIsTooLongIsSkipped(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-11-25")
	params := `,"method":"ping","params":{"x":"` + strings.Repeat("x", 17<<20) + `"}`
	for message, id := range map[string]string{
		`{"jsonrpc":"2.0","id":"big"` + params + `}`:    `"big"`, // whoever sent it need not wait
		`{"jsonrpc":"2.0"` + params + `,"id":"behind"}`: "null",
	} {
		p.send(message)
		if a := p.read(); a.Error == nil || a.Error.Code != -32600 || string(a.ID) != id {
			t.Errorf("got %+v, want an error for %s", a, id)
		}
	}
	if r := p.resultOf(p.call("org.example.greeter.greet", `{"name":"Ann"}`)); r.IsError {
		t.Error("the session did not survive")
	}
}

// waiter is a tool that waits for its context and tells when it began.
func waiter() (tool appkit.Tool, began chan struct{}, ended chan error) {
	began, ended = make(chan struct{}, 1), make(chan error, 1)
	return appkit.NewTool(appkit.ToolInfo{Name: "wait"}, func(ctx context.Context, _ struct{}) (string, any, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return "", nil, ctx.Err()
	}), began, ended
}

func TestCancelledCallEndsItsHandlerAndNoOther(t *testing.T) {
	tool, began, ended := waiter()
	p := serve(t, greeter(tool))
	p.handshake("2025-11-25")
	p.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"org.example.greeter.wait"}}`)
	<-began

	if r := p.resultOf(p.call("org.example.greeter.greet", `{"name":"Ann"}`)); r.IsError {
		t.Error("a second call does not run beside a slow one")
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context ended with %v", err)
	}
}

func TestEndOfInputLetsRunningCallsAnswer(t *testing.T) {
	release := make(chan struct{})
	began := make(chan struct{})
	tool := appkit.NewTool(appkit.ToolInfo{Name: "last"}, func(ctx context.Context, _ struct{}) (string, any, error) {
		close(began)
		<-release
		return "done", nil, ctx.Err()
	})
	p := serve(t, greeter(tool))
	p.handshake("2025-11-25")
	p.send(`{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"org.example.greeter.last"}}`)
	<-began
	p.in.Close()
	close(release)

	if a := p.read(); string(a.ID) != `"last"` || p.resultOf(a).Content[0].Text != "done" {
		t.Errorf("got %+v", a)
	}
	if err := <-p.done; err != nil {
		t.Errorf("serving ended with %v, want nil", err)
	}
}

func TestRequestsFromAFileAreAllAnswered(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"n\"%d","method":"tools/call","params":{"name":"org.example.greeter.greet","arguments":{"name":"Ann"}}}`+"\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":21,"method":"no/such"}`) // without a newline
	var out strings.Builder
	if err := (appkit.Process{Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: io.Discard}).Serve(t.Context(), greeter()); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 22 || strings.Count(out.String(), "hello") != 40 {
		t.Errorf("got %d lines, want 22:\n%s", lines, out.String())
	}
}

func TestBatchOfAnOldClientIsAnsweredAsOne(t *testing.T) {
	p := serve(t, greeter())
	p.handshake("2025-03-26")
	p.send(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/list"}]`)
	p.out.Scan()
	var batch []answer
	if err := json.Unmarshal(p.out.Bytes(), &batch); err != nil || len(batch) != 2 {
		t.Errorf("got %s", p.out.Text())
	}
	p.in.Close()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

func TestEndOfInputEndsACallThatWouldWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, began, ended := waiter()
		p := serve(t, greeter(tool))
		p.handshake("2025-11-25")
		p.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"org.example.greeter.wait"}}`)
		<-began
		p.in.Close()
		<-ended
		for p.out.Scan() { // what it still says, up to its end
		}
		if err := <-p.done; err != nil {
			t.Errorf("serving ended with %v, want nil", err)
		}
	})
}

func TestWronglyDescribedToolsAreAllReported(t *testing.T) {
	type bad struct {
		N int `json:"n" appkit:"least=1"`
	}
	nothing := func(context.Context, struct{}) (string, any, error) { return "", nil, nil }
	app := &appkit.App{Package: "org.example.bad", Tools: []appkit.Tool{
		appkit.NewTool(appkit.ToolInfo{Name: "天气"}, nothing),
		appkit.NewTool(appkit.ToolInfo{Name: "tag"}, func(context.Context, bad) (string, any, error) { return "", nil, nil }),
		appkit.NewTool(appkit.ToolInfo{Name: "twice"}, nothing),
		appkit.NewTool(appkit.ToolInfo{Name: "org.example.bad.twice"}, nothing),
		appkit.NewTool(appkit.ToolInfo{Name: "in"}, func(context.Context, string) (string, any, error) { return "", nil, nil }),
		appkit.NewTool(appkit.ToolInfo{Name: "out"}, func(context.Context, struct{}) (string, chan int, error) { return "", nil, nil }),
		{},
	}}
	err := appkit.Process{Stdin: strings.NewReader(""), Stdout: io.Discard}.Serve(t.Context(), app)
	if err == nil {
		t.Fatal("the app is served")
	}
	for _, want := range []string{`tool "天气"`, `unknown limit "least"`, `"org.example.bad.twice" is there twice`, "want a struct", `tool "out"`, "not made with NewTool"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not mention %s:\n%v", want, err)
		}
	}
}

// startApp starts this test binary as an app and does the handshake.
func startApp(t *testing.T) (*exec.Cmd, *peer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asApp+"=1")
	p := &peer{t: t, stderr: new(lockedBuffer)}
	cmd.Stderr = p.stderr
	inR, inW := io.Pipe()
	cmd.Stdin = inR
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = inW, newScanner(stdout)
	t.Cleanup(func() { inW.Close() })
	p.handshake("2025-11-25")
	return cmd, p
}

func TestStrayPrintsOfAnAppGoToStderr(t *testing.T) {
	cmd, p := startApp(t)
	r := p.resultOf(p.call("org.example.greeter.chat", `{}`)) // read fails on any other line
	if r.Content[0].Text != "quiet" {
		t.Errorf("got %+v", r)
	}
	p.in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("at end of input the app ends with %v, want exit 0", err)
	}
	if !strings.Contains(p.stderr.String(), "debugging by print") {
		t.Errorf("stderr holds %q", p.stderr)
	}
}

func TestSIGTERMStopsAnApp(t *testing.T) {
	cmd, p := startApp(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if p.out.Scan() {
		t.Errorf("it says %q", p.out.Text())
	}
	p.in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the app ends with %v, want exit 0", err)
	}
}
