// Package events holds the tests of the way of events as a whole: real apps in
// processes of their own, the real binary, real files, and real kills. It has no
// code.
//
// The test binary plays all parts. It is linked under three names into a folder:
//
//	aurora        the program itself
//	emitter LOG   an app that emits events with appkit.Emit and logs which ones
//	              were acknowledged
//	peer FILE     a scripted MCP server (package testkit) that knows nothing of
//	              Aurora
//
// The kill test takes its figures from the environment: AURORA_TEST_LONG=1 (or the
// long form of ./test) kills 200 times instead of 20, AURORA_SEED repeats a run.
package events
