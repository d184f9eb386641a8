package testkit

import (
	"fmt"
	"strings"
)

// forkOptions say what kind of child a server starts.
type forkOptions struct {
	Setsid     bool // it leaves the session and the process group
	Daemon     bool // its parent ends at once, so that it is nobody's child
	IgnoreTERM bool // TERM, INT and HUP do not end it
	// The streams of the server that it keeps open; the others are the null device.
	Stdin, Stdout, Stderr bool
}

func parseFork(args string) (forkOptions, error) {
	var o forkOptions
	for words := strings.Fields(args); len(words) > 0; words = words[1:] {
		switch words[0] {
		case "setsid":
			o.Setsid = true
		case "daemon":
			o.Daemon = true
		case "hold":
			if len(words) < 2 {
				return o, fmt.Errorf("hold what? stdin, stdout or stderr")
			}
			words = words[1:]
			switch words[0] {
			case "stdin":
				o.Stdin = true
			case "stdout":
				o.Stdout = true
			case "stderr":
				o.Stderr = true
			default:
				return o, fmt.Errorf("hold what? stdin, stdout or stderr, not %q", words[0])
			}
		case "ignore":
			if len(words) < 2 || words[1] != "TERM" {
				return o, fmt.Errorf(`a child can only "ignore TERM"`)
			}
			words = words[1:]
			o.IgnoreTERM = true
		default:
			return o, fmt.Errorf("unknown word %q after fork", words[0])
		}
	}
	return o, nil
}
