package proc

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func same(s string) string { return s }

// drained returns the tail after a child has written all of text.
func drained(keep int, redact func(string) string, text string) *tail {
	t := newTail(keep, redact)
	t.drain(strings.NewReader(text), nil)
	return t
}

func TestTailSplitsLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		"one\ntwo\n":                 {"one", "two"},
		"one\r\n\r\ntwo":             {"one", "", "two"},
		"no end":                     {"no end"},
		"\n":                         {""},
		"ok \xb9\xe3\xd6\xdd end\n":  {"ok \uFFFD end"}, // GBK
		"上海🌧\n":                      {"上海🌧"},
		"a\rprogress\rshown\nlast\r": {"a\rprogress\rshown", "last"},
	} {
		for _, reader := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			tail := newTail(0, same)
			var heard []string
			tail.drain(reader, func(line string) { heard = append(heard, line) })
			if got := tail.last(0); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
			if !slices.Equal(heard, want) {
				t.Errorf("%q: heard %q", text, heard)
			}
		}
	}
}

func TestTailKeepsTheLastBytes(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "line %03d\n", i) // 9 bytes
	}
	tail := drained(90, same, text.String())
	if got := tail.last(0); len(got) != 10 || got[0] != "line 990" || got[9] != "line 999" {
		t.Errorf("kept %q", got)
	}
	if got := tail.last(2); !slices.Equal(got, []string{"line 998", "line 999"}) {
		t.Errorf("last two %q", got)
	}
}

func TestTailBoundsLines(t *testing.T) {
	for _, size := range []int{lineKeep, lineKeep + 1, lineRead, lineRead + 1, 1 << 20} {
		got := drained(0, same, strings.Repeat("x", size)+"\nnext\n").last(0)
		want := strings.Repeat("x", min(size, lineKeep))
		if size > lineKeep {
			want += fmt.Sprintf(" … (%d bytes more)", size-lineKeep)
		}
		if !slices.Equal(got, []string{want, "next"}) {
			t.Errorf("%d bytes: %d bytes kept, ends %q", size, len(got[0]), got[0][len(got[0])-30:])
		}
	}
	if got := drained(0, same, strings.Repeat("上", lineKeep)).last(0)[0]; !utf8.ValidString(got) {
		t.Error("a letter was cut")
	}
}

func TestTailRedactsBeforeItCuts(t *testing.T) {
	const secret = "sk-0123456789"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "•••") }
	for _, text := range []string{
		secret + "\n",
		strings.Repeat("x", lineKeep-5) + secret + "\n", // at the end of what is kept
		strings.Repeat("x", lineRead-5) + secret + "\n", // at the end of what is read
		strings.Repeat(secret, lineRead) + "\n",         // much shorter when redacted
		"\xff" + secret + "\xff",
	} {
		for _, line := range drained(0, redact, text).last(0) {
			if strings.Contains(line, "sk-") {
				t.Errorf("%.20q…: kept …%q", text, line[max(0, len(line)-60):])
			}
		}
	}
}

func TestTailShowsAPromptOnceItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tail := newTail(0, same)
		read, write := io.Pipe()
		go tail.drain(read, nil)
		write.Write([]byte("hello\nToken: "))
		synctest.Wait()
		if got := tail.last(0); !slices.Equal(got, []string{"hello"}) {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(promptTime + 1)
		if got := tail.last(0); !slices.Equal(got, []string{"hello", "Token: "}) {
			t.Errorf("later: %q", got)
		}
		write.Write([]byte("thanks\n"))
		write.Close()
		<-tail.done
		if got := tail.last(0); !slices.Equal(got, []string{"hello", "Token: thanks"}) {
			t.Errorf("at the end: %q", got)
		}
	})
}
