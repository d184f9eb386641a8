// Package peers holds tests only: they talk to MCP servers that other people
// wrote, installed from npm and PyPI as locked in npm/ and pypi/, and have the
// official conformance runner, as locked in conformance/, judge the aurora
// binary. The runner is a preview: it has more scenarios of the protocols that
// Aurora speaks than the last stable one, and checks each message by the schema
// of its protocol.
//
// Promises:
//
//   - The servers are real, and so is everything of ours: configuration, child
//     processes, sessions, catalog, the call path. Nothing is faked.
//   - install.sh puts all of it into .cache/peers of the checkout (or
//     $AURORA_PEERS) once for each lock file. The tests run it themselves.
//   - Where Node.js or Python is missing, the tests that need it are skipped and
//     say so; with CI=true they fail instead.
//   - After each test nothing of its servers is left running.
//   - A scenario of the runner is tried, or left out for a reason that
//     docs/compatibility.md gives. One that nobody thought of fails the test.
//   - What was seen is kept in testdata/facts.json and testdata/conformance.json,
//     from which docs/compatibility.md is made. All are written with -update
//     only; a plain run fails when what it sees differs.
package peers
