// Package soak lets a platform live for a while among the worst company: apps
// that crash, flood, babble, are slow, deaf or mute, leave children behind or
// forget sessions, beside healthy ones, and callers who call, give up and change
// the configuration. In the end nothing may have grown: memory, goroutines, file
// descriptors, child processes.
//
// It holds a test only. The test takes a minute, with -short five seconds, and
// half an hour when AURORA_TEST_LONG is set; AURORA_TEST_SOAK=10m says another
// time (mind the -timeout of go test).
package soak
