package mcp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pieces reads from all in pieces of the given sizes, over and over.
type pieces struct {
	all   []byte
	sizes []byte
	i     int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.all) == 0 {
		return 0, io.EOF
	}
	n := len(p.all)
	if len(p.sizes) > 0 {
		n = int(p.sizes[p.i%len(p.sizes)]) * 97
		p.i++
	}
	n = copy(b, p.all[:min(n, len(p.all))])
	p.all = p.all[n:]
	return n, nil
}

// A readLine is a line as a test sees it.
type readLine struct {
	text       string // of a line within the limit
	size       int64  // of one beyond it, with its ends
	head, tail string
}

func readLines(r io.Reader, limit int) (all []readLine, largest int, err error) {
	l := &lines{r: r, max: limit, pool: &buffers{}}
	for {
		line, long, err := l.next()
		largest = max(largest, cap(l.buf))
		switch {
		case err != nil:
			return all, largest, err
		case long != nil:
			all = append(all, readLine{size: long.size, head: string(long.head), tail: string(long.tail)})
		default:
			all = append(all, readLine{text: string(line)})
		}
	}
}

// referenceLines is what readLines must return.
func referenceLines(input []byte, max int) (all []readLine) {
	if len(input) == 0 {
		return nil
	}
	for _, line := range bytes.Split(bytes.TrimSuffix(input, []byte("\n")), []byte("\n")) {
		if len(line) <= max {
			all = append(all, readLine{text: string(line)})
			continue
		}
		all = append(all, readLine{
			size: int64(len(line)),
			head: string(line[:min(len(line), headSize)]),
			tail: string(line[len(line)-min(len(line), tailSize):]),
		})
	}
	return all
}

func TestLinesOfAnySplit(t *testing.T) {
	input := strings.Repeat("short\n\n", 5000) + // many lines in one read
		strings.Repeat("x", baseSize-1) + "\n" + // as long as the buffer
		strings.Repeat("y", 70_000) + "\n" + // longer
		strings.Repeat("z", 100_000) + "\n" + // beyond the limit
		"after it\r\n" +
		strings.Repeat("w", 300_000) + "\n\n" + // far beyond
		"the last one has no end"
	for _, sizes := range []string{"", "\x01", "\x01\x02\x7f", "\xff", "\x00\x03"} {
		got, _, err := readLines(&pieces{all: []byte(input), sizes: []byte(sizes)}, 80_000)
		if !errors.Is(err, io.EOF) {
			t.Errorf("error %v", err)
		}
		want := referenceLines([]byte(input), 80_000)
		if len(got) != len(want) {
			t.Fatalf("sizes %q: got %d lines, want %d", sizes, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("sizes %q: line %d: got %.40q… of %d, want %.40q… of %d", sizes, i, got[i].text, got[i].size, want[i].text, want[i].size)
			}
		}
	}
}

// However long a line is, the memory for it is bounded.
func TestLinesBeyondTheLimitTakeBoundedMemory(t *testing.T) {
	const limit = 3 << 20
	endless := io.MultiReader(io.LimitReader(repeat('x'), 64<<20), strings.NewReader("\nnext\n"))
	got, largest, _ := readLines(endless, limit)
	if len(got) != 2 || got[0].size != 64<<20 || got[1].text != "next" {
		t.Errorf("got %d lines", len(got))
	}
	if largest > 2*limit {
		t.Errorf("took %d bytes for a limit of %d", largest, limit)
	}
}

type repeat byte

func (r repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r)
	}
	return len(b), nil
}

// A source that returns nothing and no error ends, it does not spin.
func TestLinesOfASourceWithoutProgress(t *testing.T) {
	_, _, err := readLines(nothingReader{}, 100)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type nothingReader struct{}

func (nothingReader) Read([]byte) (int, error) { return 0, nil }

func TestIdOfAMessageThatIsTooLarge(t *testing.T) {
	for _, tc := range []struct{ head, tail, want string }{
		{`{"jsonrpc":"2.0","id":7,"result":{"text":"xxxx`, `xxxx"}}`, "7"},
		{`{"jsonrpc":"2.0","id":"7","error":{"message":"xxxx`, `xxxx"}}`, `"7"`},
		{`{"result":{"text":"xxxx`, `xxx"},"jsonrpc":"2.0","id":7}`, "7"},
		{`{"result":{"text":"xxxx`, `xxx"},"id": 7 ,"jsonrpc":"2.0" } ` + "\r", "7"},
		{`{"result":{"text":"xxxx`, `xxx","id":7}}`, ""},             // an inner id
		{`{"result":[{"text":"xxxx`, `xxx"},{"id":7}]}`, ""},         // an inner id
		{`{"result":{"text":"xxxx`, `xxx\"id\":7}"}}`, ""},           // a text that looks like one
		{`{"result":{"text":"xxxx`, `xxx"},"name":"id"}`, ""},        // a value
		{`{"jsonrpc":"2.0","id":7,"method":"m","params":"x`, ``, ""}, // a request
		{`{"method":"m","params":"xxx`, `xxx","id":7}`, ""},          // a request
		{`{"jsonrpc":"2.0","result":1,"id":12`, `345}`, ""},          // cut within the id
		{`xxxx`, `xxxx`, ""},
	} {
		head := []byte(tc.head)
		equal(t, tc.head+"…"+tc.tail, string(idOf(head, []byte(tc.tail))), tc.want)
	}
}

// FuzzLines compares the reader with bytes.Split, over lines that are made
// longer so that all buffer sizes come up.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), []byte{1, 3}, uint16(1), uint32(10))
	f.Add([]byte("ab\ncd"), []byte{255}, uint16(20_000), uint32(50_000))
	f.Add([]byte("0123456789\n\n\nx"), []byte{0, 7}, uint16(30_000), uint32(100_000))
	f.Fuzz(func(t *testing.T, input, sizes []byte, scale uint16, limit uint32) {
		if len(input) > 64 {
			scale = min(scale, 64)
		}
		var long []byte
		for _, c := range input {
			if c == '\n' || scale == 0 {
				long = append(long, c)
			} else {
				long = append(long, bytes.Repeat([]byte{c}, int(scale))...)
			}
		}
		if len(long) > 4<<20 || len(sizes) > 0 && len(bytes.Trim(sizes, "\x00")) == 0 {
			return // a source that never makes progress
		}
		max := int(limit%(1<<21)) + 1
		got, largest, err := readLines(&pieces{all: long, sizes: sizes}, max)
		if errors.Is(err, io.ErrNoProgress) {
			return
		}
		want := referenceLines(long, max)
		if len(got) != len(want) {
			t.Fatalf("got %d lines, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("line %d: got %.40q… of %d, want %.40q… of %d", i, got[i].text, got[i].size, want[i].text, want[i].size)
			}
		}
		if bound := 2*max + largeSize + baseSize; largest > bound {
			t.Errorf("took %d bytes for a limit of %d", largest, max)
		}
	})
}

// A server that prints without end does not keep a core busy, whether it ends
// its lines or not; one that says something of use in between is not slowed.
func TestAFloodIsReadSlowly(t *testing.T) {
	const limit, flood = 1 << 20, 16 << 20
	for name, c := range map[string]struct {
		line   string
		useful bool
		slow   bool
	}{
		"lines":            {line: strings.Repeat("#", 999) + "\n", slow: true},
		"a line":           {line: strings.Repeat("#", 999), slow: true},
		"and now and then": {line: strings.Repeat("#", 999) + "\n", useful: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := &lines{r: strings.NewReader(strings.Repeat(c.line, flood/len(c.line))), max: limit, pool: &buffers{}}
				for {
					if _, _, err := l.next(); err != nil {
						break
					}
					if c.useful {
						l.useless = 0
					}
				}
				if slowed := time.Since(began) > 0; slowed != c.slow {
					t.Errorf("slowed: %v", slowed)
				}
			})
		})
	}
}
