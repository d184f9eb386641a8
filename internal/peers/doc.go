// Package peers holds tests only: they talk to MCP servers that other people
// wrote, installed from npm and PyPI as locked in npm/ and pypi/.
//
// Promises:
//
//   - The servers are real, and so is everything of ours: configuration, child
//     processes, sessions, catalog, the call path. Nothing is faked.
//   - install.sh puts the servers into .cache/peers of the checkout (or
//     $AURORA_PEERS) once for each lock file. The tests run it themselves.
//   - Where Node.js or Python is missing, the tests that need it are skipped and
//     say so; with CI=true they fail instead.
//   - After each test nothing of its servers is left running.
//   - What was seen is kept in testdata/facts.json, from which
//     docs/compatibility.md is made. Both are written with -update only; a plain
//     run fails when what it sees differs.
package peers
