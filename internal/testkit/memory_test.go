package testkit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A conversation is a test's end of a peer in memory.
type conversation struct {
	t    *testing.T
	peer *Peer
	out  *bufio.Reader
}

func talk(t *testing.T, script string) *conversation {
	t.Helper()
	peer := StartPeer(t, MustParse(t, script))
	return &conversation{t, peer, bufio.NewReader(peer.Out)}
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.peer.In, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) call(id int, name, args string) {
	c.t.Helper()
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%[1]d}}}`, id, name, args))
}

func (c *conversation) hear() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading the peer: %v (read %q; stderr %q)", err, line, c.peer.Stderr())
	}
	return strings.TrimSuffix(line, "\n")
}

func (c *conversation) want(line string) {
	c.t.Helper()
	if got := c.hear(); got != line {
		c.t.Errorf("heard %s\n want %s", got, line)
	}
}

func TestAnEmptyScriptIsARightServer(t *testing.T) {
	c := talk(t, "tool echo\nresource demo://a\nprompt hi")
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"protocolVersion":"2025-06-18","serverInfo":{"name":"demo","version":"1.0.0"}}}`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.say(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":"a","result":{}}`)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	c.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`)
	c.call(3, "echo", `{"b":1e400,"a":"\u00e9"}`)
	c.want(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"{\"b\":1e400,\"a\":\"\\u00e9\"}","type":"text"}]}}`)
	c.call(4, "nope", `{}`)
	c.want(`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Unknown tool: nope"}}`)
	c.say(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"demo://a"}}`)
	c.want(`{"jsonrpc":"2.0","id":5,"result":{"contents":[{"mimeType":"text/plain","text":"content of demo://a","uri":"demo://a"}]}}`)
	c.say(`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"hi"}}`)
	c.want(`{"jsonrpc":"2.0","id":6,"result":{"messages":[{"content":{"text":"prompt hi","type":"text"},"role":"user"}]}}`)
	c.say(`{"jsonrpc":"2.0","id":7,"method":"acme/nope"}`)
	c.want(`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found: acme/nope"}}`)
	c.say(`[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"ping"}]`)
	c.want(`{"jsonrpc":"2.0","id":8,"result":{}}`)
	c.want(`{"jsonrpc":"2.0","id":9,"result":{}}`)
	if err := c.peer.In.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.peer.Done()
	if c.peer.ExitCode() != 0 {
		t.Errorf("exit code %d after EOF", c.peer.ExitCode())
	}
}

func TestRepliesAreWhatTheScriptSays(t *testing.T) {
	c := talk(t, `
start
  stdout demo 1.2 ready
before answers
  raw "\x1b[33m[warn]\x1b[0m ${i}\n"
on initialize
  reply default {"protocolVersion": null, "capabilities": {"x": {"y": 1}}}
on tools/call text
  reply text hello ${args.who} "quoted" ${args.n}
on tools/call fail
  reply fail "no such\tcity"
on tools/call error
  reply error -32602 "bad ${args.f}" {"field": "${args.f}", "args": ${args}}
on tools/call raw
  reply {
    "content": [],
    "x": ${args.n},   "y": "<${args.n}>"
  }
on tools/call gbk
  reply text a${hex:B9E3D6DD}b
on tools/call big
  reply text ${fill:args.n}
on tools/call "a b"
  send {"jsonrpc":"2.0","id":"${id}","result":{}}
  ids quoted
  reply {}
  ids float
  reply {}
`)
	c.want("demo 1.2 ready")
	answer := func(want string) {
		t.Helper()
		c.want("\x1b[33m[warn]\x1b[0m 0")
		c.want(want)
	}
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	answer(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{"listChanged":true},"x":{"y":1}},"serverInfo":{"name":"demo","version":"1.0.0"}}}`)
	c.call(2, "text", `{"who":"上海\"","n":12345678901234567890}`)
	answer(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello 上海\" \"quoted\" 12345678901234567890"}]}}`)
	c.call(3, "fail", `{}`)
	answer(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"no such\u0009city"}],"isError":true}}`)
	c.call(4, "error", `{"f":"x"}`)
	answer(`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"bad x","data":{"field": "x", "args": {"f":"x"}}}}`)
	c.call(5, "raw", `{"n":1e400}`)
	answer(`{"jsonrpc":"2.0","id":5,"result":{ "content": [], "x": 1e400,   "y": "<1e400>" }}`)
	c.call(6, "gbk", `{}`)
	answer("{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xb9\xe3\xd6\xddb\"}]}}")
	c.call(7, "big", `{"n":"128KiB"}`)
	c.hear()
	if got := c.hear(); strings.Count(got, "x") < 128<<10 {
		t.Errorf("%d bytes, want 128 KiB of x", len(got))
	}
	c.call(8, "a b", `{}`)
	c.want(`{"jsonrpc":"2.0","id":"8","result":{}}`)
	answer(`{"jsonrpc":"2.0","id":"8","result":{}}`)
	answer(`{"jsonrpc":"2.0","id":8.0,"result":{}}`)
}

func TestFramesHaveTheFormTheScriptSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talk(t, `
frame begin "\ufeff"
frame end "\r\n\r\n"
on a
  reply {}
  frame begin ""
  frame end ""
  frame pieces 1 every 1ms
  reply {"t":"上"}
  exit 3
`)
		c.say(`{"id":1,"method":"a"}`)
		rest, err := io.ReadAll(c.out)
		if err != nil {
			t.Fatal(err)
		}
		want := "\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"上\"}}"
		if string(rest) != want {
			t.Errorf("heard %q\n want %q", rest, want)
		}
		<-c.peer.Done()
		if c.peer.ExitCode() != 3 {
			t.Errorf("exit code %d, want 3", c.peer.ExitCode())
		}
	})
}

func TestHandlersAreChosenByNameCountAndPast(t *testing.T) {
	c := talk(t, `
on tools/list unseen notifications/initialized
  reply error 1 "not yet"
on tools/list #2
  reply {"tools":["second"]}
on tools/list page2
  reply {"tools":["page 2, message ${n}"]}
on tools/call x #2+
  reply text again
on tools/call x
  if run 1
    reply text first
on tools/call
  reply text any
`)
	c.say(`{"id":1,"method":"tools/list"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"not yet"}}`)
	c.say(`{"method":"notifications/initialized"}`)
	c.say(`{"id":2,"method":"tools/list"}`)
	c.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":["second"]}}`)
	c.say(`{"id":3,"method":"tools/list","params":{"cursor":"page2"}}`)
	c.want(`{"jsonrpc":"2.0","id":3,"result":{"tools":["page 2, message 1"]}}`)
	for i, want := range []string{"first", "again", "again"} {
		c.call(i, "x", "{}")
		c.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}`, i, want))
	}
	c.call(9, "y", "{}")
	c.want(`{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"any"}]}}`)
}

func TestListsComeInPagesAndChange(t *testing.T) {
	c := talk(t, `
page 2
tool a
tool a {"title":"twin"}
tool raw {"description":{}}
on tools/call grow
  add tool b {"inputSchema":null}
  remove tool a
  notify notifications/tools/list_changed
  reply text done
`)
	c.say(`{"id":1,"method":"tools/list"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"inputSchema":{"type":"object"},"name":"a","title":"twin"}],"nextCursor":"2"}}`)
	c.say(`{"id":2,"method":"tools/list","params":{"cursor":"2"}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"description":{}}]}}`)
	c.call(3, "grow", "{}")
	c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.hear()
	c.say(`{"id":4,"method":"tools/list"}`)
	c.want(`{"jsonrpc":"2.0","id":4,"result":{"tools":[{"description":{}},{"name":"b"}]}}`)
	c.say(`{"id":5,"method":"tools/list","params":{"cursor":"moon"}}`)
	c.want(`{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Invalid cursor: \"moon\""}}`)
}

func TestAHandlerCanWaitForTheClient(t *testing.T) {
	c := talk(t, `
on tools/call ask
  request "srv-1" ping
  request 7 roots/list {}
  await reply 7
  await reply "srv-1"
  await notifications/go #2
  reply text thanks
`)
	c.call(1, "ask", "{}")
	c.want(`{"jsonrpc":"2.0","id":"srv-1","method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{}}`)
	c.say(`{"jsonrpc":"2.0","id":"srv-1","result":{}}`)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // is answered later, in order
	c.say(`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}`)
	c.say(`{"method":"notifications/go"}`)
	c.say(`{"method":"notifications/go"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"thanks"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}

func TestBackgroundGoesOnWhileOtherMessagesAreHandled(t *testing.T) {
	c := talk(t, `
on tools/call slow
  background
    progress 1 8
    await cancel
    mark cancelled ${args.who}
    await release end
    reply text late
`)
	c.call(1, "slow", `{"who":"A"}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":8}}`)
	c.say(`{"id":2,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	c.say(`{"method":"notifications/cancelled","params":{"requestId":1}}`)
	c.say(`{"id":3,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	c.peer.Release("end")
	c.peer.Release("end")
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"late"}]}}`)
	var marks []string
	for _, e := range c.peer.Events() {
		if e.Kind == "mark" {
			marks = append(marks, e.Text)
		}
	}
	if len(marks) != 1 || marks[0] != "cancelled A" {
		t.Errorf("marks %q", marks)
	}
}

func TestTimeIsTheBubbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := talk(t, `
on a
  repeat 3 every 400ms
    progress
  sleep 1h
  reply {}
`)
		c.say(`{"id":1,"method":"a","params":{"_meta":{"progressToken":"t"}}}`)
		for i := 1; i <= 3; i++ {
			c.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":%d}}`, i))
		}
		c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if d := time.Since(began); d != time.Hour+1200*time.Millisecond {
			t.Errorf("the bubble's clock went on by %v", d)
		}
	})
}

func TestAServerThatStopsReadingFillsThePipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talk(t, "on a\n  stop reading\n  reply {}")
		c.say(`{"id":1,"method":"a"}`)
		c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w := c.peer.In.(interface{ SetWriteDeadline(time.Time) error })
		if err := w.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := c.peer.In.Write(bytes.Repeat([]byte("x"), 1<<20))
		if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n > pipeCapacity {
			t.Errorf("wrote %d bytes, %v; want a full pipe and a deadline", n, err)
		}
	})
}

func TestEOFAndSignalsCanBeIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := talk(t, `
on eof
  mark eof
on signal TERM
  mark term
on signal HUP
  sleep 1s
  exit 4
`)
		if err := c.peer.In.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c.peer.Signal("TERM")
		synctest.Wait()
		select {
		case <-c.peer.Done():
			t.Fatal("the server ended")
		default:
		}
		c.peer.Signal("HUP")
		<-c.peer.Done()
		var kinds []string
		for _, e := range c.peer.Events() {
			kinds = append(kinds, e.Kind+" "+e.Text)
		}
		want := "start ,eof ,mark eof,signal TERM,mark term,signal HUP,exit 4"
		if got := strings.Join(kinds, ","); got != want {
			t.Errorf("events %s\n want %s", got, want)
		}
	})
}

func TestAServerWhoseStdinClosesInAnAwaitSeesEOF(t *testing.T) {
	c := talk(t, "on a\n  await reply 1\n  reply {}\non eof\n  exit 5")
	c.say(`{"id":1,"method":"a"}`)
	if err := c.peer.In.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.peer.Done()
	if c.peer.ExitCode() != 5 {
		t.Errorf("exit code %d, want 5", c.peer.ExitCode())
	}
}

func TestAMistakeAtRunTimeNamesItsLine(t *testing.T) {
	c := talk(t, "on a\n  repeat 1\n    fork\n")
	c.say(`{"id":1,"method":"a"}`)
	<-c.peer.Done()
	if got := c.peer.Stderr(); got != "testkit: script:3: this step needs a process, and the server runs in memory\n" {
		t.Errorf("stderr %q does not name the line alone", got)
	}
	if c.peer.ExitCode() != 99 {
		t.Errorf("exit code %d, want 99", c.peer.ExitCode())
	}
}

func TestFloodsAreOfTheSizeTheyAreAskedFor(t *testing.T) {
	c := talk(t, `
on a
  stderr flood 1MiB
  repeat 1000
    notify notifications/message {"level":"info","data":"${i} ${fill:6:天}"}
  reply {"received": ${received}}
`)
	c.say(`{"id":1,"method":"a"}`)
	for i := 1; i <= 1000; i++ {
		c.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%d 天天"}}`, i))
	}
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"received": [{"id":1,"method":"a"}]}}`)
	if n := len(c.peer.Stderr()); n < 1<<20 || n > 1<<20+100 {
		t.Errorf("%d bytes on stderr, want 1 MiB", n)
	}
}
