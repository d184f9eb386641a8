package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A dataDialer makes the data folder of a local app before the app is started,
// every time: it is named in the app's environment, so it exists. Where no events
// are made it tells the app so, lest it wait for acknowledgements.
type dataDialer struct {
	next    host.Dialer
	home    config.Home
	oneShot bool
}

// Dial implements [host.Dialer].
func (d dataDialer) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	if app.MCP.Transport == config.Stdio {
		if err := os.MkdirAll(d.home.AppData(app.Key), 0o700); err != nil {
			return nil, fmt.Errorf("its data folder: %w", err)
		}
		if d.oneShot {
			told := *app
			told.MCP.Env = append(slices.Clip(app.MCP.Env), "AURORA_APP_EVENTS=later")
			app = &told
		}
	}
	return d.next.Dial(ctx, app)
}
