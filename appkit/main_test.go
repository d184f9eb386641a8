package appkit_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/aurorabot/aurora/appkit"
	"go.uber.org/goleak"
)

// asApp is the variable that makes this test binary an app instead of a test,
// for the tests that need a process of its own.
const asApp = "APPKIT_TEST_AS_APP"

func TestMain(m *testing.M) {
	if os.Getenv(asApp) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	chatty := appkit.NewTool(appkit.ToolInfo{Name: "chat"}, func(context.Context, struct{}) (string, any, error) {
		fmt.Println("debugging by print")
		return "quiet", nil, nil
	})
	if err := appkit.Serve(context.Background(), greeter(chatty)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
