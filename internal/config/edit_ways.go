package config

import (
	"slices"
	"strings"
)

// The ways of an edit: each is tried until one of them turns out to mean what it
// shall. What stands where is found out roughly, since every result is checked.

// replacements returns the ways to give another value to a spot that has one.
func (d *document) replacements(at spot, value any) [][]splice {
	text := flowText(value, d.isJSON())
	last := at.way[len(at.way)-1]
	n := last.value
	switch n.kind {
	case scalarNode:
		start := d.offset(n.place)
		return [][]splice{{{start, d.scalarEnd(start), text}}}
	case nullNode:
		colon := d.colon(last.entry)
		if colon < 0 {
			return nil
		}
		var ways [][]splice
		start := colon + len(d.text[colon:]) - len(strings.TrimLeft(d.text[colon:], " "))
		for _, null := range []string{"null", "Null", "NULL", "~"} {
			if strings.HasPrefix(d.text[start:], null) {
				ways = append(ways, []splice{{start, start + len(null), text}})
			}
		}
		return append(ways, []splice{{colon, colon, " " + text}})
	}
	return nil
}

// additions returns the ways to add items to a spot, which is a mapping or empty.
func (d *document) additions(at spot, items []Item) [][]splice {
	n := at.value()
	inFlow := len(at.way) > 0 && at.way[len(at.way)-1].from.flow
	var ways [][]splice
	switch {
	case n.alias && inFlow:
		start := d.offset(n.place)
		end := d.scalarEnd(start)
		ways = append(ways, []splice{{start, end, "{<<: " + d.text[start:end] + ", " + flowItems(items, false) + "}"}})
	case n.alias:
		start := d.offset(n.place)
		end := d.scalarEnd(start)
		e := at.way[len(at.way)-1].entry
		indent := e.place.column - 1 + d.step()
		lines := append([]string{strings.Repeat(" ", indent) + "<<: " + d.text[start:end]}, blockLines(items, indent, d.step())...)
		ways = append(ways, []splice{{start - blanksBefore(d.text, start), end, ""}, d.insertLines(e.place.line+1, lines)})
	case n.kind == nullNode && len(at.way) == 0:
		ways = append(ways, d.inLines(1, 0, 0, items, false)...)
	case n.kind == nullNode && inFlow:
		if colon := d.colon(at.way[len(at.way)-1].entry); colon >= 0 {
			ways = append(ways, []splice{{colon, colon, " {" + flowItems(items, d.isJSON()) + "}"}})
		}
	case n.kind == nullNode:
		ways = append(ways, d.below(at, items, nil)...)
		if colon := d.colon(at.way[len(at.way)-1].entry); colon >= 0 { // key: ~
			end := colon + strings.IndexAny(d.text[colon:]+"\n", "\n#")
			end -= blanksBefore(d.text, end)
			ways = append(ways, d.below(at, items, []splice{{colon, end, ""}})...)
		}
	case n.flow:
		ways = append(ways, d.inBraces(at, items)...)
	default:
		ways = append(ways, d.inBlock(at, items)...)
	}
	return ways
}

// below returns the ways to put items below the key of an entry without a value.
func (d *document) below(at spot, items []Item, also []splice) [][]splice {
	e := at.way[len(at.way)-1].entry
	indent := e.place.column - 1 + d.step()
	if c, ok := d.commentIndent(e.place.line+1, d.next(at)); ok && c >= e.place.column {
		indent = c
	}
	var ways [][]splice
	for _, way := range d.inLines(e.place.line+1, d.next(at), indent, items, false) {
		ways = append(ways, append(slices.Clone(also), way...))
	}
	return ways
}

// inBlock returns the ways to add items to a mapping in block style.
func (d *document) inBlock(at spot, items []Item) [][]splice {
	n := at.value()
	var own []entry
	for _, e := range n.entries {
		if !e.merged {
			own = append(own, e)
		}
	}
	first := n.place
	last := n.place.line
	if len(own) > 0 {
		first = own[0].place
		last = own[len(own)-1].place.line
	}
	indent := first.column - 1
	var ways [][]splice
	if items[0].Key == "enabled" && len(at.way) > 0 {
		if key := at.way[len(at.way)-1].place.line; key < first.line {
			ways = append(ways, []splice{d.insertLines(key+1, blockLines(items, indent, d.step()))})
		}
	}
	spaced := false // an empty line parts the entries
	for _, e := range own {
		above := e.place.line - 1
		for above > first.line && strings.HasPrefix(strings.TrimSpace(d.line(above)), "#") {
			above--
		}
		spaced = spaced || above > first.line && strings.TrimSpace(d.line(above)) == ""
	}
	return append(ways, d.inLines(last+1, d.next(at), indent, items, spaced)...)
}

// inLines returns the ways to add items as lines of their own from line from on and
// before line next, 0 for the end of the file: behind the comments that go with
// the mapping, behind its last value, before what follows.
func (d *document) inLines(from, next, indent int, items []Item, spaced bool) [][]splice {
	if next == 0 {
		next = len(d.lines)
		for line := from; line < next; line++ {
			if text := strings.TrimRight(d.line(line), " \n"); text == "..." || text == "---" || strings.HasPrefix(text, "--- ") {
				next = line
			}
		}
	}
	content := next - 1
	for content >= from && isFiller(d.line(content)) {
		content--
	}
	behind := content
	for line := content + 1; line < next; line++ {
		text := d.line(line)
		if trimmed := strings.TrimLeft(text, " "); strings.HasPrefix(trimmed, "#") && len(text)-len(trimmed) >= indent && (indent > 0 || next == len(d.lines)) {
			behind = line
		}
	}
	for line := content + 1; line < behind; line++ {
		spaced = spaced || strings.TrimSpace(d.line(line)) == ""
	}
	var lines []string
	for i := range items {
		if spaced {
			lines = append(lines, "")
		}
		lines = append(lines, blockLines(items[i:i+1], indent, d.step())...)
	}
	var ways [][]splice
	for _, line := range []int{behind + 1, content + 1, next} {
		ways = append(ways, []splice{d.insertLines(line, lines)})
	}
	return ways
}

// isFiller tells whether a line holds nothing or a comment. It may be wrong about
// a line of a text over several lines.
func isFiller(line string) bool {
	trimmed := strings.TrimSpace(line)
	return trimmed == "" || trimmed[0] == '#'
}

// inBraces returns the ways to add items to a mapping in { }.
func (d *document) inBraces(at spot, items []Item) [][]splice {
	n := at.value()
	var ways [][]splice
	closing := d.offset(n.end)
	if len(n.entries) == 0 && len(at.way) > 0 && !at.way[len(at.way)-1].from.flow {
		// {} becomes lines.
		start := d.offset(n.place)
		ways = append(ways, d.below(at, items, []splice{{start - blanksBefore(d.text, start), closing + 1, ""}})...)
	}
	text := flowItems(items, d.isJSON())
	last := len(strings.TrimRight(d.text[:closing], " \n"))
	comma := ", "
	switch {
	case len(n.entries) == 0:
		comma = ""
	case strings.HasSuffix(d.text[:last], ","):
		comma = " "
	}
	if strings.Contains(d.text[last:closing], "\n") && len(n.entries) > 0 {
		first := n.entries[0].place
		if strings.TrimSpace(d.text[d.lines[first.line-1]:d.offset(first)]) == "" {
			before := d.indent(first.line)
			separate := strings.TrimRight(comma, " ") + "\n" + before
			ways = append(ways, []splice{{last, last, separate + d.flowLines(items, before)}})
			if line := d.lines[n.end.line-1]; strings.TrimSpace(d.text[line:closing]) == "" { // behind a comment
				ways = append(ways, []splice{{line, line, before + d.flowLines(items, before) + "\n"}})
			}
		}
	}
	return append(ways,
		[]splice{{last, last, comma + text}},
		[]splice{{closing, closing, comma + text}},
	)
}

// flowLines writes items for a mapping in { } over several lines, an item a line.
func (d *document) flowLines(items []Item, indent string) string {
	var lines []string
	for _, item := range items {
		lines = append(lines, flowItems([]Item{item}, d.isJSON()))
	}
	return strings.Join(lines, ",\n"+indent)
}

// next returns the line on which what follows a spot begins; 0 if nothing does.
func (d *document) next(at spot) int {
	for _, s := range slices.Backward(at.way) {
		next := 0
		for _, e := range s.from.entries {
			if !e.merged && e.place.line > s.place.line && (next == 0 || e.place.line < next) {
				next = e.place.line
			}
		}
		if next > 0 {
			return next
		}
	}
	return 0
}

// commentIndent returns how far the first comment between two lines is indented.
func (d *document) commentIndent(from, next int) (int, bool) {
	if next == 0 {
		next = len(d.lines)
	}
	for line := from; line < next; line++ {
		text := d.line(line)
		if trimmed := strings.TrimLeft(text, " "); strings.HasPrefix(trimmed, "#") {
			return len(text) - len(trimmed), true
		}
	}
	return 0, false
}

// step returns by how much the file indents.
func (d *document) step() int {
	n := d.root
	for n.kind == mapNode && !n.flow && len(n.entries) > 0 {
		value := n.entries[0].value
		if value.kind == mapNode && !value.flow && !value.alias && value.place.line > n.entries[0].place.line {
			if step := value.place.column - n.entries[0].place.column; step > 0 {
				return step
			}
		}
		n = value
	}
	return 2
}

// isJSON tells whether the file is JSON, which is YAML too.
func (d *document) isJSON() bool {
	return d.root.kind == mapNode && d.root.flow && strings.HasPrefix(strings.TrimLeft(d.text, " \n"), "{")
}
