package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A claim is a row of docs/faults.md.
type claim struct {
	area, row           string
	everywhere          bool // it says that its script is played on every wire
	states, codes, says []string
	proofs              []proof
}

// A proof is what a row refers to: a script, or a test in a file.
type proof struct{ name, path string }

const manual = "../../docs/faults.md"

var (
	proofForm   = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	literalForm = regexp.MustCompile("`([^`]+)`")
)

// readManual reads the tables of the manual.
func readManual(t *testing.T) []claim {
	t.Helper()
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	words := func(cell string) []string {
		if cell == "–" {
			return nil
		}
		return strings.Split(cell, ", ")
	}
	var claims []claim
	area := ""
	for _, line := range strings.Split(string(text), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			area = title
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 6 || strings.HasPrefix(line, "| row") {
			if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| row") {
				t.Errorf("%s: not six cells: %s", manual, line)
			}
			continue
		}
		c := claim{
			area: area, row: strings.TrimPrefix(cells[0], "| "),
			states: words(cells[2]), codes: words(cells[3]),
		}
		c.row, c.everywhere = strings.CutSuffix(c.row, " ⇄")
		for _, m := range literalForm.FindAllStringSubmatch(cells[4], -1) {
			c.says = append(c.says, m[1])
		}
		for _, m := range proofForm.FindAllStringSubmatch(cells[5], -1) {
			c.proofs = append(c.proofs, proof{m[1], filepath.Join(filepath.Dir(manual), m[2])})
		}
		claims = append(claims, c)
	}
	return claims
}

// readRows reads the list of rows as "area row".
func readRows(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		for _, row := range words[1:] {
			rows = append(rows, words[0]+" "+row)
		}
	}
	return rows
}

func TestTheManualHasEveryRow(t *testing.T) {
	var told []string
	for _, c := range readManual(t) {
		told = append(told, c.area+" "+c.row)
	}
	rows := readRows(t)
	for _, row := range rows {
		if !slices.Contains(told, row) {
			t.Errorf("%s has no row %s", manual, row)
		}
	}
	for i, row := range told {
		if !slices.Contains(rows, row) {
			t.Errorf("%s has the row %s, which is not in the list", manual, row)
		}
		if slices.Contains(told[:i], row) {
			t.Errorf("%s has the row %s twice", manual, row)
		}
	}
}

// What the manual says of a row stands in what it refers to, and every script is
// referred to.
func TestTheManualIsProved(t *testing.T) {
	var used []string
	for _, c := range readManual(t) {
		if len(c.proofs) == 0 {
			t.Errorf("%s: nothing proves it", c.row)
		}
		var texts strings.Builder
		for _, p := range c.proofs {
			text, err := os.ReadFile(p.path)
			if err != nil {
				t.Errorf("%s: %v", c.row, err)
			}
			if strings.HasSuffix(p.path, "_test.go") && !strings.Contains(string(text), "func "+p.name+"(") {
				t.Errorf("%s: %s has no test %s", c.row, p.path, p.name)
			}
			used = append(used, filepath.Clean(p.path))
			texts.Write(text)
		}
		if everywhere := strings.Contains(texts.String(), "-- steps everywhere"); everywhere != c.everywhere {
			t.Errorf("%s: played on every wire: %v, it says: %v", c.row, everywhere, c.everywhere)
		}
		proved := strings.NewReplacer(`\"`, `"`, `\\.`, `.`, `\.`, `.`).Replace(texts.String())
		for _, state := range c.states {
			if !strings.Contains(proved, ".state is "+state+"\n") {
				t.Errorf("%s: no state %q", c.row, state)
			}
		}
		for _, line := range append(c.codes, c.says...) {
			if !strings.Contains(proved, line) {
				t.Errorf("%s: nobody sees %q", c.row, line)
			}
		}
	}
	for _, path := range scripts(t) {
		if abs := filepath.Join("../../internal/faults", path); !slices.Contains(used, filepath.Clean(abs)) {
			t.Errorf("%s does not mention %s", manual, path)
		}
	}
}
