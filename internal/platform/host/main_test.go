package host

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.RunIfChild()
	serveEchoIfChild()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}
