// Package home is a home folder with the real programs in it, for tests that
// run aurora as a process, kill it, and look at its files.
//
// The programs are the test binary under other names: its TestMain looks at
// [Program] and becomes aurora, or an app.
//
// Promises:
//
//   - Nothing that [Home.Up] has started outlives the test.
//   - No wait is longer than [Patience]; then the test fails and shows what
//     aurora has said.
package home
