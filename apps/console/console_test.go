package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/console"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk makes a console with a data folder.
func desk(t *testing.T) (*console.Console, string) {
	t.Helper()
	dir := t.TempDir()
	return console.New(process(dir)), dir
}

func process(dir string) appkit.Process {
	return appkit.Process{Stderr: io.Discard, Environ: []string{"AURORA_APP_PACKAGE=" + console.Package, "AURORA_APP_DATA_DIR=" + dir}}
}

// serve serves the console until the test ends and returns the other end.
func serve(t *testing.T, c *console.Console, dir string) net.Conn {
	t.Helper()
	inside, outside := net.Pipe()
	p := process(dir)
	p.Stdin, p.Stdout = inside, inside
	done := make(chan error, 1)
	go func() {
		done <- c.Serve(t.Context(), p)
		inside.Close()
	}()
	t.Cleanup(func() {
		outside.Close()
		if err := <-done; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return outside
}

// send calls send_message.
func send(t *testing.T, s *mcp.ClientSession, session, text string) *mcp.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: console.Package + ".send_message", Arguments: map[string]any{"session_id": session, "text": text}})
	if err != nil || r.IsError {
		t.Fatalf("send_message = %+v, %v", r, err)
	}
	return r
}

func connect(t *testing.T, c *console.Console, dir string) *mcp.ClientSession {
	t.Helper()
	wire := serve(t, c, dir)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: wire, Writer: wire}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A page is a screen that notes what it shows.
type page struct {
	mu    sync.Mutex
	texts []string
	full  bool
}

func (p *page) show(t console.Text) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full {
		return false
	}
	text := t.Text
	if t.Kept {
		text += " (kept)"
	}
	p.texts = append(p.texts, text)
	return true
}

func (p *page) has(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := strings.Join(p.texts, "|"); got != strings.Join(want, "|") {
		t.Errorf("the screen shows %q, want %q", got, strings.Join(want, "|"))
	}
}

func TestATextReachesTheScreensOfItsSession(t *testing.T) {
	c, dir := desk(t)
	s := connect(t, c, dir)
	var one, two, other page
	for session, pages := range map[string][]*page{"main": {&one, &two}, "else": {&other}} {
		for _, p := range pages {
			screen, lost, err := c.Attach(session, p.show, true)
			if err != nil || lost != 0 {
				t.Fatal(lost, err)
			}
			defer screen.Close()
		}
	}
	r := send(t, s, "main", "你好")
	one.has(t, "你好")
	two.has(t, "你好")
	other.has(t)
	if b, _ := json.Marshal(r.StructuredContent); !strings.Contains(string(b), `"screens":2`) {
		t.Errorf("the result is %s", b)
	}
}

func TestTheConsoleSpeaksTheLanguageOfItsUser(t *testing.T) {
	for lang, want := range map[string]string{"zh": "现在没有人", "zh-TW": "现在没有人", "en": "Nobody looks", "": "Nobody looks"} {
		dir := t.TempDir()
		p := process(dir)
		p.Environ = append(p.Environ, "AURORA_USER_LANG="+lang)
		r := send(t, connect(t, console.New(p), dir), "main", "x")
		if text, ok := r.Content[0].(*mcp.TextContent); !ok || !strings.HasPrefix(text.Text, want) {
			t.Errorf("%s: %+v", lang, r.Content[0])
		}
	}
}

func TestATextThatNobodyTakesWaitsOverRestarts(t *testing.T) {
	c, dir := desk(t)
	s := connect(t, c, dir)
	full := page{full: true}
	screen, _, err := c.Attach("main", full.show, true)
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, "main", "one")
	screen.Close()
	send(t, s, "main", "two\nlines <b>")
	send(t, s, "../../main", "elsewhere")

	again := console.New(process(dir))
	var question, p, later page
	asking, _, err := again.Attach("main", question.show, false) // one that waits for its answer only
	if err != nil {
		t.Fatal(err)
	}
	asking.Close()
	question.has(t)
	first, lost, err := again.Attach("main", p.show, true)
	if err != nil || lost != 0 {
		t.Fatal(lost, err)
	}
	first.Close()
	first.Close() // twice does no harm
	p.has(t, "one (kept)", "two\nlines <b> (kept)")
	second, _, err := again.Attach("main", later.show, true)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	later.has(t)
	files, _ := filepath.Glob(filepath.Join(dir, "kept", "*"))
	if len(files) != 1 {
		t.Errorf("files are left: %v", files)
	}
	if st, err := os.Stat(files[0]); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file of another session: %v, %v", st, err)
	}
}

func TestAScreenGivesBackWhatItCouldNotShow(t *testing.T) {
	c, _ := desk(t)
	if err := c.Keep("main", console.Text{Text: "back", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	var p page
	screen, _, err := c.Attach("main", p.show, true)
	if err != nil {
		t.Fatal(err)
	}
	p.has(t, "back (kept)")
	// With another screen there it has been seen.
	if err := c.Keep("main", console.Text{Text: "seen"}); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	var later page
	screen, _, err = c.Attach("main", later.show, true)
	if err != nil {
		t.Fatal(err)
	}
	screen.Close()
	later.has(t)
}

func TestTooManyTextsPushOutTheOldest(t *testing.T) {
	c, _ := desk(t)
	long := strings.Repeat("长", 50<<10) // 150 KiB
	for i := range 5 {
		if err := c.Keep("main", console.Text{Text: fmt.Sprint(i, long)}); err != nil {
			t.Fatal(err)
		}
	}
	var p page
	screen, lost, err := c.Attach("main", p.show, true)
	if err != nil {
		t.Fatal(err)
	}
	screen.Close()
	if lost != 2 || len(p.texts) != 3 || !strings.HasPrefix(p.texts[0], "2") {
		t.Errorf("%d texts were lost, %d are there", lost, len(p.texts))
	}
}

func TestWithoutADataFolderATextThatCannotBeKeptFails(t *testing.T) {
	c := console.New(appkit.Process{Stderr: io.Discard, Environ: []string{}})
	if err := c.Keep("main", console.Text{Text: "x"}); err == nil {
		t.Error("it is said to be kept")
	}
}

// What is said goes out as an event of the owner and is said when it is
// acknowledged.
func TestWhatIsSaidIsAMessageOfTheOwner(t *testing.T) {
	c, dir := desk(t)
	wire := serve(t, c, dir)
	in := bufio.NewScanner(wire)
	write := func(text string) {
		if _, err := io.WriteString(wire, text+"\n"); err != nil {
			t.Error(err)
		}
	}
	go write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	in.Scan()
	if !strings.Contains(in.Text(), `"ack":true`) {
		t.Errorf("it does not ask for acknowledgements: %s", in.Text())
	}
	go write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	said := make(chan error, 1)
	go func() { said <- c.Say(t.Context(), "m-1", "main", "你好\n世界") }()
	in.Scan()
	var n struct {
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal(in.Bytes(), &n); err != nil || n.Method != "aurora/event" {
		t.Fatalf("it says %s (%v)", in.Text(), err)
	}
	e, err := amp.Parse(n.Params)
	if err != nil {
		t.Fatal(err)
	}
	var m amp.Message
	if err := json.Unmarshal(e.Payload.Data, &m); err != nil || m.Text != "你好\n世界" || m.UserID != console.Owner || m.IsGroup {
		t.Errorf("the message is %+v (%v)", m, err)
	}
	if e.Header.MessageID != "m-1" || e.Payload.SessionID != "main" || e.Payload.Type != "message.received" || e.Payload.Summary != "你好 世界" {
		t.Errorf("the event is %+v", e)
	}
	select {
	case err := <-said:
		t.Fatalf("it is said before it is durable (%v)", err)
	default:
	}
	go write(`{"jsonrpc":"2.0","method":"notifications/aurora/ack","params":{"message_ids":["m-1"]}}`)
	if err := <-said; err != nil {
		t.Errorf("Say = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Say(ctx, "m-2", "main", ""); err == nil {
		t.Error("what is not durable counts as said")
	}
}

// The manifest says what the server says (design documents, MCP guide, section
// 15.1).
func TestTheManifestIsTrue(t *testing.T) {
	var m struct {
		Package, Version, Reply string
		People                  bool
		Events                  []string
		Commands                []struct{ Name, Risk string }
	}
	if err := yaml.Unmarshal(console.Manifest(), &m); err != nil {
		t.Fatal(err)
	}
	if m.Package != console.Package || m.Version != console.Version || m.Reply != "send_message" || !m.People || len(m.Events) != 1 {
		t.Errorf("the manifest is %+v", m)
	}
	c, dir := desk(t)
	tools, err := connect(t, c, dir).ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 || len(m.Commands) != 1 || tools.Tools[0].Name != console.Package+"."+m.Commands[0].Name || m.Commands[0].Risk != "low" {
		t.Errorf("the tools are %+v, the manifest says %+v (%v)", tools, m.Commands, err)
	}
}
