package peers

import (
	"bytes"
	"fmt"
	"strings"
)

// write writes what the official conformance runner said.
func (j *judgement) write(b *bytes.Buffer) {
	fmt.Fprintf(b, `
## The official conformance runner

%s was the server and judged
the `+"`aurora`"+` binary by what it sent.

| scenario | protocol | what was done | what the runner said |
|---|---|---|---|
`, j.Runner)
	for _, t := range j.Trials {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", t.Scenario, t.Protocol, t.With, t.said())
	}
	fmt.Fprintf(b, `
2025-11-25 is what Aurora offers by itself, 2025-06-18 what the configuration of
the app told it to offer. The runner lists %s for
2026-07-28, but nothing in it is new there.

✓ means that every check of the runner passed. What Aurora refused ended the
call with the words of the server about it, not with silence.

Not tried were these scenarios:
`, ahead)
	for _, o := range j.LeftOut {
		fmt.Fprintf(b, "\n- %s\n  `%s`\n", o.Why, strings.Join(o.Scenarios, "`, `"))
	}
}

// said tells what the runner said of a trial.
func (t *trial) said() string {
	if t.Refused != "" {
		return "Aurora refused: `" + t.Refused + "`"
	}
	if len(t.Passed) == 1 {
		return "✓ 1 check"
	}
	return fmt.Sprintf("✓ %d checks", len(t.Passed))
}
