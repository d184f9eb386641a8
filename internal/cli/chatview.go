package cli

import (
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/control"
)

// A chatView shows the news of a session to a person: texts as they are, pieces
// of an answer as soon as a line of them is whole, calls as one dim line each.
type chatView struct {
	write func(text string) // what the bot says, in whole lines
	aside func(text string) // one line beside it, without its end
	style style

	turn    string          // the turn whose pieces come
	pieces  strings.Builder // of the answer that is growing
	written int             // how many bytes of it are on the screen
}

func (v *chatView) show(n control.ChatNews) {
	if n.Lost > 0 {
		v.aside(v.style.dim(fmt.Sprintf("… %s came while nobody looked, and could not be kept", count(n.Lost, "earlier message"))))
	}
	switch n.Kind {
	case control.ChatBegin:
		v.fresh(n.Turn)
	case control.ChatDelta:
		if n.Turn != v.turn {
			v.fresh(n.Turn)
		}
		v.pieces.WriteString(n.Text)
		text := v.pieces.String()
		if whole := strings.LastIndexByte(text, '\n') + 1; whole > v.written {
			v.write(visible(text[v.written:whole]))
			v.written = whole
		}
	case control.ChatCall:
		v.finish()
	case control.ChatResult:
		v.finish()
		v.aside(v.style.dim(callLine(n.Call)))
	case control.ChatText:
		v.text(n)
	case control.ChatEnd:
		v.finish()
		v.end(n)
	}
}

// fresh begins an answer.
func (v *chatView) fresh(turn string) {
	v.finish()
	v.turn = turn
}

// finish shows what is left of the pieces, and forgets them.
func (v *chatView) finish() {
	if left := v.pieces.String()[v.written:]; left != "" {
		v.write(visible(left) + "\n")
	}
	v.pieces.Reset()
	v.written = 0
}

// text shows a message, unless its pieces have shown it already.
func (v *chatView) text(n control.ChatNews) {
	shown := v.pieces.String()
	switch {
	case n.Kept:
		v.aside(v.style.dim("… " + n.At.Local().Format("2006-01-02 15:04")))
	case shown != "" && strings.TrimSpace(shown) == strings.TrimSpace(n.Text):
		v.finish()
		return
	case shown != "":
		v.finish()
	}
	v.write(visible(n.Text) + "\n")
}

// end says how a turn ended, where that needs words.
func (v *chatView) end(n control.ChatNews) {
	switch n.Ending {
	case "answered", "silent":
	case "stopped":
		v.aside(v.style.dim("… stopped"))
	default:
		said := "… the turn ended as " + n.Ending
		if n.Error != "" {
			said += ": " + oneLine(n.Error)
		}
		v.aside(v.style.yellow(said))
	}
}

// callLine folds a call into one line.
func callLine(c *control.ToolCall) string {
	line := fmt.Sprintf("· %s %s", visible(c.Tool), c.Outcome)
	if c.DurationMS > 0 {
		line += fmt.Sprintf(", %d ms", c.DurationMS)
	}
	return line
}
