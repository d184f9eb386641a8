package node

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/short"
)

// The bounds of a passage, in characters: of what one person said, of what an
// event that is no message says, and of all of it.
const (
	maxSaid    = 2000
	maxNoticed = 300
	maxPassage = 6000
)

// stale is how old an event must be for a passage to say when it was.
const stale = 10 * time.Minute

// A teller tells units in the first person.
type teller struct {
	zone *time.Location
	zh   bool
}

// tell returns what a unit is like: where and when, then each event as a quoted
// line.
func (t teller) tell(u *unit.Unit, now time.Time) string {
	var b strings.Builder
	left, heard := maxPassage, false
	for i, e := range u.Events {
		m, ok := unit.MessageOf(e)
		line := ""
		if ok {
			line, heard = m.Speaker()+": "+short.Runes(m.Text, maxSaid), true
		} else {
			line = unit.Line(e, maxNoticed)
		}
		if left -= utf8.RuneCountInString(line); left < 0 && i > 0 {
			fmt.Fprintf(&b, "\n> … (+%d)", len(u.Events)-i)
			break
		}
		// Quoted, nothing that was said can look like a heading or a passage.
		b.WriteString("\n> " + strings.Join(lines(line), "\n> "))
	}
	return t.opening(u, heard, now) + b.String()
}

func (t teller) opening(u *unit.Unit, heard bool, now time.Time) string {
	where := oneLine(u.Session)
	if where == "" {
		where = oneLine(u.Source.App)
	} else {
		where += " (" + oneLine(u.Source.App) + ")"
	}
	when := ""
	if at := u.Events[0].Header.Timestamp; now.Sub(at) > stale {
		when = at.In(t.zone).Format("2006-01-02 15:04")
	}
	switch {
	case t.zh && when != "" && heard:
		return fmt.Sprintf("%s，我在 %s 听到：", when, where)
	case t.zh && when != "":
		return fmt.Sprintf("%s，我注意到 %s：", when, where)
	case t.zh && heard:
		return fmt.Sprintf("我在 %s 听到：", where)
	case t.zh:
		return fmt.Sprintf("我注意到 %s：", where)
	case when != "" && heard:
		return fmt.Sprintf("At %s I heard in %s:", when, where)
	case when != "":
		return fmt.Sprintf("At %s I noticed %s:", when, where)
	case heard:
		return fmt.Sprintf("I heard in %s:", where)
	}
	return fmt.Sprintf("I noticed %s:", where)
}

// lines splits text wherever some program would begin a new line.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return true
		}
		return false
	})
}

func oneLine(text string) string { return short.Runes(strings.Join(strings.Fields(text), " "), 100) }
