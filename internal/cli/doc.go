// Package cli is the commands of aurora.
//
// Promises that hold for every command:
//
//   - With --json stdout is exactly one JSON document (JSON Lines with
//     --follow), also on failure; everything else goes to stderr. Without it
//     stdout is the result for people and for pipes, and messages go to stderr.
//   - The exit code tells how it ended; see the table in exit.go.
//   - Text of apps is shown on a terminal with its control characters made
//     visible. Raw JSON of apps is printed token for token.
//   - A command asks the daemon of the home if there is one. Otherwise it
//     starts the apps it needs in its own process and stops them before it
//     ends, also after Ctrl-C.
//
// The file of a command has its name: tools.go holds `aurora tools`.
package cli
