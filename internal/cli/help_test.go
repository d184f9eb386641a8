package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestEveryCommandHasHelp(t *testing.T) {
	p := &program{out: newOutput(io.Discard, io.Discard, func(string) string { return "" })}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: the short help is %q", c.CommandPath(), c.Short)
		}
		examples := 0
		for line := range strings.Lines(c.Example) {
			if strings.Contains(line, "aurora") {
				examples++
			}
		}
		if examples < 2 {
			t.Errorf("%s has %d examples, want at least 2", c.CommandPath(), examples)
		}
		if c.ValidArgsFunction == nil && c.ValidArgs == nil && strings.Contains(c.Use, " ") && c.Name() != "init" && c.HasParent() {
			t.Errorf("%s does not complete its arguments", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(p.rootCommand())
}
