package host

import (
	"fmt"
	"slices"
	"strings"
)

// tailLines is how many last lines of stderr are searched for what a program
// died of. The stack trace under it is rarely longer.
const tailLines = 60

// lastWords returns the line of stderr that says most, as a sentence with a
// blank before it; if there is none, the last one on stdout that was no message,
// where programs print how they want to be called; empty if there is none either.
func (l *Link) lastWords() string {
	if l.Process == nil {
		return ""
	}
	if line, last := telling(l.Process.StderrTail(tailLines)); last {
		return fmt.Sprintf(" Its last line on stderr was: %s", quoted(line))
	} else if line != "" {
		return fmt.Sprintf(" On stderr it said: %s", quoted(line))
	}
	if l.LastNoise != nil {
		if line := strings.TrimSpace(l.LastNoise()); line != "" {
			return fmt.Sprintf(" It printed on stdout: %s", quoted(line)) + misframed(line)
		}
	}
	return ""
}

// unended tells of a server that answers and ends no line, as a sentence with a
// blank before it; empty if there is none.
func (l *Link) unended() string {
	t, ok := l.Transport.(interface{ Unfinished() int64 })
	if !ok || t.Unfinished() == 0 {
		return ""
	}
	return fmt.Sprintf(" It has written %d bytes on stdout without a line end; MCP wants a line feed behind each message.", t.Unfinished())
}

// misframed returns what is wrong with a line that is a part of a message which
// is framed in another way than the stdio transport wants it, as a sentence with
// a blank before it; empty for any other line.
func misframed(line string) string {
	switch {
	case strings.HasPrefix(strings.ToLower(line), "content-length:"), strings.HasPrefix(strings.ToLower(line), "content-type:"):
		return " It frames its messages with Content-Length, as language servers do; MCP wants each message on one line."
	case line == "{" || line == "}":
		return " It spreads its messages over several lines; MCP wants each message on one line."
	case strings.HasPrefix(line, "{'"):
		return " It writes objects of Python; MCP wants JSON."
	case strings.HasPrefix(line, `"{\"`):
		return " It writes its messages as texts in quotes; MCP wants them as they are."
	case strings.HasPrefix(line, "{\x00"):
		return " It writes UTF-16; MCP wants UTF-8."
	}
	return ""
}

// telling returns the last line that is not blank or, where the last lines are
// but a trace of the stack, as Node and Go print one, the line that it is of.
// Python prints that line last.
func telling(lines []string) (line string, last bool) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return "", false
	}
	if i := panicked(lines); i >= 0 {
		return strings.TrimSpace(lines[i]), i == len(lines)-1
	}
	for i := len(lines) - 1; i >= 0; i-- {
		text := strings.TrimSpace(lines[i])
		if text == "}" { // the members of an error
			for i > 0 && !strings.HasSuffix(text, "{") {
				i--
				text = strings.TrimSpace(lines[i])
			}
			text = strings.TrimSpace(strings.TrimSuffix(text, "{"))
		}
		if text != "" && !traces(text) {
			return text, i == len(lines)-1
		}
	}
	return strings.TrimSpace(lines[len(lines)-1]), true
}

// panicked returns the index of the line that a Go program died with, or -1.
func panicked(lines []string) int {
	stacks := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "goroutine ") })
	for i := stacks - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "panic: ") || strings.HasPrefix(lines[i], "fatal error: ") {
			return i
		}
	}
	return -1
}

// traces reports whether a line belongs under an error and does not name it.
func traces(text string) bool {
	return strings.HasPrefix(text, "at ") ||
		strings.HasPrefix(text, "Node.js v") ||
		strings.Contains(text, "A complete log of this run can be found in") ||
		strings.Trim(text, "^~") == ""
}
