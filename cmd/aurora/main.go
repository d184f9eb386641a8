// Aurora joins an AI bot to the world through the Model Context Protocol.
package main

import (
	"os"
	_ "time/tzdata" // time zones where the system has none

	"github.com/aurorabot/aurora/internal/cli"
)

func main() { os.Exit(cli.Main()) }
