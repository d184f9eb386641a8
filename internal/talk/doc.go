// Package talk holds the tests of conversations as a whole: a chat app in a
// process of its own, the real binary, real files, and real kills. It has no code.
//
// The test binary plays all parts. It is linked under two names into a folder:
//
//	aurora       the program itself
//	talker DIR   a chat app: what people say stands in DIR/plan.json, and every
//	             call that reaches it is written into DIR/calls.jsonl before it is
//	             answered
//
// The figures come from the environment: AURORA_TEST_LONG=1 (or the long form of
// ./test) kills 200 times instead of 20 and lets every session say ten things
// instead of three; AURORA_SEED repeats a run.
package talk
