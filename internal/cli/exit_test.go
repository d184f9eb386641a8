package cli

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func TestExitCodesAreThoseOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| \\[`([A-Z_]+)`\\]\\([^)]*\\) \\| (\\d+)").FindAllSubmatch(manual, -1)
	if len(rows) < 20 {
		t.Fatalf("the manual has %d codes", len(rows))
	}
	for _, row := range rows {
		code := call.Code(row[1])
		if want, _ := strconv.Atoi(string(row[2])); exitOf(code) != want {
			t.Errorf("%s exits with %d, the manual says %d", code, exitOf(code), want)
		}
	}
}

func TestExitCodesOfOutcomes(t *testing.T) {
	for o, want := range map[call.Outcome]int{
		call.OK: 0, call.ToolError: 3, call.Denied: 6, call.Waiting: 6, call.Expired: 6, call.Timeout: 5, call.Unknown: 10,
	} {
		if got := exitOfReply(control.Reply{Outcome: o}); got != want {
			t.Errorf("%s exits with %d, want %d", o, got, want)
		}
	}
	for c, want := range map[call.Code]int{
		call.ToolUnknown: 4, call.ArgumentsInvalid: 2, call.ProtocolFault: 8, call.MessageTooLarge: 8, call.AppUnavailable: 7,
	} {
		if got := exitOfReply(control.Reply{Outcome: call.ProtocolError, Error: &call.Error{Code: c}}); got != want {
			t.Errorf("%s exits with %d, want %d", c, got, want)
		}
	}
}
