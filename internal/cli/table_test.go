package cli

import (
	"strings"
	"testing"
)

func TestTablesAlignInEveryScript(t *testing.T) {
	var tab table
	tab.row(plain("KEY"), plain("STATE"), plain("REASON"))
	tab.row(plain("沉默的"), cell{"ready", style(true).green}, plain(""))
	tab.row(plain("ünï"), plain(""), plain("no"))
	tab.row(plain("café\u0301x"), plain("x"), plain("y")) // with a combining accent
	want := `KEY     STATE  REASON
沉默的  ` + "\x1b[32mready\x1b[0m" + `
ünï            no
` + "café\u0301x   x      y\n"
	if got := tab.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	tab := table{columns: 16}
	tab.row(plain("key"), plain("一二三四五六七八"))
	tab.row(plain("k"), plain("short"))
	if got, want := tab.String(), "key  一二三四…\nk    short\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOneOddCellDoesNotSpoilATable(t *testing.T) {
	var tab table
	tab.row(plain("URI"), plain("TYPE"), plain("APP"))
	tab.row(plain("x://"+strings.Repeat("y", 100)), plain("text"), plain("a"))
	tab.row(plain("x://\n2"), plain("text"), plain("b"))
	want := "URI      TYPE  APP\nx://" + strings.Repeat("y", 100) + "  text  a\nx://\\n2  text  b\n"
	if got := tab.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"上海市", 6, "上海市"},
		{"上海市", 5, "上海…"},
		{"上海市", 4, "上…"},
		{"🌸🌸", 3, "🌸…"},
		{"", 1, ""},
	} {
		if got := cut(c.text, c.n); got != c.want || textWidth(got) > max(c.n, 1) {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestForeignTextCannotDriveTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain 上海\n\ttext":   "plain 上海\n\ttext",
		"\x1b[2Jclear":       `\x1b[2Jclear`,
		"over\rwrite":        `over\rwrite`,
		"bell\a":             `bell\x07`,
		"c1\u009b2J":         `c1\x9b2J`,
		"right\u202eto left": `right\u202eto left`,
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) = %q, want %q", text, got, want)
		}
	}
	if got := oneLine("\n  first\tline \nsecond"); got != "first line" {
		t.Errorf("oneLine = %q", got)
	}
}

func TestQuotedWordsCanBePasted(t *testing.T) {
	for word, want := range map[string]string{
		"im.demo.get": "im.demo.get",
		"我的":          "我的",
		"my bot":      "'my bot'",
		"it's":        `'it'\''s'`,
		"":            "''",
		"a=b":         "'a=b'",
	} {
		if got := quote(word); got != want {
			t.Errorf("quote(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestScreenKeepsLogLinesOutOfTheTable(t *testing.T) {
	// Given a screen with two lines drawn,
	var term strings.Builder
	s := &screen{out: &term, log: &term}
	s.draw("a\nb\n")
	// when a log line comes, then it stands above them, and they are drawn again.
	term.Reset()
	s.Write([]byte("log\n"))
	if got, want := term.String(), "\r\x1b[A\x1b[A\x1b[Jlog\na\nb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// The same block again costs nothing.
	term.Reset()
	s.draw("a\nb\n")
	if term.Len() > 0 {
		t.Errorf("drew %q", term.String())
	}
	// After the end lines just come one below the other.
	s.leave()
	s.Write([]byte("log\n"))
	if got := term.String(); got != "log\n" {
		t.Errorf("got %q", got)
	}
}
