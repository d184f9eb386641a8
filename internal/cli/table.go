package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A table is rows of cells in aligned columns, whatever script they are in.
type table struct {
	rows [][]cell
	// columns is the width of the terminal; 0: as wide as need be. Where a row
	// is wider, its last cell is cut.
	columns int
}

// A cell is text and the way it is painted; painting does not count as width.
type cell struct {
	text  string
	paint func(string) string
}

func plain(text string) cell { return cell{text: text} }

// row adds a row. A cell is one line, whatever is in it.
func (t *table) row(cells ...cell) {
	for i := range cells {
		cells[i].text = lineBreaks.Replace(cells[i].text)
	}
	t.rows = append(t.rows, cells)
}

var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

const (
	gap    = 2  // blanks between two columns
	widest = 60 // a cell wider than that makes no room for itself in other rows
)

// String returns the lines of the table.
func (t *table) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row[:max(len(row)-1, 0)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if w := textWidth(c.text); w <= widest {
				widths[i] = max(widths[i], w)
			}
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		t.line(&b, row, widths)
		b.WriteByte('\n')
	}
	return b.String()
}

func (t *table) line(b *strings.Builder, row []cell, widths []int) {
	// Blank cells at the end would only leave blanks at the end of the line.
	for len(row) > 0 && row[len(row)-1].text == "" {
		row = row[:len(row)-1]
	}
	at := 0
	for i, c := range row {
		last := i == len(row)-1
		if last && t.columns > 0 {
			c.text = cut(c.text, max(t.columns-at-1, 1))
		}
		text := c.text
		if c.paint != nil {
			text = c.paint(text)
		}
		b.WriteString(text)
		if !last {
			w := textWidth(c.text)
			pad := max(widths[i]-w, 0) + gap
			b.WriteString(strings.Repeat(" ", pad))
			at += w + pad
		}
	}
}

// textWidth returns how many columns of a terminal a text takes.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth follows Unicode's East Asian Width: wide and full-width characters
// take two columns, combining and format characters none.
func runeWidth(r rune) int {
	switch {
	case r < 0x20 || r == 0x7f:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to at most n columns; where it cuts it leaves an ellipsis.
func cut(s string, n int) string {
	if textWidth(s) <= n {
		return s
	}
	at := 0
	for i, r := range s {
		if at+runeWidth(r) > n-1 {
			return s[:i] + "…"
		}
		at += runeWidth(r)
	}
	return s
}
