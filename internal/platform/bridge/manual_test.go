package bridge

import (
	"os"
	"regexp"
	"testing"
)

var manualRow = regexp.MustCompile("(?m)^\\| ([^|`]+) \\| `([^`]+)` \\| `([^`]+)` \\|$")

// The table of the manual and the table of the test say the same.
func TestTheManualAgrees(t *testing.T) {
	text, err := os.ReadFile("../../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	inManual := map[string][2]string{}
	for _, row := range manualRow.FindAllStringSubmatch(string(text), -1) {
		inManual[row[1]] = [2]string{row[2], row[3]}
	}
	for _, s := range signals {
		if got, want := inManual[s.name], [2]string{string(s.method), s.typ}; got != want {
			t.Errorf("%s: the manual says %v, the bridge makes %v", s.name, got, want)
		}
		delete(inManual, s.name)
	}
	for name := range inManual {
		t.Errorf("the manual has %q, which no test shows", name)
	}
}
