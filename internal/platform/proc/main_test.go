package proc

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the children of the tests: with PROC_CHILD set it
// plays one part and ends. The parts are in children_linux_test.go.
func TestMain(m *testing.M) {
	if part := os.Getenv("PROC_CHILD"); part != "" {
		play(part)
	}
	goleak.VerifyTestMain(m)
}
