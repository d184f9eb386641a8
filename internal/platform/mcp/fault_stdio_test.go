package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The tests of this file are the rows of the area "stdio" of the field faults,
// as far as they are the session's business; S09 is about stderr, which the
// process owns.

// S01: a server prints a banner and log lines on stdout.
func TestS01LinesThatAreNoMessagesAreSkippedAndShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tr := newPeer(t)
		s := p.join(tr, Options{}, func() {
			p.say("demo 1.2 ready")
			p.say("\x1b[33m[warn]\x1b[0m cold cache")
			p.welcome(everything)
		})
		call := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		p.say(`{"level":"info","msg":"JSON, but no message of ours"}`)
		p.say(`{"level":"info","method":"GET","id":%s}`, m.ID)
		p.say("%s", strings.Repeat("长", 2000))
		p.answer(m, `{"content":[]}`)
		(<-call).want(t, `{"content":[]}`)

		equal(t, "noise", s.Stats().Noise, 5)
		equal(t, "first line", p.noise[0], "demo 1.2 ready")
		equal(t, "second line", p.noise[1], "\x1b[33m[warn]\x1b[0m cold cache")
		equal(t, "long line, whole characters", p.noise[4], strings.Repeat("长", 1365))
		if s.Err() != nil {
			t.Errorf("the session ended: %v", s.Err())
		}
	})
}

// S01: noise and a message that share a line.
func TestS01MessagesAndNoiseOnOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		first := callTool(s, t.Context(), "a", nil)
		one := p.next("tools/call")
		second := callTool(s, t.Context(), "b", nil)
		two := p.next("tools/call")
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"n":1}}{"jsonrpc":"2.0","id":%s,"result":{"n":2}} trailing words`, one.ID, two.ID)
		(<-first).want(t, `{"n":1}`)
		(<-second).want(t, `{"n":2}`)
		synctest.Wait()
		equal(t, "noise", s.Stats().Noise, 1)
		equal(t, "shown", p.noise[0], "trailing words")

		// A message quoted inside a log line is not a message: whoever can make
		// a server log something could forge answers otherwise.
		third := callTool(s, t.Context(), "c", nil)
		three := p.next("tools/call")
		p.say(`DEBUG got {"jsonrpc":"2.0","id":%s,"result":{"forged":true}}`, three.ID)
		p.answer(three, `{"n":3}`)
		(<-third).want(t, `{"n":3}`)
	})
}

// S01: what programs do to a line before they write a message on it.
func TestS01ProgressBarsAndMarksBeforeAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		noise  string
	}{
		"a progress bar":              {"loading  10 %\rloading 100 %\r", "loading  10 %\rloading 100 %"},
		"the line end of UTF-16":      {"\x00", ""},
		"two marks":                   {"\uFEFF\uFEFF", ""},
		"a progress bar and CRLF":     {"1 %\r\n2 %\r", "1 %"},
		"a bar that quotes a message": {`got {"jsonrpc":"2.0","id":1,"result":{"forged":true}}` + "\r", `got {"jsonrpc":"2.0","id":1,"result":{"forged":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, r, w := newPipes(t)
				s := p.join(NewStdio(r, w, p.opts), Options{}, func() { p.welcome(everything) })
				call := callTool(s, t.Context(), "f", nil)
				m := p.next("tools/call")
				p.write(c.before)
				p.answer(m, `{"n":1}`)
				(<-call).want(t, `{"n":1}`)
				if c.noise != "" {
					equal(t, "shown", p.noise[0], c.noise)
				} else {
					equal(t, "noise", s.Stats().Noise, 0)
				}
			})
		})
	}
}

// S01: a banner without a line end, or the prompt of a shell. What else stands
// before an answer may quote it.
func TestS01APromptBeforeAnAnswer(t *testing.T) {
	for _, prompt := range []string{"Loading model… ", "(db) ", `{"level":"info"} `, "see {\"a\": "} {
		synctest.Test(t, func(t *testing.T) {
			p, r, w := newPipes(t)
			s := p.join(NewStdio(r, w, p.opts), Options{}, func() {
				m := p.next("initialize")
				p.say(`%s{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"jsonrpc":"2.0","id":%s}`, prompt, m.ID)
				p.next("notifications/initialized")
			})
			call := callTool(s, t.Context(), "f", nil)
			m := p.next("tools/call")
			p.say(`DEBUG %s{"jsonrpc":"2.0","id":%s,"result":{"forged":true}}`, prompt, m.ID)
			p.say(`%s{"jsonrpc":"2.0","method":"notifications/message","params":{}}`, prompt)
			p.say(`%s{"jsonrpc":"2.0","id":%s,"result":{"n":1}}`, prompt, m.ID)
			(<-call).want(t, `{"n":1}`)
			synctest.Wait() // what was shown before is there for us
			equal(t, "noise", s.Stats().Noise, 4)
			equal(t, "shown", p.noise[0], prompt)
		})
	}
}

// S01: what is kept of a prompt is bounded, so a very long one is none.
func TestS01ALongPromptIsNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r, w := newPipes(t)
		s := p.join(NewStdio(r, w, p.opts), Options{}, func() {
			m := p.next("initialize")
			answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`
			p.say("%s", strings.Repeat("#", maxPrompt+1)+answer)
			p.say("%s", answer)
			p.next("notifications/initialized")
		})
		equal(t, "noise", s.Stats().Noise, 1)
	})
}

// S05: a line of noise that is longer than any message may be.
func TestS05NoiseBeyondTheLimitIsNoise(t *testing.T) {
	const limit = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		p, r, w := newPipes(t)
		s := p.join(NewStdio(r, w, StdioOptions{MaxMessage: limit, OnNoise: p.opts.OnNoise}), Options{}, func() { p.welcome(everything) })
		p.say("%s", strings.Repeat("#", 3*limit))
		call := callTool(s, t.Context(), "f", nil)
		p.answer(p.next("tools/call"), "{}")
		(<-call).want(t, "{}")
		equal(t, "noise", s.Stats().Noise, 1)
		equal(t, "too large", s.Stats().TooLarge, 0)
		equal(t, "shown", p.noise[0], strings.Repeat("#", 4<<10))
	})
}

// S03: stdout in text mode.
func TestS03AnyLineEndBlankLinesAndByteOrderMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tr := newPeer(t)
		s := p.join(tr, Options{}, func() {
			m := p.next("initialize")
			p.write("\uFEFF")
			p.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}` + "\r\n\r\n\n \t \n")
			p.next("notifications/initialized")
		})
		call := callTool(s, t.Context(), "f", nil)
		p.answer(p.next("tools/call"), "{}\r")
		(<-call).want(t, "{}")
		equal(t, "noise", s.Stats().Noise, 0)
	})
}

// S05: long lines, and lines beyond the limit.
func TestS05LongAnswersArriveAndTooLongOnesFailAlone(t *testing.T) {
	const limit = 6 << 20
	synctest.Test(t, func(t *testing.T) {
		p, r, w := newPipes(t)
		s := p.join(NewStdio(r, w, StdioOptions{MaxMessage: limit}), Options{}, func() { p.welcome(everything) })
		for _, n := range []int{65_535, 65_536, 5_000_000} {
			call := callTool(s, t.Context(), "big", nil)
			text := `{"text":"` + strings.Repeat("x", n) + `"}`
			p.answer(p.next("tools/call"), text)
			(<-call).want(t, text)
		}
		other := callTool(s, t.Context(), "other", nil)
		unhurt := p.next("tools/call")
		huge := strings.Repeat("x", limit)
		for _, form := range []string{
			`{"jsonrpc":"2.0","id":%[1]s,"result":{"text":"%[2]s"}}`,                                // as most servers write it
			`{"result":{"text":"%[2]s","id":` + string(unhurt.ID) + `},"jsonrpc":"2.0","id":%[1]s}`, // as the TypeScript SDK does
			`{"id": %[1]s, "result": "%[2]s", "jsonrpc": "2.0"} `,
		} {
			call := callTool(s, t.Context(), "huge", nil)
			p.say(form, p.next("tools/call").ID, huge)
			got := <-call
			got.wantKind(t, TooLarge, true)
			contains(t, got.err.Error(), "6 MiB")
		}
		p.answer(unhurt, `{"fine":true}`)
		(<-other).want(t, `{"fine":true}`)
		equal(t, "too large", s.Stats().TooLarge, 3)

		// Nobody waits for these; they end nothing.
		p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":"%s"}`, huge)
		p.say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":"%s"}`, huge)
		p.say("%s!", huge)
		call := callTool(s, t.Context(), "small", nil)
		p.answer(p.next("tools/call"), "{}")
		(<-call).want(t, "{}")
		equal(t, "too large", s.Stats().TooLarge, 5)
		equal(t, "noise", s.Stats().Noise, 1)
	})
}

// S05: the memory for a large answer does not stay with the session.
func TestS05LargeBuffersGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		call := callTool(s, t.Context(), "big", nil)
		p.answer(p.next("tools/call"), `"`+strings.Repeat("x", 3<<20)+`"`)
		<-call
		call = callTool(s, t.Context(), "small", nil)
		p.answer(p.next("tools/call"), `"x"`)
		<-call
		synctest.Wait()
		if kept := cap(s.t.(*stdio).lines.buf); kept > keepSize {
			t.Errorf("the reader keeps %d bytes", kept)
		}
	})
}

// S06: odd pieces, and a last line without its end.
func TestS06AnySplitAndALastLineWithoutItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		call := callTool(s, t.Context(), "weather", nil)
		m := p.next("tools/call")
		line := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"text":"上海🌧"}}` + "\n"
		for i := range len(line) {
			p.write(line[i : i+1])
			time.Sleep(time.Millisecond)
		}
		(<-call).want(t, `{"text":"上海🌧"}`)

		last := callTool(s, t.Context(), "last", nil)
		m = p.next("tools/call")
		p.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"bye":true}}`)
		p.out.Close()
		(<-last).want(t, `{"bye":true}`)
		<-s.Done()
		contains(t, s.Err().Error(), "EOF")
	})
}

// S06: a server that is killed in the middle of an answer has not answered: its
// call ends with the connection, and not as if the server had said nonsense; and
// nobody is shown the half.
func TestS06AnAnswerThatTheEndCutsOffIsNone(t *testing.T) {
	for _, half := range []string{
		`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"half of`,
		`{"result":{"content":[{"type":"text","text":"half of`,
		`{"result":{"content":[]},"jsonrpc":"2.0","id":%s`,
	} {
		synctest.Test(t, func(t *testing.T) {
			p, s := connect(t, Options{})
			call := callTool(s, t.Context(), "big", nil)
			m := p.next("tools/call")
			p.write(strings.ReplaceAll(half, "%s", string(m.ID)))
			p.out.Close()
			(<-call).wantKind(t, Closed, true)
			<-s.Done()
			equal(t, "broken", s.Stats().Broken, 0)
			equal(t, "noise", s.Stats().Noise, 0)
		})
	}
}

// S07: text from an old GBK file as raw bytes.
func TestS07BytesThatAreNotUTF8AreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		call := callTool(s, t.Context(), "read", nil)
		p.answer(p.next("tools/call"), "{\"text\":\"a \xb9\xe3\xd6\xdd b\",\"lone\":\"\\ud83d\"}")
		(<-call).want(t, `{"text":"a ���� b","lone":"\ud83d"}`)
		equal(t, "repaired", s.Stats().Repaired, 4)
	})
}

// S11: a server that has stopped reading.
func TestS11ABlockedPipeHoldsNobodyBeyondItsDeadline(t *testing.T) {
	for _, tc := range []struct {
		name string
		wrap func(net.Conn) io.Writer
	}{
		{"with write deadlines", func(c net.Conn) io.Writer { return c }},
		{"without", func(c net.Conn) io.Writer { return struct{ io.WriteCloser }{c} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, r, w := newPipes(t)
				s := p.join(NewStdio(r, tc.wrap(w), p.opts), Options{}, func() { p.welcome(everything) })
				p.stopReading()
				began := time.Now()
				call := callTool(s, t.Context(), "first", &RequestOptions{Whole: 2 * time.Second})
				time.Sleep(time.Second)
				behind := callTool(s, t.Context(), "behind", &RequestOptions{Whole: 500 * time.Millisecond})
				ctx, stop := context.WithCancel(t.Context())
				given := callTool(s, ctx, "given up", nil)
				time.Sleep(100 * time.Millisecond)
				stop()

				(<-given).wantKind(t, Cancelled, false)
				(<-behind).wantKind(t, Timeout, false)
				equal(t, "the second call ended after", time.Since(began), 1500*time.Millisecond)
				// Bytes that are being written may have gone out.
				_, tells := tc.wrap(w).(net.Conn)
				(<-call).wantKind(t, Timeout, !tells)
				equal(t, "the first call ended after", time.Since(began), 2*time.Second)

				// Stopping works although the pipe is full.
				began = time.Now()
				s.Close(nil)
				if d := time.Since(began); d > flushTime {
					t.Errorf("Close took %v", d)
				}
			})
		})
	}
}

// S11: what was not written of a message goes out before the next one.
func TestS11ThePipeStaysInStepAfterATornWrite(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	nothing, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	defer end.Close()
	tr := NewStdio(nothing, w, StdioOptions{})
	defer tr.Close()

	long := []byte(`{"jsonrpc":"2.0","method":"` + strings.Repeat("m", 200<<10) + "\"}\n")
	ctx, stop := context.WithCancel(t.Context())
	torn := make(chan error)
	go func() { torn <- tr.Send(ctx, long) }()
	first := make([]byte, 1)
	if _, err := r.Read(first); err != nil { // some of it has gone out, and the rest does not fit
		t.Fatal(err)
	}
	stop()
	err = <-torn
	var not *NotDeliveredError
	if err == nil || errors.As(err, &not) {
		t.Fatalf("got %v, want an error that does not deny delivery", err)
	}
	ctx, stop = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if err := tr.Send(ctx, []byte("{}\n")); !errors.As(err, &not) {
		t.Fatalf("got %v, want not delivered", err)
	}

	read := make(chan string)
	go func() {
		var all strings.Builder
		b := make([]byte, 1<<16)
		for !strings.HasSuffix(all.String(), "third\n") {
			n, err := r.Read(b)
			if err != nil {
				break
			}
			all.Write(b[:n])
		}
		read <- all.String()
	}()
	if err := tr.Send(t.Context(), []byte("third\n")); err != nil {
		t.Fatal(err)
	}
	equal(t, "the stream", string(first)+<-read, string(long)+"third\n")
}

// S13: a server that echoes ids in another spelling.
func TestS13IdsInAnotherSpellingAreMatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tr := newPeer(t)
		s := p.join(tr, Options{}, func() {
			p.next("initialize")
			p.say(`{"jsonrpc":"2.0","id":"seven","result":{}}`)
			p.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
			p.say(`{"jsonrpc":"2.0","id":"1","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`)
			p.next("notifications/initialized")
		})
		for _, form := range []string{"%s.0", "%se0", `"%s"`} {
			call := callTool(s, t.Context(), "f", nil)
			p.say(`{"jsonrpc":"2.0","id":`+form+`,"result":{}}`, p.next("tools/call").ID)
			(<-call).want(t, "{}")
		}
		equal(t, "unknown", s.Stats().Unknown, 2)
	})
}

// S15: the server asks something while a call is open.
func TestS15RequestsOfTheServerAreAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused []string
		p, s := connect(t, Options{OnRefused: func(method string) { refused = append(refused, method) }})
		call := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		p.say(`{"jsonrpc":"2.0","id":"srv-1","method":"ping"}`)
		equal(t, "pong", p.next("").line, `{"jsonrpc":"2.0","id":"srv-1","result":{}}`+"\n")
		for i, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "acme/ask"} {
			p.say(`{"jsonrpc":"2.0","id":%d.5,"method":"%s","params":{}}`, i, method)
			no := p.next("")
			equal(t, "id", string(no.ID), fmt.Sprintf("%d.5", i))
			contains(t, string(no.Error), "-32601")
		}
		p.answer(m, "{}")
		(<-call).want(t, "{}")
		equal(t, "refused", strings.Join(refused, " "), "roots/list sampling/createMessage elicitation/create acme/ask")
		equal(t, "refused", s.Stats().Refused, 4)
	})
}

// S15: the reader does not wait for a full pipe to answer a request.
func TestS15AFullPipeDoesNotBlockTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		call := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		p.stopReading()
		for i := range 1000 {
			p.say(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		}
		p.answer(m, "{}")
		(<-call).want(t, "{}")
		if lost := s.Stats().Unanswered; lost < 1000-outboxLen-2 {
			t.Errorf("only %d answers were dropped", lost)
		}
	})
}

// S16: answers for ids that nobody waits for.
func TestS16LateDoubleAndUnknownAnswersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx, stop := context.WithCancel(t.Context())
		gone := callTool(s, ctx, "slow", nil)
		slow := p.next("tools/call")
		synctest.Wait()
		stop()
		(<-gone).wantKind(t, Cancelled, true)
		cancelled := p.next("notifications/cancelled")
		contains(t, cancelled.line, `"requestId":`+string(slow.ID))

		p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":0,"message":"cancelled"}}`, slow.ID)
		p.answer(slow, `{"late":true}`)
		p.say(`{"jsonrpc":"2.0","id":9999,"result":{}}`)
		call := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		p.answer(m, `{"mine":true}`)
		p.answer(m, `{"again":true}`)
		(<-call).want(t, `{"mine":true}`)
		synctest.Wait()
		equal(t, "late", s.Stats().Late, 3)
		equal(t, "unknown", s.Stats().Unknown, 1)
		p.silent()
	})
}
