package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readEvents reads a stream to its end, as name|data each.
func readEvents(t testing.TB, r io.Reader, max int) ([]string, *eventReader) {
	t.Helper()
	e := newEventReader(r, max, &buffers{})
	var all []string
	for {
		ev, err := e.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				all = append(all, "error "+err.Error())
			}
			return all, e
		}
		text := ev.name + "|" + string(ev.data)
		if ev.long != nil {
			text = fmt.Sprintf("%s|long %d", ev.name, ev.long.size)
		}
		all = append(all, text)
	}
}

// N05: whatever way a server frames its events, and wherever the chunks of the
// connection end, the same events come out.
func TestN05EventsOfAnyFraming(t *testing.T) {
	for _, tc := range []struct {
		name, stream string
		want         []string
	}{
		{"line feeds", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"all of them", "data: a\r\ndata: b\rdata: c\n\r\n", []string{"|a\nb\nc"}},
		{"comments", ": hi\n\n:\ndata: a\n: between\ndata: b\n\n", []string{"|a\nb"}},
		{"no blank", "data:a\ndata:  b\n\n", []string{"|a\n b"}},
		{"names", "event: message\ndata: a\n\nevent: ping\ndata: b\n\ndata: c\n\n", []string{"message|a", "ping|b", "|c"}},
		{"name after the data", "data: a\nevent: x\n\n", []string{"x|a"}},
		{"a name without data", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"a byte order mark", "\uFEFFdata: a\n\n", []string{"|a"}},
		{"a mark in the middle is text", "data: \uFEFFa\n\n", []string{"|\uFEFFa"}},
		{"only blanks", "\n\n\r\n\r\r", nil},
		{"empty data primes and is no event", "id: 7\ndata:\n\n", nil},
		{"empty lines of data", "data\ndata: a\ndata\n\n", []string{"|\na\n"}},
		{"unknown fields", "x: 1\nx\ndatum: 2\ndata2: 3\ndata: a\n\n", []string{"|a"}},
		{"two blank lines", "data: a\n\n\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"characters of many bytes", "data: 上海🌧\n\n", []string{"|上海🌧"}},
		{"an end without a blank line", "data: {\"a\":1}\n", []string{`|{"a":1}`}},
		{"an end without a line end", "data: {\"a\":\ndata: 1}", []string{"|{\"a\":\n1}"}},
		{"an end in the middle of a message", "data: {\"a\":1", nil},
		{"nothing", "", nil},
		{"the example of the collection", ": hi\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":2,\"result\":{}}\r\n\r\n",
			[]string{"|{\"jsonrpc\":\"2.0\",\n\"id\":2,\"result\":{}}"}},
	} {
		for name, r := range map[string]io.Reader{
			"whole":  strings.NewReader(tc.stream),
			"bytes":  iotest.OneByteReader(strings.NewReader(tc.stream)),
			"halves": iotest.HalfReader(strings.NewReader(tc.stream)),
			"eof":    iotest.DataErrReader(strings.NewReader(tc.stream)),
		} {
			got, _ := readEvents(t, r, 1000)
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tc.want) {
				t.Errorf("%s, %s: got %q, want %q", tc.name, name, got, tc.want)
			}
		}
	}
}

// An event that broke off is not delivered: the stream can be resumed.
func TestAnEventThatBreaksOffIsDropped(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("id: 1\ndata: a\n\nid: 2\ndata: {}\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, e := readEvents(t, broken, 1000)
	equal(t, "events", fmt.Sprintf("%q", got), `["|a" "error unexpected EOF"]`)
	equal(t, "last id", e.lastID, "1")
}

func TestIDsAndRetryOfEvents(t *testing.T) {
	for _, tc := range []struct {
		stream string
		id     string
		retry  time.Duration
	}{
		{"data: a\n\n", "", -1},
		{"id: 7\ndata: a\n\ndata: b\n\n", "7", -1},
		{"id: 7\nretry: 250\ndata:\n\n", "7", 250 * time.Millisecond},
		{"id: 7\n\nid: 8\n", "7", -1},
		{"id: 7\n\nid\n\n", "", -1},
		{"id: a\x00b\n\nretry: 1s\n\nretry: -1\n\nretry:\n\n", "", -1},
		{"id: 上海 1\n\nretry: 0\n\n", "上海 1", 0},
		{"retry: 99999999999999999999999999\n\n", "", time.Hour},
		{"id: " + strings.Repeat("x", maxEventID+1) + "\n\n", "", -1},
	} {
		_, e := readEvents(t, iotest.OneByteReader(strings.NewReader(tc.stream)), 1000)
		equal(t, tc.stream+" id", e.lastID, tc.id)
		equal(t, tc.stream+" retry", e.retry, tc.retry)
	}
}

// What is too large is dropped in bounded memory, whatever it is, and the next
// event is good.
func TestEventsThatAreTooLarge(t *testing.T) {
	const max = 100_000
	big := strings.Repeat("x", max+1)
	huge := strings.Repeat("y", 10*max)
	for _, tc := range []struct{ name, stream, want string }{
		{"as large as may be", "data: " + big[1:] + "\n\n", "|" + big[1:]},
		{"a byte more", "data: " + big + "\n\n", "|long 100001"},
		{"much more", "event: message\r\ndata: " + huge + "\r\n\r\n", "message|long 1000000"},
		{"in many lines", strings.Repeat("data: 123456789\n", 20_000) + "\n", "|long 199999"},
		{"in two lines", "data: " + huge + "\rdata: " + huge + "\r\r", "|long 2000001"},
		{"a small line, then a large one", "data: {\ndata:" + huge + "\n\n", "|long 1000002"},
		{"a comment", ":" + huge + "\ndata: a\n:" + huge + "\ndata: b\n\n", "|a\nb"},
		{"an unknown field", "data: a\nx" + huge + "\n\n", "|a"},
		{"an id", "id: " + huge + "\ndata: a\n\n", "|a"},
		{"a stream of comments within an event", "data: a\n" + strings.Repeat(": 123456789\n", 50_000) + "data: b\n\n", "|a\nb"},
	} {
		for name, r := range map[string]io.Reader{
			"whole":  strings.NewReader(tc.stream + "data: next\n\n"),
			"halves": iotest.HalfReader(strings.NewReader(tc.stream + "data: next\n\n")),
		} {
			got, e := readEvents(t, r, max)
			if len(got) != 2 || got[0] != tc.want || got[1] != "|next" {
				t.Errorf("%s, %s: got %.60q", tc.name, name, got)
			}
			if len(e.buf) > 0 {
				t.Errorf("%s: the buffer was not given back", tc.name)
			}
		}
	}
}

// The ends of what was too large are kept, to find whose answer it was.
func TestTheEndsOfALargeEventAreKept(t *testing.T) {
	front := `data: {"jsonrpc":"2.0","id":7,"result":{"a":"` + strings.Repeat("x", 200_000) + "\"}}\n\n"
	back := `data: {"result":{"a":"` + strings.Repeat("x", 200_000) + "\"},\ndata: \"jsonrpc\":\"2.0\",\"id\":8}\n\n"
	e := newEventReader(iotest.HalfReader(strings.NewReader(front+back)), 100_000, &buffers{})
	for _, id := range []string{"7", "8"} {
		ev, err := e.next()
		if err != nil || ev.long == nil {
			t.Fatalf("got %v, %v", ev, err)
		}
		equal(t, "id", string(idOf(ev.long.head, ev.long.tail)), id)
		if n := len(ev.long.head) + len(ev.long.tail); n > headSize+tailSize {
			t.Errorf("%d bytes are kept", n)
		}
	}
}

// FuzzSSE compares the reader with a plain one that has the whole stream.
func FuzzSSE(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "data: a\r\rdata:b\r\n\r\n", ": c\nevent: x\nid: 1\nretry: 5\ndata: {}\n\n", "\uFEFFdata\n\n", "data: {\"a\":1}",
		"data: 上海\n\ndata: " + strings.Repeat("x", 40) + "\n\n", "id: 1\ndata:\n\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint8) {
		const max = 1 << 20
		whole, e1 := readEvents(t, bytes.NewReader(stream), max)
		pieces, e2 := readEvents(t, &chunkReader{stream, int(cut)%7 + 1}, max)
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", pieces) || e1.lastID != e2.lastID || e1.retry != e2.retry {
			t.Errorf("whole %q %q %v, in pieces %q %q %v", whole, e1.lastID, e1.retry, pieces, e2.lastID, e2.retry)
		}
		if want := plainEvents(string(stream)); fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q, want %q", whole, want)
		}
		// A limit changes nothing but the events beyond it.
		limited, _ := readEvents(t, bytes.NewReader(stream), 30)
		for i, ev := range limited {
			if len(limited) == len(whole) && !strings.Contains(ev, "|long ") && ev != whole[i] {
				t.Errorf("limited %q, whole %q", limited, whole)
			}
		}
	})
}

type chunkReader struct {
	b []byte
	n int
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.b[:min(c.n, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}

// plainEvents reads a stream the simple way.
func plainEvents(stream string) []string {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	var all []string
	var data []string
	name := ""
	for i, line := range lines {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		last := i == len(lines)-1
		switch {
		case line != "" && field == "data":
			data = append(data, value)
		case line != "" && field == "event":
			name = value
			if len(name) > maxEventID {
				name = string(clip([]byte(name), maxEventID))
			}
		}
		if line != "" && !last {
			continue
		}
		text := strings.Join(data, "\n")
		if text != "" && (!last || jsonValid(text)) {
			all = append(all, name+"|"+text)
		}
		data, name = nil, ""
	}
	return all
}

func jsonValid(text string) bool { return json.Valid([]byte(text)) }
