package cli

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/aurorabot/aurora/internal/control"
)

// A style colours text, or leaves it alone where there are no colours.
type style bool

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }

// state colours a state of an app.
func (s style) state(state string) string {
	switch state {
	case control.StateReady:
		return s.green(state)
	case control.StateUnavailable, control.StateAuthRequired:
		return s.red(state)
	case control.StateStarting, control.StateRestarting, control.StateDegraded:
		return s.yellow(state)
	}
	return s.dim(state)
}

// risk colours a risk of a tool.
func (s style) risk(risk string) string {
	switch risk {
	case "high", "critical":
		return s.red(risk)
	case "medium":
		return s.yellow(risk)
	}
	return risk
}

// visible makes control characters of foreign text visible, so that an app
// cannot move the cursor or change colours of a person's terminal. Line breaks
// and tabs stay.
func visible(text string) string {
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// oneLine returns the first line of foreign text that is not blank.
func oneLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ReplaceAll(visible(line), "\t", " ")
		}
	}
	return ""
}
