// Aurora joins an AI bot to the world through the Model Context Protocol.
package main

import (
	"io"
	"log"
	"os"
	_ "time/tzdata" // time zones where the system has none

	"github.com/aurorabot/aurora/internal/cli"
)

func main() {
	// net/http prints there what a server sends unasked, secrets and all; our own
	// log is another one.
	log.SetOutput(io.Discard)
	os.Exit(cli.Main())
}
